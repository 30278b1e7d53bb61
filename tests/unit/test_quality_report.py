from pathlib import Path

from bench.quality import Score, Truth, report, score, truths
from models.profiles import get
from tasks.work.engines.fake import FakeEngine, said
from tests import factories

PROFILE = get("ppocr")


def _truth(name: str, kind: str = "scan", *, is_partial: bool = False) -> Truth:
    return Truth(Path(name), ("text",), kind, "en", "", is_partial, is_repeated=False)


def _score(truth: Truth, cer: float, chars: int = 100, *, is_foreign: bool = False) -> Score:
    return Score(truth, 1, chars, cer, cer, 1 - cer, 1 - cer, 0.5, is_foreign=is_foreign)


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
    assert (measured.pages, measured.chars) == (2, 9)
    assert abs(measured.cer - 1 / 9) < 1e-9


def test_one_page_of_truth_can_hold_for_all_pages(tmp_path: Path) -> None:
    (truth,) = truths(_folder(tmp_path / "in", "same", "the one page holds for each of the pages"))
    measured = score(truth, FakeEngine(default=said("same")), PROFILE, 1, tmp_path / "store")
    assert (measured.pages, measured.cer) == (3, 0.0)


def test_means_are_weighted_and_leave_out_partial_and_unreadable_files() -> None:
    scores = [
        _score(_truth("a.pdf"), 0.0, 300),
        _score(_truth("b.pdf"), 0.4, 100),
        _score(_truth("c.pdf", is_partial=True), 0.9),
        _score(_truth("d.pdf"), 0.9, is_foreign=True),
    ]
    text = report(scores, PROFILE, "fake 1", "the command")
    assert "| **all** | 2 | 2 | 400 | 10.00% | 10.00% | 20.00% |" in text
    assert "| c.pdf | 10% |" in text
    assert text.index("Scripts that the model cannot read") < text.index("| d.pdf |")
    assert "    the command\n" in text


def test_a_wrong_ground_truth_is_named_and_left_out() -> None:
    scores = [_score(_truth("a.pdf"), 0.0), _score(_truth("digital-en-redpaper.pdf"), 0.9)]
    text = report(scores, PROFILE, "fake 1", "the command")
    assert "| **all** | 1 | 1 | 100 | 0.00% |" in text
    assert "- digital-en-redpaper.pdf: " in text
