"""Every fault that the benchmark injects is found on pages of the samples, and the list of checks is true."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from bench.checks import listing, report, wilson, with_listing
from bench.documentfaults import DOCUMENT_FAULTS, Book
from bench.faults import FAULTS
from bench.goodpages import Good, read_as
from bench.halves import CHOSEN, HELD
from models.limits import CheckLimits
from models.reading import Reading
from models.verdict import Verdict
from tasks.work.checks import CHECKS, DOCUMENT_CHECKS, check, check_document, verdict
from tests.unit.readings import CHINESE, FULL, GERMAN, PROSE, RUSSIAN

ROOT = Path(__file__).parents[2]
OTHERS = tuple(path.read_text() for path in sorted((ROOT / "samples" / "truth").iterdir()))
# Gibberish is only told from dense print where there is less ink.
PAGE = replace(FULL, ink=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_wherever_it_is_injected(name: str) -> None:
    fault, codes = FAULTS[name]
    for seed in range(8):
        good = Good(read_as("text", f"{PROSE}\n\n{GERMAN}\n\n{PROSE}"), PAGE, OTHERS)
        reading, page = fault(good, Random(seed))
        findings = check(reading, page)
        assert codes & {finding.code for finding in findings}, seed
        assert verdict(reading, findings) is not Verdict.GOOD


@pytest.mark.parametrize("name", DOCUMENT_FAULTS)
def test_a_fault_among_pages_is_found(name: str) -> None:
    fault, code = DOCUMENT_FAULTS[name]
    books = [
        Book(file, {n: rotated(text, n) for n in range(1, 8)})
        for file, text in (("en", PROSE * 2), ("de", GERMAN * 2), ("ru", RUSSIAN * 2), ("zh", CHINESE * 2))
    ]
    for seed in range(8):
        number, pages = fault(books[seed % 4], books, Random(seed))
        assert number in {1, 2, 6, 7} or code in {f.code for f in check_document(pages).get(number, ())}


def rotated(text: str, start: int) -> Reading:
    cut = 11 * start
    return read_as("text", text[cut:] + text[:cut])


@pytest.mark.parametrize("text", OTHERS)
def test_a_good_sample_has_no_findings(text: str) -> None:
    for page in text.rstrip("\f").split("\f"):
        reading = read_as("text", page)
        full = replace(FULL, ink=max(0.001, len(page) * 60 / FULL.pixels))
        assert [f for f in check(reading, full) if f.severity != "info"] == []


def test_every_check_has_a_fault_that_it_finds() -> None:
    covered = {code for _, codes in FAULTS.values() for code in codes}
    covered |= {code for _, code in DOCUMENT_FAULTS.values()}
    # Proven in test_checks.py: they depend on who reads, on the recipe or on the file.
    elsewhere = {"no-text-found", "script-unsupported", "language-unexpected"}
    assert {one.code for one in (*CHECKS, *DOCUMENT_CHECKS)} - covered == elsewhere


def test_the_list_of_checks_in_the_documentation_is_as_generated() -> None:
    text = (ROOT / "docs" / "checks.md").read_text()
    assert with_listing(text) == text
    assert listing() in text


def test_a_check_can_be_disabled_and_another_enabled() -> None:
    reading, page = FAULTS["sum that does not add up"][0](
        Good(read_as("text", PROSE), PAGE, OTHERS), Random(1)
    )
    assert "sums-differ" in {f.code for f in check(reading, page)}
    assert "sums-differ" not in {f.code for f in check(reading, page, CheckLimits())}
    off = CheckLimits(enabled=("sums-differ",), disabled=("sums-differ",))
    assert check(reading, page, off) == ()


def test_intervals_of_shares_are_those_of_wilson() -> None:
    assert wilson(60, 60) == pytest.approx((0.9398, 1.0), abs=1e-3)
    assert wilson(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-3)
    assert wilson(0, 0) == (0.0, 1.0)


def test_the_report_tells_recall_alarms_and_cost() -> None:
    from bench.checks import judge

    judged = [judge("a p. 1", read_as("text", PROSE), PAGE), judge("a p. 2", read_as("text", ""), PAGE)]
    recall = {HELD: {"empty": (10, 9, 10)}, CHOSEN: {"empty": (4, 1, 1)}}
    text = report(recall, {"samples": judged}, "python -m bench.checks samples")
    (row,) = [line for line in text.splitlines() if line.startswith("| empty |")]
    assert row.startswith("| empty | 10 | 9 | 0.900 |")
    assert row.endswith("| 10 | 0.250 |")
    assert "| samples | 2 | 1 (50.0%) | 0 (0.0%) | `empty-with-ink` 1 |" in text
