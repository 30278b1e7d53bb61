"""What a run leaves on Prefect's screen."""

import pytest

from flows.telling import failures_text
from models.outcome import FailedWork, StageOutcome
from models.stage import Stage


def failed(name: str = "/in/a.pdf", message: str = "Torn.", page_no: int = 2) -> FailedWork:
    return FailedWork(7, name, page_no, "render-failed", message)


def test_a_failure_names_document_page_code_and_what_to_do() -> None:
    text = failures_text([failed()])
    assert "| 7 /in/a.pdf | 2 | `render-failed` | Torn. |" in text
    assert "pagemill backfill" in text


def test_a_failed_document_has_no_page() -> None:
    assert "| all |" in failures_text([failed(page_no=0)])


@pytest.mark.parametrize("odd", ["a|b.pdf", "a\nb.pdf", "a\ud800.pdf"])
def test_odd_names_break_no_table(odd: str) -> None:
    row = next(line for line in failures_text([failed(name=odd)]).splitlines() if line.startswith("| 7"))
    assert row.replace("\\|", "").count("|") == 5
    row.encode()


def test_a_list_that_was_cut_says_so() -> None:
    assert "Only the first 200" in failures_text([failed()] * 200)
    assert "Only the first" not in failures_text([failed()] * 199)


@pytest.mark.parametrize(
    ("pages", "cached", "wall_s", "speed"), [(10, 4, 3.0, 2.0), (3, 3, 1.0, 0.0), (1, 0, 0.0, 0.0)]
)
def test_speed_counts_pages_that_were_worked_on(pages: int, cached: int, wall_s: float, speed: float) -> None:
    outcome = StageOutcome(Stage.OCR, 1, pages, cached, 0, None, None, wall_s)
    assert outcome.pages_per_s == speed
