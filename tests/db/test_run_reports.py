"""A run's times, findings and worst pages."""

import pytest

from db import run_reports
from db.engine import Database
from models.errors import ConfigurationError
from models.run_report import FindingCount
from models.verdict import Severity, Verdict
from tests.db.steps import ingest, intake, load, prepare, register, split
from tests.db.test_review import read_as


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
