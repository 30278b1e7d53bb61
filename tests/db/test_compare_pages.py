"""Editions side by side: the name a document goes by, pages that one side lacks, what each side cost."""

import pytest
import sqlalchemy as sa

from db import compare
from db.engine import Database
from models.backfill import Backfill, Selection
from models.compare import PageChange, Pair
from models.verdict import Verdict
from tests.db.backfilling import enrol, wish
from tests.db.steps import OTHER_RECIPE, ingest, load, prepare, read, split

_NAMED = (
    "INSERT INTO source (document_id, uri, uri_sha256, size, mtime_ns, last_seen, superseded_at, gone_at) "
    "SELECT 1, '{}', decode(repeat('ab', 32), 'hex'), 3, 1, now() + interval '1 h', {}, {}"
)
"""Another name of the document, seen after the first; superseded or gone at some time or never."""


@pytest.fixture
def reread(database: Database) -> Backfill:
    """A document of two pages, read once more under another recipe; the new edition stands beside the old."""
    ingest(database, "/a.pdf", "one", "text", page_count=2)
    begun = enrol(database, wish(), OTHER_RECIPE)
    split(database, 2)
    prepare(database, recipe=OTHER_RECIPE)
    read(database, "Anew, and longer.")
    load(database, "Anew.")
    return begun


def pair(database: Database, backfill: Backfill) -> Pair:
    (found,) = database.run(lambda conn: compare.pairs(conn, backfill, Selection()))
    return found


def pages(database: Database, backfill: Backfill) -> tuple[PageChange, ...]:
    both = pair(database, backfill)
    return database.run(lambda conn: compare.pages(conn, both))


def change(database: Database, statement: str) -> None:
    database.run(lambda conn: conn.execute(sa.text(statement)))


def test_texts_that_differ_come_whole_and_are_measured(database: Database, reread: Backfill) -> None:
    for number, page in enumerate(pages(database, reread), 1):
        assert (page.page_no, page.differs) == (number, True)
        assert (page.old.text, page.new.text) == ("A page.", "Anew, and longer.")
        assert (page.old.characters, page.new.characters) == (7, 17)
        assert (page.old.seconds, page.new.seconds) == (2.0, 2.0)


def test_texts_that_are_the_same_are_measured_and_not_carried(database: Database, reread: Backfill) -> None:
    change(database, "UPDATE reading SET text = 'Same.'")
    for page in pages(database, reread):
        assert not page.differs
        assert (page.old.text, page.new.text) == ("", "")
        assert (page.old.characters, page.new.characters) == (5, 5)


def test_a_page_that_could_not_be_read_before_is_compared_with_nothing(
    database: Database, reread: Backfill
) -> None:
    change(
        database,
        "UPDATE edition_page SET reading_id = NULL, verdict = 'bad' WHERE edition_id = 1 AND page_no = 2",
    )
    one, two = pages(database, reread)
    assert one.old.verdict is Verdict.GOOD
    assert (two.differs, two.old.verdict, two.old.text, two.old.characters) == (True, Verdict.BAD, "", 0)
    assert (two.old.seconds, two.old.tokens, two.new.text) == (0.0, 0, "Anew, and longer.")


def test_a_page_that_one_edition_lacks_has_no_verdict_there(database: Database, reread: Backfill) -> None:
    change(database, "DELETE FROM edition_page WHERE edition_id = 2 AND page_no = 1")
    one, two = pages(database, reread)
    assert (one.new.verdict, one.new.text, one.old.text) == (None, "", "A page.")
    assert two.new.verdict is Verdict.GOOD


def test_tokens_of_engines_that_count_none_are_zero(database: Database, reread: Backfill) -> None:
    change(database, "UPDATE reading SET tokens_out = 40 WHERE text = 'A page.'")
    assert [(page.old.tokens, page.new.tokens) for page in pages(database, reread)] == [(40, 0), (40, 0)]


def test_what_is_not_loaded_yet_has_a_name_and_no_pages(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text")
    begun = enrol(database, wish(), OTHER_RECIPE)
    waiting = pair(database, begun)
    assert (waiting.name, waiting.before_id, waiting.made_id, waiting.shown_id) == ("/a.pdf", 1, None, 1)
    assert pages(database, begun) == ()


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("DELETE FROM source", ""),
        ("UPDATE source SET superseded_at = now()", "/a.pdf"),
        (_NAMED.format("/newer.pdf", "NULL", "NULL"), "/newer.pdf"),
        (_NAMED.format("/lost.pdf", "now()", "NULL"), "/a.pdf"),
        (_NAMED.format("/gone.pdf", "NULL", "now()"), "/a.pdf"),
    ],
    ids=["nameless", "only old names", "last seen", "lost name", "file gone"],
)
def test_a_document_goes_by_the_name_it_stands_under_now(
    database: Database, reread: Backfill, statement: str, name: str
) -> None:
    change(database, statement)
    assert pair(database, reread).name == name
