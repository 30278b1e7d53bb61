"""The benchmarks of the checks and of reading quality at toy size."""

import argparse
import dataclasses
import sys
from pathlib import Path
from random import Random

import pytest

from bench import checks, knownpages, quality
from bench.goodpages import Good, as_html, as_table, div, read_as
from bench.halves import CHOSEN, HELD, halves
from models.profiles import get
from models.reading import BlockType, FinishReason
from models.verdict import Verdict
from tasks.work.engines.fake import FakeEngine, said
from tests import factories

SENTENCE = (
    "the pump of a cellar stands under water when rain has come and its valve was left open by those who "
    "should have closed it before leaving for home in the evening as every keeper knows from long practice"
)


def prose(seed: int) -> str:
    """Twenty lines of words that no loop could have made."""
    rng = Random(seed)
    return "\n".join(" ".join(rng.choices(SENTENCE.split(), k=11)) for _ in range(20))


TEXTS = [prose(n) for n in range(10)]


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> list[knownpages.Known]:
    """Ten pages of two documents whose text is known."""
    home = tmp_path_factory.mktemp("known")
    for name, texts in (("a", TEXTS[:5]), ("b", TEXTS[5:])):
        factories.write(home / f"{name}.pdf", factories.pdf(*texts))
        factories.write(home / f"{name}.pdf.gt.txt", "\f".join(texts).encode())
    return list(knownpages.known_pages(home, 5, home / "store"))


def test_known_pages_have_their_truth_as_a_good_reading(known: list[knownpages.Known]) -> None:
    assert [(one.file, one.page_no) for one in known] == [
        (f, n) for f in ("a.pdf", "b.pdf") for n in range(1, 6)
    ]
    assert known[0].reading.text.split() == TEXTS[0].split()
    assert known[0].page.ink > 0.01
    assert known[0].page.width_pt == 595


@pytest.mark.slow
def test_good_pages_raise_no_alarm(known: list[knownpages.Known]) -> None:
    judged = checks.false_alarms(known)
    assert len(judged) == len(known)
    assert {one.verdict for one in judged} == {Verdict.GOOD}
    assert judged[0].name == "a.pdf p. 1"
    assert all(one.cpu_ms >= 0 for one in judged)


@pytest.mark.slow
def test_every_kind_of_fault_is_tried_and_most_are_found(known: list[knownpages.Known]) -> None:
    found = checks.recalls(known, 2)
    assert set(found) == set(checks.FAULTS)
    assert all(total == 2 and hits <= 2 for total, hits, _ in found.values())
    assert found["truncated"] == found["empty with ink"] == (2, 2, 2)
    assert sum(hits for _, hits, _ in found.values()) > 1.6 * len(found)


@pytest.mark.slow
def test_a_page_of_another_document_is_found_by_its_neighbours(known: list[knownpages.Known]) -> None:
    books = checks._books(known)
    assert {book.file: sorted(book.pages) for book in books} == {
        "a.pdf": [1, 2, 3, 4, 5],
        "b.pdf": [1, 2, 3, 4, 5],
    }
    fault, code = checks.DOCUMENT_FAULTS["header lost"]
    number, wrong = fault(books[0], books, Random(1))
    assert code in {finding.code for finding in checks.check_document(wrong)[number]}


def test_a_changed_page_keeps_what_is_known_of_it(known: list[knownpages.Known]) -> None:
    good = Good(known[0].reading, known[0].page, TEXTS[5:])
    reading, page = good.with_text("Cut", finish_reason=FinishReason.LENGTH)
    assert (reading.text, reading.finish_reason) == ("Cut", FinishReason.LENGTH)
    assert page is good.page


def test_a_reading_survives_being_told_as_html() -> None:
    table = as_table([["Item", "Price"], ["Tea & <milk>", "2.50"]])
    again = read_as("chandra", as_html(table))
    assert again.blocks[0].type is BlockType.TABLE
    assert again.blocks[0].rows == (("Item", "Price"), ("Tea & <milk>", "2.50"))
    words = read_as("chandra", div("Text", "<p>a &lt; b</p>"))
    assert read_as("chandra", as_html(words)).text == words.text == "a < b"


@pytest.mark.parametrize(
    ("hits", "total", "low", "high"), [(0, 0, 0, 1), (0, 10, 0, 0.28), (5, 10, 0.24, 0.76), (10, 10, 0.72, 1)]
)
def test_few_samples_make_wide_intervals(hits: int, total: int, low: float, high: float) -> None:
    assert checks.wilson(hits, total) == pytest.approx((low, high), abs=0.005)


def test_the_report_counts_alarms_by_code_and_costs_by_group(known: list[knownpages.Known]) -> None:
    judged = checks.false_alarms(known)
    bad = dataclasses.replace(judged[0], verdict=Verdict.BAD, cpu_ms=7.0)
    recall = {HELD: {"truncated": (4, 3, 4), "loop": (2, 2, 2)}, CHOSEN: {"truncated": (4, 4, 4)}}
    text = checks.report(recall, {"truths": [bad, *judged[1:]], "none": []}, "the command")
    assert "| truncated | 4 | 3 | 0.750 | 0.30-0.95 | 4 | 1.000 |" in text
    assert "| loop | 2 | 2 | 1.000 | 0.34-1.00 | 2 | - |" in text
    assert "| truths | 10 | 1 (10.0%) | 0 (0.0%) | none |" in text
    assert "7.00 |" in text


@pytest.mark.slow
def test_the_whole_measurement_of_the_checks_without_an_engine(
    tmp_path: Path, known: list[knownpages.Known], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "known_pages", lambda *_: iter(known))
    monkeypatch.setattr(checks, "document_recalls", lambda *_: {"header lost": (1, 1, 1)})
    wish = argparse.Namespace(folder=tmp_path, pages=5, samples=1, jobs=0, write=None)
    text = checks.measure(wish)
    assert "| header lost | 1 | 1 |" in text
    assert text.count("| 5 | 0 (0.0%) | 0 (0.0%) |") == 2


def test_what_the_engine_reads_well_is_judged_and_the_rest_is_left_out(
    known: list[knownpages.Known], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = FakeEngine([said(known[0].truth), said("something else")])
    monkeypatch.setattr(knownpages, "open_engine", lambda *_: engine)
    groups = checks.read_by(known[:2], 1)
    assert {name: [one.name for one in judged] for name, judged in groups.items()} == {
        "read by ppocr": ["a.pdf p. 1"],
        "the same as HTML": ["a.pdf p. 1"],
    }


def test_quality_is_measured_from_the_command_line_to_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    factories.write(tmp_path / "in" / "a.pdf", factories.pdf("One page of words"))
    factories.write(tmp_path / "in" / "a.pdf.gt.txt", b"One page of words")
    report = tmp_path / "quality.md"
    engine = FakeEngine(default=said("One page of wards"))
    monkeypatch.setattr(quality, "open_engine", lambda *_: engine)
    monkeypatch.setattr(sys, "argv", ["quality", str(tmp_path / "in"), "--jobs", "1", "--write", str(report)])
    quality.main()
    assert "1 files, 1 pages" in report.read_text()
    assert get("ppocr").title in report.read_text()
    assert "| **all** | 1 | 1 | 14 | 7.14% | 7.14% | 7.14% | 25.00% | - |" in report.read_text()


def test_quality_is_measured_under_the_recipe_that_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    factories.write(tmp_path / "in" / "a.pdf", factories.pdf("One page of words"))
    factories.write(tmp_path / "in" / "a.pdf.gt.txt", b"One page of words")
    engine = FakeEngine(default=said("One page of words"))
    monkeypatch.setattr(quality, "open_engine", lambda *_: engine)
    monkeypatch.setattr(sys, "argv", ["quality", str(tmp_path / "in"), "--recipe", "long_edge_px=700"])
    quality.main()
    (request,) = engine.requests
    assert max(request.image.width_px, request.image.height_px) == 700
    assert request.recipe.text_layer == "ignore"


def paged(*truths: tuple[str, str]) -> list[knownpages.Known]:
    """Pages of files with these texts, that nobody asks more of."""
    return [knownpages.Known(file, 1, truth, None) for file, truth in truths]  # type: ignore[arg-type]


def test_documents_that_share_a_page_stand_in_one_half() -> None:
    found = halves(paged(("a", "x"), ("b", "y"), ("b", "z"), ("c", "z"), ("d", "w")))
    assert {half: {page.file for page in part} for half, part in found.items()} == {
        CHOSEN: {"a", "d"},
        HELD: {"b", "c"},
    }


def test_sharing_goes_on_from_file_to_file() -> None:
    found = halves(paged(("a", "x"), ("b", "x"), ("b", "y"), ("c", "y"), ("d", "w")))
    assert {page.file for page in found[CHOSEN]} == {"a", "b", "c"}
    assert {page.file for page in found[HELD]} == {"d"}


def test_without_long_documents_neighbours_tell_nothing() -> None:
    assert checks.document_recalls([], 5) == {}
