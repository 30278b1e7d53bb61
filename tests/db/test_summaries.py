"""What a run came to, document by document."""

import datetime as dt
from dataclasses import replace

import pytest

from db import runs, summaries, timings
from db.engine import Database
from models.document import DocumentStatus, ScanProblem
from models.errors import ConfigurationError
from models.stage import Outcome, Stage
from models.summary import RunSummary
from models.timing import StageRun
from models.verdict import Verdict
from tests.db import steps

NOON = dt.datetime(2026, 3, 1, 12, 0, tzinfo=dt.UTC)


def of_run(database: Database, run_id: int = 1) -> RunSummary:
    return database.run(lambda conn: summaries.of_run(conn, run_id))


def spent(document_id: int, stage: Stage, seconds: float, pages: int, cached: int = 0) -> StageRun:
    return StageRun(document_id, stage, 1, NOON, NOON, NOON, seconds, pages, cached)


def test_a_run_has_its_documents_with_status_and_verdicts(database: Database) -> None:
    steps.register(
        database, steps.intake("/scans/a.pdf"), steps.intake("/scans/b.doc", "two", "unsupported-type")
    )
    steps.split(database, 3)
    steps.prepare(database, blank=[3])
    steps.read(database, bad=[2])
    steps.load(database, "passage")
    first, second = sorted(of_run(database).documents, key=lambda one: one.name)
    assert (first.name, first.seen_as, first.status) == ("/scans/a.pdf", "new", DocumentStatus.PARTIAL)
    assert first.verdicts == {Verdict.GOOD: 1, Verdict.BAD: 1, Verdict.BLANK: 1}
    assert first.page_count == 3
    assert (second.seen_as, second.code) == ("rejected", "unsupported-type")
    assert second.verdicts == {}


def test_pages_not_read_yet_have_no_verdict(database: Database) -> None:
    steps.register(database, steps.intake("/scans/a.pdf"))
    steps.split(database, 2)
    (document,) = of_run(database).documents
    assert document.status is DocumentStatus.PENDING
    assert document.verdicts == {}


def test_seconds_and_pages_are_those_of_this_run_alone(database: Database) -> None:
    document_id = steps.register(database, steps.intake("/scans/a.pdf")).documents[0]
    steps.register(database, steps.intake("/scans/a.pdf"))
    in_vain = replace(spent(document_id, Stage.OCR, 0.0, 3), attempt=2, outcome=Outcome.RETRY)
    mine = [
        spent(document_id, Stage.SPLIT, 0.5, 3),
        spent(document_id, Stage.OCR, 6.0, 3, cached=1),
        in_vain,
    ]
    database.run(lambda conn: timings.record(conn, 1, mine))
    database.run(lambda conn: timings.record(conn, 2, [spent(document_id, Stage.LOAD, 0.25, 3)]))
    one, two = of_run(database, 1), of_run(database, 2)
    assert (one.documents[0].seconds, one.pages_read) == (6.5, 2)
    assert (two.documents[0].seconds, two.pages_read) == (0.25, 0)


def test_a_second_run_knows_what_the_first_has_read(database: Database) -> None:
    steps.ingest(database, "/scans/a.pdf", "one", "passage")
    before = of_run(database, 1).documents[0]
    steps.register(database, steps.intake("/scans/a.pdf"))
    last = database.run(lambda conn: conn.exec_driver_sql("SELECT max(id) FROM run").scalar_one())
    after = of_run(database, last).documents[0]
    assert after == replace(before, seen_as="known")


def test_verdicts_are_those_under_the_runs_recipe(database: Database) -> None:
    steps.ingest(database, "/scans/a.pdf", "one", "passage")
    steps.register(database, steps.intake("/scans/a.pdf"), recipe=steps.OTHER_RECIPE)
    last = database.run(lambda conn: conn.exec_driver_sql("SELECT max(id) FROM run").scalar_one())
    assert of_run(database, last).documents[0].verdicts == {}
    assert of_run(database, 1).documents[0].verdicts == {Verdict.GOOD: 1}


def test_problems_and_the_run_itself_are_in_the_summary(database: Database) -> None:
    steps.register(database)
    gone = ScanProblem("/scans/gone.pdf", "source-gone", "It is gone.")
    database.run(lambda conn: runs.save_problems(conn, 1, [gone]))
    database.run(lambda conn: runs.finish(conn, 1, Outcome.OK))
    summary = of_run(database)
    assert summary.problems == (gone,)
    assert summary.documents == ()
    assert summary.run.outcome is Outcome.OK


def test_a_run_that_is_not_there_is_told(database: Database) -> None:
    with pytest.raises(ConfigurationError, match="no run 99"):
        of_run(database, 99)
