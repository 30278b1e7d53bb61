"""Which page images the store must keep: each reason alone, and none."""

from collections.abc import Sequence

import pytest
import sqlalchemy as sa

from db import pictures
from db.engine import Database
from tests.db.steps import ingest, intake, prepare, read, register, sha, split

FIRST, SECOND = sha("1-1"), sha("1-2")

REASONS = {
    "the page is to be read again": ("UPDATE claim SET status = 'ready' WHERE page_no = 1", {FIRST}),
    "the page is in hand": (
        "UPDATE claim SET status = 'leased', owner = 'me', leased_until = now() WHERE page_no = 1",
        {FIRST},
    ),
    "the document waits": ("UPDATE claim SET status = 'waiting' WHERE page_no = 0", {FIRST, SECOND}),
    "the document is to be split": ("UPDATE claim SET status = 'ready' WHERE page_no = 0", {FIRST, SECOND}),
    "the page failed": (
        "UPDATE claim SET status = 'failed', code = 'ocr-timeout' WHERE page_no = 2",
        {SECOND},
    ),
    "the reading is bad": ("UPDATE reading SET verdict = 'bad' WHERE page_no = 2", {SECOND}),
    "the reading is doubtful": ("UPDATE reading SET verdict = 'suspect' WHERE page_no = 1", {FIRST}),
    "the file is gone": ("UPDATE source SET gone_at = now()", {FIRST, SECOND}),
    "no file was ever named": ("DELETE FROM source", {FIRST, SECOND}),
    "a bad reading was replaced": (
        "UPDATE reading SET verdict = 'bad', superseded_at = now() WHERE page_no = 1",
        set(),
    ),
    "the reading was repaired": ("UPDATE reading SET verdict = 'repaired'", set()),
    "the document failed and its pages did not": (
        "UPDATE claim SET status = 'failed', code = 'corrupt' WHERE page_no = 0",
        set(),
    ),
}


def needed(database: Database, hashes: Sequence[str]) -> frozenset[str]:
    return database.run(lambda conn: pictures.needed(conn, hashes))


def change(database: Database, statement: str) -> None:
    database.run(lambda conn: conn.execute(sa.text(statement)))


@pytest.fixture
def done(database: Database) -> Database:
    """A document of two pages, read well and loaded."""
    ingest(database, "/a.pdf", "one", "words", page_count=2)
    return database


def test_pictures_of_a_document_that_was_read_well_may_go(done: Database) -> None:
    assert needed(done, [FIRST, SECOND]) == set()


@pytest.mark.parametrize("reason", REASONS)
def test_a_picture_stays_as_long_as_somebody_may_want_it(done: Database, reason: str) -> None:
    statement, kept = REASONS[reason]
    change(done, statement)
    assert needed(done, [FIRST, SECOND]) == kept


def test_only_pictures_that_were_asked_about_are_told(done: Database) -> None:
    change(done, "UPDATE reading SET verdict = 'bad'")
    assert needed(done, [SECOND, sha("a stranger")]) == {SECOND}
    assert needed(done, []) == set()


def test_a_document_with_one_of_two_files_left_could_be_made_again(done: Database) -> None:
    register(done, intake("/copy.pdf", "one"))
    change(done, "UPDATE source SET gone_at = now() WHERE uri = '/a.pdf'")
    assert needed(done, [FIRST]) == set()


def test_a_picture_that_two_documents_share_stays_for_the_one_that_needs_it(done: Database) -> None:
    register(done, intake("/b.pdf", "two"))
    split(done, 1)
    prepare(done)
    read(done, bad=[1])
    change(
        done, "UPDATE page_image SET sha256 = (SELECT sha256 FROM page_image WHERE document_id = 1 LIMIT 1)"
    )
    assert needed(done, [FIRST]) == {FIRST}


def test_while_it_is_asked_no_backfill_can_put_documents_back(done: Database) -> None:
    from db.backfill_enrol import PURGE_LOCK

    free = sa.select(sa.func.pg_try_advisory_xact_lock_shared(PURGE_LOCK))
    with done.begin() as purging:
        pictures.needed(purging, [FIRST])
        assert done.run(lambda conn: conn.scalar(free)) is False
    assert done.run(lambda conn: conn.scalar(free)) is True
