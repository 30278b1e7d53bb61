"""Where the time went, and how far a run has come."""

import datetime as dt

import pytest
import sqlalchemy as sa

from db import claims, progress, runs, tables, timings
from db.engine import Database
from models.claim import Failure
from models.document import ScanProblem
from models.errors import Code, PageFailed
from models.progress import StageProgress
from models.stage import Outcome, Stage
from models.timing import StageRun
from tests.db import steps
from tests.db.steps import count, ingest, intake, lease, load, prepare, read, register, split

NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)


def at(seconds: float) -> dt.datetime:
    return NOON + dt.timedelta(seconds=seconds)


def stage_run(document_id: int, stage: Stage, start: float, seconds: float, **changes: object) -> StageRun:
    values = {
        "attempt": 1,
        "ready_at": at(start - 1),
        "started_at": at(start),
        "ended_at": at(start + seconds),
        "seconds": seconds,
        "pages": 1,
        "worker": "w1",
    }
    return StageRun(document_id, stage, **values | changes)  # type: ignore[arg-type]


def record(database: Database, *rows: StageRun) -> None:
    database.run(lambda conn: timings.record(conn, 1, rows))


@pytest.fixture
def library(database: Database) -> Database:
    register(database, intake("/a.pdf", "a"), intake("/b.pdf", "b"))
    return database


def test_batches_of_one_stage_and_document_add_up(library: Database) -> None:
    record(library, stage_run(1, Stage.OCR, 10, 4, pages=2), stage_run(1, Stage.OCR, 2, 4, pages=2, cached=1))
    record(library, stage_run(1, Stage.OCR, 20, 2, outcome=Outcome.FAILED, code="ocr-timeout"))
    row = library.run(lambda conn: conn.execute(sa.select(tables.stage_run)).one())
    assert (row.pages, row.cached, row.seconds) == (5, 1, 10)
    assert (row.ready_at, row.started_at, row.ended_at) == (at(1), at(2), at(22))
    assert (row.outcome, row.code) == (Outcome.PARTIAL, "ocr-timeout")


def test_another_attempt_has_a_row_of_its_own_and_the_runs_prefect_id(library: Database) -> None:
    run_id = library.run(lambda conn: runs.start(conn, "drain", steps.RECIPE, {}, "flow-1"))
    rows = [
        stage_run(1, Stage.SPLIT, 0, 1),
        stage_run(1, Stage.SPLIT, 5, 1, attempt=2, prefect_run_id="task-1"),
    ]
    library.run(lambda conn: timings.record(conn, run_id, rows))
    t = tables.stage_run
    ids = library.run(lambda conn: conn.scalars(sa.select(t.c.prefect_run_id).order_by(t.c.attempt)).all())
    assert ids == ["flow-1", "task-1"]


def test_nothing_to_record_is_nothing(library: Database) -> None:
    record(library)
    assert count(library, tables.stage_run) == 0
    report = library.run(lambda conn: timings.report(conn, "stage"))
    assert (report.rows, report.seconds, report.limiting) == ((), 0, None)


def test_the_stage_that_took_most_work_limits_and_shares_add_up(library: Database) -> None:
    record(
        library,
        stage_run(1, Stage.SPLIT, 0, 1, pages=10),
        stage_run(1, Stage.PREPROCESS, 1, 3, pages=10, cached=5),
        stage_run(2, Stage.PREPROCESS, 4, 2, pages=10),
        stage_run(1, Stage.OCR, 5, 14, pages=10, outcome=Outcome.RETRY),
    )
    report = library.run(lambda conn: timings.report(conn, "stage"))
    assert report.limiting is Stage.OCR
    assert (report.seconds, report.wall_s) == (20, 19)
    assert [(row.key, row.share) for row in report.rows] == [
        ("ocr", 0.7),
        ("preprocess", 0.25),
        ("split", 0.05),
    ]
    middle = report.rows[1]
    assert (middle.documents, middle.pages, middle.cached, middle.wall_s) == (2, 20, 5, 5)
    assert (middle.page_p50_s, middle.waited_p50_s) == (pytest.approx(0.4), 1)
    assert report.rows[0].retries == 1


def test_the_time_of_ocr_pages_is_each_pages_own(database: Database) -> None:
    ingest(database, "/a.pdf", "a", page_count=3)
    record(database, stage_run(1, Stage.OCR, 0, 60, pages=3))
    row = database.run(lambda conn: timings.report(conn, "stage", 1)).rows[0]
    assert (row.page_p50_s, row.page_p95_s) == (2.0, 2.0)


@pytest.mark.parametrize(("by", "keys"), [("document", ["2", "1"]), ("run", ["1"]), ("profile", ["ppocr"])])
def test_time_is_told_by_document_run_and_profile(library: Database, by: timings.By, keys: list[str]) -> None:
    record(library, stage_run(1, Stage.OCR, 0, 1), stage_run(2, Stage.OCR, 0, 3))
    report = library.run(lambda conn: timings.report(conn, by))
    assert [row.key for row in report.rows] == keys
    assert report.rows[0].seconds == (3 if by == "document" else 4)


def test_runs_are_told_with_their_kind_and_their_end(library: Database) -> None:
    record(library, stage_run(1, Stage.OCR, 0, 1))
    assert outcome_of_runs(library) == [("ingest", None)]
    library.run(lambda conn: runs.finish(conn, 1, Outcome.CANCELLED))
    assert outcome_of_runs(library) == [("ingest", Outcome.CANCELLED)]


def outcome_of_runs(library: Database) -> list[tuple[str | None, Outcome | None]]:
    return [(row.kind, row.outcome) for row in library.run(lambda conn: timings.report(conn, "run")).rows]


def test_the_time_of_one_document_leaves_the_others_out(library: Database) -> None:
    record(library, stage_run(1, Stage.OCR, 0, 1), stage_run(2, Stage.SPLIT, 0, 3))
    report = library.run(lambda conn: timings.report(conn, "stage", 2))
    assert [(row.key, row.share) for row in report.rows] == [("split", 1.0)]


def snapshot(database: Database, run_id: int = 1) -> dict[Stage, tuple[int, int, int]]:
    found = database.run(lambda conn: progress.snapshot(conn, run_id))
    return {stage.stage: (stage.done, stage.failed, stage.total) for stage in found.stages}


def test_progress_counts_documents_and_pages_as_they_go(database: Database) -> None:
    register(database, intake("/a.pdf", "a"), intake("/b.pdf", "b"), intake("/c.pdf", "", "empty"))
    assert snapshot(database)[Stage.SPLIT] == (0, 0, 2)
    split(database, 3)
    assert snapshot(database)[Stage.SPLIT] == (2, 0, 2)
    assert snapshot(database)[Stage.PREPROCESS] == (0, 0, 6)
    failed = Failure(lease(database, Stage.PREPROCESS, 1)[0], PageFailed("Slow.", Code.RENDER_TIMEOUT))
    database.run(lambda conn: claims.fail(conn, [failed]))
    prepare(database, blank=[2])
    assert snapshot(database)[Stage.PREPROCESS] == (5, 1, 6)
    assert snapshot(database)[Stage.OCR] == (2, 0, 5)
    read(database)
    assert snapshot(database)[Stage.LOAD] == (0, 0, 2)
    load(database)
    whole = database.run(lambda conn: progress.snapshot(conn, 1))
    assert whole.is_done
    assert (whole.documents, whole.refused, whole.problems) == (3, 1, 0)
    assert whole.stages[-1] == StageProgress(Stage.LOAD, 2, 2, 0)


def test_failures_are_told_with_name_page_and_reason(database: Database) -> None:
    register(database, intake("/some/a.pdf"))
    split(database, 2)
    failed = Failure(lease(database, Stage.PREPROCESS)[1], PageFailed("Slow.", Code.RENDER_TIMEOUT))
    database.run(lambda conn: claims.fail(conn, [failed]))
    failure = database.run(lambda conn: progress.snapshot(conn, 1)).failures[0]
    assert (failure.name, failure.page_no, failure.stage) == ("/some/a.pdf", 2, Stage.PREPROCESS)
    assert (failure.code, failure.message) == (Code.RENDER_TIMEOUT, "Slow.")


def test_a_run_over_known_documents_is_done_at_once(database: Database) -> None:
    ingest(database, "/a.pdf", "a", "text", page_count=2)
    register(database, intake("/a.pdf", "a"))
    last = database.run(lambda conn: conn.execute(sa.select(sa.func.max(tables.run.c.id))).scalar_one())
    assert snapshot(database, last)[Stage.OCR] == (2, 0, 2)
    assert database.run(lambda conn: progress.snapshot(conn, last)).is_done


def test_problems_of_a_scan_are_kept_with_printable_names(database: Database) -> None:
    register(database)
    problem = ScanProblem("/x/\udcff\n.pdf", "source-gone", "It is gone.")
    database.run(lambda conn: runs.save_problems(conn, 1, [problem]))
    kept = database.run(lambda conn: runs.problems(conn, 1))
    assert kept == (ScanProblem("/x/\\xff\\x0a.pdf", "source-gone", "It is gone."),)


def test_a_run_knows_how_it_ended_and_on_what_it_ran(database: Database) -> None:
    run_id = database.run(lambda conn: runs.start(conn, "ingest", steps.RECIPE, {"a": "1"}, "flow"))
    database.run(lambda conn: runs.add_facts(conn, run_id, {"engine": "2"}))
    database.run(lambda conn: runs.finish(conn, run_id, Outcome.PARTIAL))
    run = database.run(lambda conn: runs.get(conn, run_id))
    assert (run.outcome, run.facts, run.prefect_run_id) == (
        Outcome.PARTIAL,
        {"a": "1", "engine": "2"},
        "flow",
    )
    assert run.ended_at is not None
    assert run.ended_at >= run.started_at
