"""What a run shows on Prefect's screen."""

import re

import pytest

from flows.naming import run_name
from flows.showing import progress_text
from flows.telling import failures_text, remedy_of, row_of, tally_text
from models.outcome import FailedWork, Headway, StageOutcome, Tally
from models.stage import Stage


def failed(
    name: str = "/in/a.pdf", message: str = "Torn.", page_no: int = 2, code: str = "render-failed"
) -> FailedWork:
    return FailedWork(7, name, page_no, code, message)


def test_a_failure_names_document_page_code_and_what_to_do() -> None:
    text = failures_text([failed()])
    assert "| 7 /in/a.pdf | 2 | `render-failed` | Torn. | `pagemill review retry 7:2` |" in text


def test_a_failed_document_has_no_page() -> None:
    assert "| all |" in failures_text([failed(page_no=0)])


@pytest.mark.parametrize("odd", ["a|b.pdf", "a\nb.pdf", "a\ud800.pdf"])
def test_odd_names_break_no_table(odd: str) -> None:
    row = next(line for line in failures_text([failed(name=odd)]).splitlines() if line.startswith("| 7"))
    assert row.replace("\\|", "").count("|") == 6
    row.encode()


@pytest.mark.parametrize(
    ("work", "remedy"),
    [
        (failed(code="engine-unavailable"), "the next ingest"),
        (failed(page_no=0, code="needs-password"), "Add its password"),
        (failed(page_no=0, code="zero-pages"), "`pagemill backfill --doc 7 --go`"),
    ],
)
def test_what_to_do_follows_from_what_failed(work: FailedWork, remedy: str) -> None:
    assert remedy in remedy_of(work)


def test_a_list_that_was_cut_says_so() -> None:
    assert "Only the first 200" in failures_text([failed()] * 200)
    assert "Only the first" not in failures_text([failed()] * 199)


@pytest.mark.parametrize(
    ("pages", "cached", "wall_s", "speed"), [(10, 4, 3.0, 2.0), (3, 3, 1.0, 0.0), (1, 0, 0.0, 0.0)]
)
def test_speed_counts_pages_that_were_worked_on(pages: int, cached: int, wall_s: float, speed: float) -> None:
    assert StageOutcome(Stage.OCR, 1, pages, cached, 1.0, wall_s, 0).pages_per_s == speed


def test_the_table_of_stages_has_every_column() -> None:
    outcome = StageOutcome(
        Stage.OCR, 2, 10, 4, 1.0, 3.0, 0, failed=3, failed_pages=2, page_p50_s=0.12345, page_p95_s=None
    )
    assert row_of(outcome) == {
        "stage": "ocr",
        "documents": 2,
        "pages": 10,
        "ok": 8,
        "failed": 3,
        "cached": 4,
        "p50 s": 0.123,
        "p95 s": None,
        "pages/s": 2.0,
    }


@pytest.mark.parametrize(
    ("tally", "told"),
    [
        (Tally(documents=12, pages=512), "512 pages of 12 documents read."),
        (Tally(documents=1, pages=1), "1 page of 1 document read."),
        (Tally(documents=12, pages=512, lost_pages=25), "487 of 512 pages of 12 documents read."),
        (
            Tally(documents=2, lost_documents=1, pages=9, unread=1),
            "9 pages of 1 document read, 1 of 2 documents failed or refused, 1 file could not be taken.",
        ),
        (Tally(documents=1, pages=9, cached=7), "9 pages of 1 document read (7 of them known from before)."),
        (Tally(documents=1, lost_documents=1), "1 of 1 document failed or refused."),
        (Tally(documents=3, loaded=3), "3 documents loaded."),
        (Tally(documents=3, pages=9, loaded=3), "9 pages of 3 documents read."),
        (Tally(), "There was nothing to do."),
        (Tally(listed=200), "Nothing new among 200 files."),
    ],
)
def test_a_run_says_in_a_sentence_what_it_came_to(tally: Tally, told: str) -> None:
    assert tally_text(tally, "read") == told


@pytest.mark.parametrize(
    ("tally", "is_whole", "is_lost"),
    [
        (Tally(documents=1, pages=3), True, False),
        (Tally(documents=1, pages=3, lost_pages=1), False, False),
        (Tally(documents=1, pages=3, lost_pages=3), False, True),
        (Tally(documents=2, pages=3, lost_documents=1), False, False),
        (Tally(documents=1, lost_documents=1), False, True),
        (Tally(documents=2, lost_documents=1, loaded=1), False, False),
        (Tally(documents=1, pages=1, lost_pages=1, loaded=1), False, True),
        (Tally(unread=1), False, False),
        (Tally(), True, False),
    ],
)
def test_a_run_is_whole_or_lost_or_between(tally: Tally, is_whole: bool, is_lost: bool) -> None:
    assert (tally.is_whole, tally.is_lost) == (is_whole, is_lost)


def test_progress_is_of_what_is_known_so_far() -> None:
    headway = Headway(487, 25)
    assert progress_text(headway, "pages", 7) == "487 of 512 pages known so far. Run 7."
    assert (round(headway.percent), Headway(0, 0).percent) == (95, 100.0)


def test_runs_are_called_by_what_where_and_when(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT__WORKER_NAME", "gpu-0")
    assert re.fullmatch(r"ocr gpu-0 \d{4}-\d\d-\d\d \d\d:\d\d", run_name("ocr")())
    monkeypatch.delenv("PREFECT__WORKER_NAME")
    monkeypatch.setattr("socket.gethostname", lambda: "desk")
    assert run_name("ingest")().startswith("ingest desk 20")
