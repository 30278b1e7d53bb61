"""Where the time went: one row for each document, stage and attempt of a run, true in its sums."""

from collections import Counter
from typing import Any

import pytest

from db import timings
from models.errors import Code, EngineUnavailable, PageFailed
from tasks.work.engines.fake import Delayed, said
from tests import factories
from tests.flows.yard import Yard, saying

# Each starts worker processes; `make check` has a minute.
pytestmark = pytest.mark.slow

_STAGES = {"split", "preprocess", "ocr", "validate", "load"}


def _row(yard: Yard, stage: str, **where: Any) -> Any:
    (row,) = yard.rows("stage_run", stage=stage, **where)
    return row


def test_there_is_one_row_for_each_document_and_stage(yard: Yard) -> None:
    for name in ("a.pdf", "b.pdf"):
        factories.write(yard.inbox / name, factories.pdf("ONE", "TWO", name))
    yard.ingest()
    rows = Counter((row.document_id, row.stage, row.attempt) for row in yard.rows("stage_run"))
    assert rows == Counter({(number, stage, 1): 1 for number in (1, 2) for stage in _STAGES})
    assert {row.pages for row in yard.rows("stage_run")} == {3}
    assert {row.outcome for row in yard.rows("stage_run")} == {"ok"}


def test_work_waits_then_starts_then_ends_and_the_stages_follow_each_other(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO"))
    yard.ingest()
    assert all(row.ready_at <= row.started_at <= row.ended_at for row in yard.rows("stage_run"))
    ends = [_row(yard, stage).ended_at for stage in ("split", "preprocess", "ocr", "load")]
    assert ends == sorted(ends)
    assert _row(yard, "load").started_at >= _row(yard, "ocr").started_at


def test_the_seconds_of_a_document_are_the_sum_of_its_pages(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("1", "2", "3"))
    slow = said("slowly")
    object.__setattr__(slow, "seconds", 2.5)
    yard.ingest(saying(slow, slow, slow))
    row = _row(yard, "ocr")
    assert row.seconds == pytest.approx(7.5)
    assert row.seconds == pytest.approx(sum(reading.seconds for reading in yard.rows("reading")))
    report = yard.database.run(lambda conn: timings.report(conn, "stage"))
    assert report.seconds == pytest.approx(sum(row.seconds for row in yard.rows("stage_run")))
    assert sum(row.share for row in report.rows) == pytest.approx(1)
    assert report.limiting == "ocr"


def test_what_an_earlier_run_did_is_counted_as_cached_and_costs_no_seconds(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO"))
    yard.ingest()
    yard.ingest(recipe=("text_layer=ignore",))
    second = max(row.id for row in yard.rows("run"))
    for stage in ("split", "preprocess"):
        row = _row(yard, stage, run_id=second)
        assert (row.pages, row.cached, row.seconds) == (2, 2, 0.0)
    assert (_row(yard, "ocr", run_id=second).pages, _row(yard, "ocr", run_id=second).cached) == (2, 0)


def test_a_picture_read_before_is_counted_as_cached(yard: Yard) -> None:
    page = factories.picture("The same page", (400, 300))
    factories.write(yard.inbox / "a.tif", factories.frames([page, page]))
    yard.ingest()
    factories.write(yard.inbox / "b.tif", factories.frames([page, page, page]))
    assert yard.ingest().requests == []
    row = _row(yard, "ocr", document_id=2)
    assert (row.pages, row.cached, row.seconds) == (3, 3, 0.0)


def test_every_try_has_a_row_with_its_outcome_and_code(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE"))
    down = EngineUnavailable("no answer")
    yard.ingest(saying(down, down))
    rows = [(row.attempt, row.outcome, row.code) for row in yard.rows("stage_run", stage="ocr")]
    assert rows == [
        (1, "retry", "engine-unavailable"),
        (2, "retry", "engine-unavailable"),
        (3, "ok", None),
    ]
    report = yard.database.run(lambda conn: timings.report(conn, "stage"))
    assert next(row.retries for row in report.rows if row.key == "ocr") == 2


def test_a_document_with_a_good_and_a_bad_page_has_a_partial_row(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO"))
    yard.ingest(saying(said("fine"), PageFailed("torn", Code.OCR_FAILED)))
    row = _row(yard, "ocr")
    assert (row.outcome, row.code, row.pages) == ("partial", "ocr-failed", 2)


def test_a_refused_document_has_the_row_of_the_stage_that_refused_it(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.encrypted_pdf("secret", user="u"))
    yard.ingest()
    (row,) = yard.rows("stage_run")
    assert (row.stage, row.attempt, row.outcome, row.code) == ("split", 1, "failed", "needs-password")


def test_a_blank_page_has_no_time_of_ocr(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf(""))
    yard.ingest()
    assert {row.stage for row in yard.rows("stage_run")} == {"split", "preprocess", "load"}


def test_waiting_shows_where_an_engine_is_the_limit(yard: Yard) -> None:
    for number in range(6):
        factories.write(yard.inbox / f"{number}.pdf", factories.pdf(f"Number {number}"))
    slow = Delayed(0.5, said("slowly"))
    yard.ingest(saying(*[slow] * 6))
    waits = [(row.ended_at - row.ready_at).total_seconds() for row in yard.rows("stage_run", stage="ocr")]
    assert len(waits) == 6
    assert all(wait >= 0.5 for wait in waits)


def test_a_run_that_finds_all_done_adds_no_row(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE"))
    yard.ingest()
    before = yard.rows("stage_run")
    yard.ingest()
    assert yard.rows("stage_run") == before
