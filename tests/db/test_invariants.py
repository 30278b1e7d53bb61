"""Each invariant, broken by hand, is reported; a ledger that nobody touched breaks none."""

import pytest
import sqlalchemy as sa

from db import invariants
from db.engine import Database
from models.stage import Stage
from tests.db.steps import ingest, intake, lease, load, prepare, read, register, split

_FOREIGN = "SET LOCAL session_replication_role = replica; "
"""Foreign keys look away: the invariant must not."""

_ORPHANED = (
    "UPDATE document SET status = 'pending'; DELETE FROM claim; UPDATE edition_page SET reading_id = NULL; "
    "DELETE FROM reading"
)
_OF_ANOTHER = (
    "INSERT INTO document (sha256, size, status, edition_id) "
    "VALUES (decode(repeat('ab', 32), 'hex'), 1, 'complete', 1)"
)

BREAKS = {
    "claim-state": [
        "UPDATE claim SET status = 'lost' WHERE page_no = 1",
        "UPDATE claim SET stage = 'nowhere' WHERE page_no = 1",
        "UPDATE claim SET status = 'leased' WHERE page_no = 1",
        "UPDATE claim SET owner = 'me' WHERE page_no = 1",
        "UPDATE claim SET leased_until = now() WHERE page_no = 1",
        "UPDATE claim SET status = 'waiting' WHERE page_no = 1",
        "UPDATE claim SET status = 'failed' WHERE page_no = 1",
    ],
    "page-without-work": ["DELETE FROM claim WHERE page_no = 1"],
    "work-without-page": ["UPDATE claim SET page_no = 99 WHERE page_no = 1"],
    "done-without-reading": ["UPDATE reading SET superseded_at = now() WHERE page_no = 1"],
    "waiting-for-nothing": ["UPDATE claim SET status = 'waiting' WHERE page_no = 0"],
    "pending-without-work": [
        "UPDATE document SET status = 'pending'",
        _ORPHANED,
    ],
    "ocr-without-picture": [
        "DELETE FROM page_image; UPDATE claim SET stage = 'ocr', status = 'ready' WHERE page_no = 1"
    ],
    "reading-without-picture": ["UPDATE reading SET image_sha256 = NULL WHERE page_no = 1"],
    "timing-impossible": [
        "UPDATE stage_run SET ended_at = started_at - interval '1 s'",
        "UPDATE stage_run SET ready_at = ended_at + interval '1 s'",
        "UPDATE stage_run SET seconds = -1",
        "UPDATE stage_run SET cached = pages + 1",
    ],
    "timing-missing": [
        "DELETE FROM stage_run",
        "UPDATE stage_run SET seconds = 0",
        "UPDATE stage_run SET pages = 1, cached = 0",
    ],
    "edition-of-nobody": [
        _FOREIGN + "UPDATE document SET edition_id = 4711",
        _OF_ANOTHER,
    ],
    "edition-hollow": [
        "UPDATE edition_page SET reading_id = NULL WHERE page_no = 1",
        "DELETE FROM edition_page",
    ],
    "status-untrue": ["UPDATE edition_page SET verdict = 'bad' WHERE page_no = 1"],
    "shown-nowhere": ["UPDATE document SET edition_id = NULL"],
}


def broken(database: Database) -> dict[str, tuple[str, ...]]:
    """Names of broken invariants with their examples."""
    found = [database.run(lambda conn, one=one: invariants.check(conn, one)) for one in invariants.INVARIANTS]  # type: ignore[misc]
    return {violation.invariant: violation.examples for violation in found if violation}


def whole(database: Database) -> None:
    """A document of two pages in the knowledge base, with the time it took."""
    ingest(database, "/a.pdf", "one", "words", page_count=2)
    with database.begin() as connection:
        connection.execute(
            sa.text(
                "INSERT INTO stage_run (run_id, document_id, stage, attempt, ready_at, started_at, ended_at, "
                "seconds, pages, cached, outcome) VALUES (1, 1, 'ocr', 1, now(), now(), now(), 4, 2, 0, 'ok')"
            )
        )


def test_every_invariant_has_a_way_to_break_it_here() -> None:
    assert set(BREAKS) == {invariant.name for invariant in invariants.INVARIANTS}


@pytest.mark.parametrize(("name", "sql"), [(name, sql) for name, ways in BREAKS.items() for sql in ways])
def test_what_breaks_an_invariant_is_reported_with_its_place(database: Database, name: str, sql: str) -> None:
    whole(database)
    assert broken(database) == {}
    with database.begin() as connection:
        for statement in sql.split("; "):
            connection.execute(sa.text(statement))
    found = broken(database)
    assert name in found
    assert all(example.startswith("document ") for example in found[name])


def test_nothing_is_broken_at_any_step_of_an_ordinary_document(database: Database) -> None:
    register(database, intake("/a.pdf"))
    for step in (split, prepare):
        step(database)
        assert broken(database) == {}
    lease(database, Stage.OCR, limit=1)
    assert broken(database) == {}


def test_a_partial_a_blank_and_a_replaced_document_break_nothing(database: Database) -> None:
    whole(database)
    register(database, intake("/a.pdf", "two"))
    split(database, 2)
    prepare(database, blank=[1])
    read(database, bad=[2])
    load(database, "words")
    names = {name for name in broken(database) if name != "timing-missing"}  # these steps take no time
    assert names == set()


def test_a_violation_counts_all_and_names_a_few(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "words", page_count=9)
    with database.begin() as connection:
        connection.execute(sa.text("UPDATE reading SET image_sha256 = NULL"))
        one = next(one for one in invariants.INVARIANTS if one.name == "reading-without-picture")
        violation = invariants.check(connection, one)
    assert violation is not None
    assert (violation.count, len(violation.examples)) == (9, 5)
    assert violation.examples[0] == "document 1 page 1"
