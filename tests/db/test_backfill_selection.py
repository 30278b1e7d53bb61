"""Which documents a backfill is about."""

import datetime as dt

import pytest
import sqlalchemy as sa

from db import backfill_selection, tables
from db.engine import Database
from models.backfill import Selection
from models.document import DocumentStatus
from models.errors import ConfigurationError
from models.verdict import Verdict
from tests.db import steps
from tests.db.steps import OTHER_RECIPE, RECIPE, ingest, intake, load, prepare, read, register, split

TODAY = dt.datetime.now(dt.UTC).date()
DAY = dt.timedelta(days=1)


def selected(database: Database, **filters: object) -> list[int]:
    query = backfill_selection.documents(Selection(**filters))  # type: ignore[arg-type]
    return sorted(database.run(lambda conn: conn.scalars(query).all()))


def refusal(database: Database, **filters: object) -> str:
    with pytest.raises(ConfigurationError) as raised, database.begin() as connection:
        backfill_selection.check(connection, Selection(**filters), ["truncated"])  # type: ignore[arg-type]
    return raised.value.message


@pytest.fixture
def shelf(database: Database) -> Database:
    """1: two good pages; 2: partial, one page truncated; 3: waits to be split; 4: no document."""
    ingest(database, "/in/a.pdf", "one", "text", page_count=2)
    register(database, intake("/in/sub/b_1.pdf", "two"))
    split(database, 2)
    prepare(database)
    read(database, bad=[2])
    load(database, "text")
    register(database, intake("/other/c.pdf", "three"))
    register(database, intake("/in/d.pdf", "four", rejection="unsupported-type"))
    return database


def test_everything_is_all_documents_but_no_files_that_are_none(shelf: Database) -> None:
    assert selected(shelf, everything=True) == [1, 2, 3]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("/in", [1, 2]),
        ("/in/", [1, 2]),
        ("/in/a.pdf", [1]),
        ("/in/*.pdf", [1, 2]),
        ("*/?.pdf", [1, 3]),
        ("*b_1*", [2]),
        ("*b%1*", []),
        ("/i", []),
        ("*", [1, 2, 3]),
    ],
)
def test_a_source_is_a_path_a_folder_or_a_pattern(shelf: Database, pattern: str, found: list[int]) -> None:
    assert selected(shelf, source=pattern) == found


def test_documents_are_found_by_how_they_stand(shelf: Database) -> None:
    assert selected(shelf, statuses=[DocumentStatus.PARTIAL]) == [2]
    assert selected(shelf, statuses=[DocumentStatus.PARTIAL, DocumentStatus.PENDING]) == [2, 3]


def test_documents_are_found_by_the_verdicts_they_show(shelf: Database) -> None:
    assert selected(shelf, verdicts=[Verdict.BAD]) == [2]
    assert selected(shelf, verdicts=[Verdict.GOOD]) == [1, 2]
    assert selected(shelf, verdicts=[Verdict.SUSPECT]) == []


def test_documents_are_found_by_findings_and_by_the_codes_of_failures(shelf: Database) -> None:
    assert selected(shelf, findings=["truncated"]) == [2]
    with shelf.begin() as connection:
        connection.execute(sa.update(tables.document).where(tables.document.c.id == 3).values(code="corrupt"))
    assert selected(shelf, findings=["truncated", "corrupt"]) == [2, 3]


def test_documents_are_found_by_what_read_what_they_show(shelf: Database) -> None:
    assert selected(shelf, profile="ppocr") == [1, 2, 3]
    assert selected(shelf, profile="rapidocr") == []
    assert selected(shelf, recipe=RECIPE.hash[:8]) == [1, 2, 3]
    register(shelf, intake("/in/a.pdf", "one"), recipe=OTHER_RECIPE)
    assert selected(shelf, recipe=OTHER_RECIPE.hash) == []


def test_both_days_of_a_span_are_in_it(shelf: Database) -> None:
    assert selected(shelf, since=TODAY, until=TODAY) == [1, 2, 3]
    assert selected(shelf, since=TODAY + DAY) == selected(shelf, until=TODAY - DAY) == []


def test_filters_narrow_each_other(shelf: Database) -> None:
    assert selected(shelf, source="/in", verdicts=[Verdict.GOOD], statuses=[DocumentStatus.COMPLETE]) == [1]


def test_contents_that_stand_under_no_name_are_found_only_by_id(shelf: Database) -> None:
    ingest(shelf, "/in/a.pdf", "one, changed", "text")
    assert 1 not in selected(shelf, source="/in")
    assert selected(shelf, documents=[1]) == [1]


def test_nothing_said_is_refused_with_the_remedy(shelf: Database) -> None:
    assert "--all" in refusal(shelf)


@pytest.mark.parametrize(
    ("filters", "told"),
    [
        ({"documents": [1, 99]}, "There is no document 99."),
        ({"findings": ["nonsense"]}, "There is no finding 'nonsense'."),
        ({"findings": ["ocr-faild"]}, "Did you mean 'ocr-failed'?"),
        ({"profile": "ppocrr"}, "Profiles that were read with: ppocr. Did you mean 'ppocr'?"),
        ({"recipe": "abc"}, "is no start of a recipe's hash"),
        ({"recipe": "zzzzzz"}, "is no start of a recipe's hash"),
        ({"recipe": "00000000"}, "There is no recipe"),
        ({"since": TODAY, "until": TODAY - DAY}, "is after"),
    ],
)
def test_what_is_not_there_is_told_in_one_line(
    shelf: Database, filters: dict[str, object], told: str
) -> None:
    message = refusal(shelf, **filters)
    assert told in message
    assert "\n" not in message


def test_codes_of_checks_of_errors_and_of_what_was_ever_found_are_known(shelf: Database) -> None:
    with shelf.begin() as connection:
        values = {
            "document_id": 1,
            "page_no": 1,
            "code": "odd",
            "severity": "info",
            "message": "",
            "evidence": {},
        }
        connection.execute(sa.insert(tables.finding).values(values))
        codes = ("truncated", "ocr-failed", "odd")
        backfill_selection.check(connection, Selection(findings=codes), ["truncated"])
    assert steps.count(shelf, tables.finding) == 2


def test_a_name_that_is_not_utf8_is_found_by_its_bytes(database: Database) -> None:
    ingest(database, "/in/bad\udcff.pdf", "odd", "text")
    assert selected(database, source="/in/bad\udcff.pdf") == [1]
    assert selected(database, source="/in/bad\udcff*") == [1]
    assert selected(database, source="/in/bad\udcfe*") == []
