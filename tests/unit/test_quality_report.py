from pathlib import Path
from typing import Any

import pytest

from bench.qualityreport import report
from bench.scores import PageScore, Score, score
from bench.structure import TableScore
from bench.truths import STRUCTURES, Truth, _structures, truths
from models.errors import Code, PageFailed
from models.profiles import get
from models.verdict import Verdict
from tasks.work.engines.fake import FakeEngine, said
from tests import factories

PROFILE = get("ppocr")


def _truth(name: str, kind: str = "scan", *, is_partial: bool = False) -> Truth:
    return Truth(Path(name), ("text",), kind, "en", "", is_partial, is_repeated=False)


def _score(truth: Truth, cer: float, chars: int = 100, *, is_foreign: bool = False, **more: Any) -> Score:
    page = PageScore(1, chars, chars // 5, cer, cer, cer, 1 - cer, 1 - cer, order=None, **more)
    return Score(truth, (page,), is_foreign=is_foreign)


def _folder(home: Path, text: str, about: str = "transcribed") -> Path:
    factories.write(home / "a.pdf", factories.pdf("one", "two", "three"))
    factories.write(home / "without-truth.pdf", factories.pdf("x"))
    factories.write(home / "a.pdf.gt.txt", text.encode())
    rows = f"file,kind,language,password,ground_truth\na.pdf,scan,en,,{about}\n"
    factories.write(home / "manifest.csv", rows.encode())
    return home


def test_only_documents_with_a_truth_are_measured_page_by_page(tmp_path: Path) -> None:
    (truth,) = truths(_folder(tmp_path, "one\ftwo\fthree\f"))
    assert (truth.path.name, truth.kind, truth.pages) == ("a.pdf", "scan", ("one", "two", "three"))


def test_truths_may_lie_in_a_folder_of_their_own(tmp_path: Path) -> None:
    factories.write(tmp_path / "documents" / "b.pdf", factories.pdf("one"))
    factories.write(tmp_path / "truth" / "b.pdf.gt.txt", b"one")
    assert [truth.path.name for truth in truths(tmp_path)] == ["b.pdf"]


def test_a_document_is_read_up_to_the_limit_and_weighted_by_characters(tmp_path: Path) -> None:
    (truth,) = truths(_folder(tmp_path / "in", "one\fsevens\fthree"))
    measured = score(truth, FakeEngine([said("one"), said("xevens")]), PROFILE, 2, tmp_path / "store")
    assert (len(measured.pages), measured.chars, measured.words) == (2, 9, 2)
    assert measured.mean(lambda page: page.cer) == pytest.approx(1 / 9)
    assert measured.wer == 0.5


def test_one_page_of_truth_can_hold_for_all_pages(tmp_path: Path) -> None:
    (truth,) = truths(_folder(tmp_path / "in", "same", "the one page holds for each of the pages"))
    measured = score(truth, FakeEngine(default=said("same")), PROFILE, 1, tmp_path / "store")
    assert [page.cer for page in measured.pages] == [0.0] * 3


def test_means_are_weighted_and_leave_out_partial_and_unreadable_files() -> None:
    scores = [
        _score(_truth("a.pdf"), 0.0, 300),
        _score(_truth("b.pdf"), 0.4, 100),
        _score(_truth("c.pdf", is_partial=True), 0.9),
        _score(_truth("d.pdf"), 0.9, is_foreign=True),
    ]
    text = report(scores, PROFILE, "fake 1", "the command")
    assert "| **all** | 2 | 2 | 400 | 10.00% | 10.00% | 20.00% | 10.00% | - |" in text
    assert "| c.pdf | 10% |" in text
    assert text.index("Scripts that the model cannot read") < text.index("| d.pdf |")
    assert "    the command\n" in text


def test_a_wrong_ground_truth_is_named_and_left_out() -> None:
    scores = [_score(_truth("a.pdf"), 0.0), _score(_truth("digital-en-redpaper.pdf"), 0.9)]
    text = report(scores, PROFILE, "fake 1", "the command")
    assert "| **all** | 1 | 1 | 100 | 0.00% |" in text
    assert "- digital-en-redpaper.pdf: " in text


def test_a_page_that_failed_is_all_wrong_and_marked(tmp_path: Path) -> None:
    (truth,) = truths(_folder(tmp_path / "in", "one\ftwo"))
    engine = FakeEngine([said("one"), PageFailed("no answer", Code.OCR_FAILED)])
    measured = score(truth, engine, PROFILE, 3, tmp_path / "store")
    assert measured.failures == (Code.OCR_FAILED,)
    assert [(page.cer, page.verdict) for page in measured.pages][1] == (1.0, Verdict.BAD)
    assert "a.pdf (failed: " in report([measured], PROFILE, "fake 1", "the command")


def test_tables_and_formulas_lie_beside_the_text_page_by_page(tmp_path: Path) -> None:
    home = _folder(tmp_path, "one\ftwo\fthree")
    factories.write(home / "a.pdf.gt.html", b"\f<table><tr><td>x</td></tr></table>")
    (truth,) = truths(home)
    assert [len(truth.structure_of(number).tables) for number in (1, 2, 3)] == [0, 1, 0]


def test_intervals_stand_where_there_are_documents_enough() -> None:
    scores = [_score(_truth(f"{n}.pdf"), n / 10) for n in range(4)]
    text = report(scores, PROFILE, "fake 1", "the command")
    assert "| **all** | 4 | 4 | 400 | 15.00% (5.0%-25.0%) |" in text
    assert "| 0.pdf | en | 1 | 100 | 0.00% | 0.00% | 0.00% | - | 1.000 |" in text


def test_tables_formulas_and_marks_have_tables_of_their_own() -> None:
    structures = {"tables": (TableScore(0.5, 1.0), TableScore(0.0, 0.0)), "formulas": (1.0, 0.5)}
    scores = [_score(_truth("a.pdf"), 0.3, verdict=Verdict.SUSPECT, **structures)]
    text = report([*scores, _score(_truth("b.pdf"), 0.3)], PROFILE, "fake 1", "the command")
    assert "| a.pdf | 2 | 1 | 0.250 | 0.500 |" in text
    assert "| a.pdf | 2 | 2 | 50% | 0.750 |" in text
    assert "| 10% | 2 | 2 | 1 | 1 | 100% | 50% |" in text
    assert "Wrong and not marked: b.pdf p. 1 (30%)." in text


def test_the_structures_that_come_with_the_benchmark_are_read() -> None:
    names = {each.name.partition(".gt.")[0] for each in STRUCTURES.glob("*.gt.*")}
    told = {name: _structures(name, (STRUCTURES,)) for name in names}
    assert all(any(page.tables or page.formulas for page in pages) for pages in told.values())
    assert [len(row) for row in told["digital-en-nics-table.pdf"][0].tables[0][1:]] == [25] * 57
    assert len(told["digital-ja-math-sheet.pdf"][0].formulas) == 15
