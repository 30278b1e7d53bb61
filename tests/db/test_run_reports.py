"""A run's times, findings and worst pages."""

import datetime as dt

import pytest

from db import run_reports, timings
from db.engine import Database
from models.errors import ConfigurationError
from models.run_report import FindingCount
from models.stage import Outcome, Stage
from models.timing import StageRun
from models.verdict import Severity, Verdict
from tests.db.steps import ingest, intake, load, prepare, register, split
from tests.db.test_review import document, read_as

NOON = dt.datetime(2026, 3, 1, 12, 0, tzinfo=dt.UTC)


def timed(stage: Stage, seconds: float, *, at: dt.datetime = NOON, **facts: object) -> StageRun:
    end = at + dt.timedelta(seconds=seconds)
    known = {"document_id": 1, "stage": stage, "attempt": 1, "ready_at": at, "started_at": at}
    return StageRun(**known | {"ended_at": end, "seconds": seconds, "pages": 3} | facts)  # type: ignore[arg-type]


def test_without_a_run_there_is_nothing_to_report(database: Database) -> None:
    with pytest.raises(ConfigurationError, match="no run yet"):
        database.run(run_reports.newest)


def test_the_newest_run_is_the_last_that_met_documents(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text")
    ingest(database, "/b.pdf", "two", "text")
    newest = database.run(run_reports.newest)
    report = database.run(lambda conn: run_reports.of_run(conn, newest, 5, 100))
    assert (report.summary.run.kind, report.profile) == ("ingest", "ppocr")
    assert [one.name for one in report.summary.documents] == ["/b.pdf"]
    assert (report.worst, report.waiting, report.findings) == ((), 0, ())


def test_stages_stand_in_the_order_of_the_story_with_what_they_took(database: Database) -> None:
    document(database, Verdict.GOOD)
    again = timed(Stage.OCR, 1.0, attempt=2, outcome=Outcome.RETRY, cached=1)
    rows = [timed(Stage.LOAD, 2.0), timed(Stage.OCR, 4.0), again]
    database.run(lambda conn: timings.record(conn, 1, rows))
    ocr, loaded = database.run(lambda conn: run_reports.stages(conn, 1))
    assert (ocr.stage, ocr.documents, ocr.pages, ocr.cached) == (Stage.OCR, 1, 6, 1)
    assert (ocr.seconds, ocr.wall_s, ocr.retries) == (5.0, 4.0, 1)
    assert (loaded.stage, loaded.seconds) == (Stage.LOAD, 2.0)


def test_a_run_that_left_the_work_to_drains_shows_what_they_did_since(database: Database) -> None:
    document(database, Verdict.GOOD)
    late = dt.datetime.now(dt.UTC) + dt.timedelta(hours=1)
    rows = [timed(Stage.SPLIT, 9.0, at=NOON), timed(Stage.OCR, 4.0, at=late)]
    database.run(lambda conn: timings.record(conn, 2, rows))
    assert [one.stage for one in database.run(lambda conn: run_reports.stages(conn, 1))] == [Stage.OCR]


def test_findings_are_counted_by_pages_and_documents_the_heaviest_first(database: Database) -> None:
    register(database, intake("/a.pdf"), intake("/b.pdf", "two"))
    split(database, 3)
    prepare(database)
    read_as(database, Verdict.SUSPECT, Verdict.BAD, Verdict.SUSPECT)
    load(database)
    found = database.run(lambda conn: run_reports.findings(conn, 1))
    assert found == (
        FindingCount("truncated", Severity.ERROR, 2, 2),
        FindingCount("low-confidence", Severity.WARNING, 4, 2),
    )
    report = database.run(lambda conn: run_reports.of_run(conn, 1, 3, 4))
    assert ([page.page for page in report.worst], report.waiting) == (["1:2", "2:2", "1:1"], 6)
    assert report.worst[0].text == "A pa"
