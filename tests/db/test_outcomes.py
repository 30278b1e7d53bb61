"""What one run did: by stage, in few numbers, and how far it has come."""

import datetime as dt

import pytest
import sqlalchemy as sa

from db import claims, documents, outcomes, runs, tables, timings
from db.engine import Database
from models.claim import Failure
from models.document import IntakeFile, ScanProblem
from models.errors import Code, PageFailed, PagemillError, PermanentError
from models.outcome import Headway, StageOutcome, Tally
from models.stage import Outcome, Stage
from models.timing import StageRun
from models.verdict import Verdict
from tests.db.steps import RECIPE, intake, lease, prepare, read, register, split
from tests.db.test_review import document

NOON = dt.datetime(2026, 3, 1, 12, 0, tzinfo=dt.UTC)


def timed(stage: Stage, seconds: float, *, at: dt.datetime = NOON, **facts: object) -> StageRun:
    end = at + dt.timedelta(seconds=seconds)
    known = {"document_id": 1, "stage": stage, "attempt": 1, "ready_at": at, "started_at": at}
    return StageRun(**known | {"ended_at": end, "seconds": seconds, "pages": 3} | facts)  # type: ignore[arg-type]


def record(database: Database, run_id: int, *rows: StageRun) -> None:
    database.run(lambda conn: timings.record(conn, run_id, rows))


def fail(database: Database, stage: Stage, error: PagemillError, most: int = 1) -> None:
    failures = [Failure(claim, error) for claim in lease(database, stage, most)]
    database.run(lambda conn: claims.fail(conn, failures))


def stages_of(database: Database, run_id: int = 1) -> tuple[StageOutcome, ...]:
    return database.run(lambda conn: outcomes.stages(conn, run_id))


def tally_of(database: Database, run_id: int = 1) -> Tally:
    return database.run(lambda conn: outcomes.tally(conn, run_id))


def test_stages_stand_in_the_order_of_the_story_with_what_they_took(database: Database) -> None:
    document(database, Verdict.GOOD)
    again = timed(Stage.OCR, 1.0, attempt=2, outcome=Outcome.RETRY, cached=1)
    record(database, 1, timed(Stage.LOAD, 2.0), timed(Stage.OCR, 4.0), again)
    ocr, loaded = stages_of(database)
    assert (ocr.stage, ocr.documents, ocr.cached, ocr.seconds) == (Stage.OCR, 1, 1, 5.0)
    assert (ocr.wall_s, ocr.retries) == (4.0, 1)
    assert (loaded.stage, loaded.seconds) == (Stage.LOAD, 2.0)


def test_a_page_that_was_tried_again_counts_once(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 3)
    record(database, 1, timed(Stage.OCR, 4.0), timed(Stage.OCR, 1.0, attempt=2, pages=1))
    (ocr,) = stages_of(database)
    assert (ocr.pages, ocr.ok) == (3, 3)


def test_a_run_that_left_the_work_to_drains_shows_what_they_did_since(database: Database) -> None:
    document(database, Verdict.GOOD)
    late = dt.datetime.now(dt.UTC) + dt.timedelta(hours=1)
    record(database, 2, timed(Stage.SPLIT, 9.0, at=NOON), timed(Stage.OCR, 4.0, at=late))
    assert [one.stage for one in stages_of(database)] == [Stage.OCR]


def test_pages_that_failed_are_none_that_are_ok_at_their_stage(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 3)
    prepare(database)
    record(database, 1, timed(Stage.PREPROCESS, 1.0), timed(Stage.OCR, 1.0))
    fail(database, Stage.OCR, PageFailed("Torn.", Code.INTERNAL))
    prepared, ocr = stages_of(database)
    assert (prepared.ok, prepared.failed, ocr.ok, ocr.failed) == (3, 0, 2, 1)


def test_what_failed_before_the_run_or_after_it_is_none_of_its_failures(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 3)
    prepare(database)
    record(database, 1, timed(Stage.OCR, 1.0))
    database.run(lambda conn: runs.finish(conn, 1, Outcome.OK))
    fail(database, Stage.OCR, PageFailed("Torn.", Code.INTERNAL))
    later = database.run(lambda conn: runs.start(conn, "ocr", RECIPE, {}))
    record(database, later, timed(Stage.OCR, 1.0))
    assert [one.failed for run_id in (1, later) for one in stages_of(database, run_id)] == [0, 0]


def test_times_a_page_are_those_of_its_reading(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 2)
    prepare(database)
    read(database)
    record(database, 1, timed(Stage.PREPROCESS, 6.0), timed(Stage.OCR, 9.0))
    prepared, ocr = stages_of(database)
    assert (prepared.page_p50_s, ocr.page_p50_s, ocr.page_p95_s) == (2.0, 2.0, 2.0)


def test_a_tally_counts_what_was_lost(database: Database) -> None:
    register(database, intake("/a.pdf"), intake("/b.pdf", "two"))
    fail(database, Stage.SPLIT, PermanentError("Torn.", Code.ZERO_PAGES))
    split(database, 3)
    prepare(database)
    fail(database, Stage.OCR, PageFailed("Torn.", Code.INTERNAL))
    torn = timed(Stage.SPLIT, 1.0, pages=0, outcome=Outcome.FAILED)
    record(database, 1, torn, *(timed(stage, 1.0, document_id=2) for stage in (Stage.PREPROCESS, Stage.OCR)))
    assert tally_of(database) == Tally(documents=1, lost_documents=1, pages=3, lost_pages=1)


def test_blank_pages_count_as_read_and_those_that_another_run_reads_do_not(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 3)
    prepare(database, blank=[2])
    record(database, 1, timed(Stage.PREPROCESS, 1.0))
    assert tally_of(database).pages == 3
    record(database, 1, timed(Stage.OCR, 1.0, pages=1))
    assert tally_of(database).pages == 2


def test_a_run_that_only_loads_counts_documents(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 3)
    record(database, 1, timed(Stage.LOAD, 1.0))
    assert tally_of(database) == Tally(documents=1, loaded=1)


@pytest.mark.parametrize(("code", "unread"), [("source-unreadable", 1), ("ignored-hidden", 0)])
def test_files_that_could_not_be_taken_count_unless_that_is_on_purpose(
    database: Database, code: str, unread: int
) -> None:
    run_id = database.run(lambda conn: runs.start(conn, "ingest", RECIPE, {"scan: listed": "200"}))
    problem = ScanProblem("/a.pdf", code, "It cannot be read.")
    database.run(lambda conn: runs.save_problems(conn, run_id, [problem]))
    assert tally_of(database, run_id) == Tally(unread=unread, listed=200)


def test_a_refused_document_is_lost(database: Database) -> None:
    def work(connection: sa.Connection) -> None:
        files: list[IntakeFile] = [intake("/a.exe", rejection="unsupported")]
        run_id = runs.start(connection, "ingest", RECIPE, {})
        documents.register(connection, run_id, runs.recipe_id(connection, RECIPE), files)

    database.run(work)
    assert tally_of(database).is_lost


def test_how_far_a_run_has_come_is_its_own_work_and_all_that_is_left(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 3)
    record(database, 1, timed(Stage.OCR, 1.0, pages=5))
    look = (1, Stage.OCR, [Stage.PREPROCESS], "ppocr")
    assert database.run(lambda conn: outcomes.headway(conn, *look)) == Headway(5, 3)
    of_load = database.run(lambda conn: outcomes.headway(conn, 1, Stage.LOAD, [], "ppocr"))
    assert (of_load, of_load.percent) == (Headway(0, 0), 100.0)


def test_a_look_at_a_run_names_what_failed_in_it(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 2)
    prepare(database)
    record(database, 1, timed(Stage.OCR, 1.0))
    fail(database, Stage.OCR, PageFailed("Torn.", Code.INTERNAL), 2)
    found = database.run(lambda conn: outcomes.failures(conn, 1))
    assert [(one.name, one.page_no, one.message) for one in found] == [
        ("/a.pdf", 1, "Torn."),
        ("/a.pdf", 2, "Torn."),
    ]
    assert len(database.run(lambda conn: outcomes.failures(conn, 1, 1))) == 1
    assert database.run(lambda conn: conn.scalar(sa.select(tables.run.c.outcome))) is None
