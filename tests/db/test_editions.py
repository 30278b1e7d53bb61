"""What the knowledge base shows, and when."""

import pytest

from db import documents, editions, reports, switches, tables
from db.engine import Database
from models.document import DocumentFacts, DocumentStatus
from models.errors import ConfigurationError
from models.stage import Stage
from models.verdict import Verdict
from tests.db import steps
from tests.db.steps import count, ingest, intake, lease, load, prepare, read, register, split


def status(database: Database, document_id: int) -> DocumentStatus:
    return database.run(lambda conn: documents.get(conn, str(document_id))).status


def test_a_document_whose_pages_are_all_good_is_complete(database: Database) -> None:
    document_id = ingest(database, "/a.pdf", "one", "some text", page_count=3)
    assert status(database, document_id) is DocumentStatus.COMPLETE
    assert count(database, tables.edition_page) == 3


def test_a_bad_page_makes_the_document_partial_and_keeps_its_place_and_reason(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 3)
    prepare(database)
    read(database, bad=[2])
    loaded = load(database, "text")[0]
    assert loaded is not None
    assert loaded.status is DocumentStatus.PARTIAL
    pages = database.run(lambda conn: reports.pages(conn, 1))
    assert [page.verdict for page in pages] == [Verdict.GOOD, Verdict.BAD, Verdict.GOOD]
    assert (pages[1].code, pages[1].message) == ("truncated", "Cut off.")


def test_a_document_without_one_good_page_has_failed(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 1)
    prepare(database)
    read(database, bad=[1])
    load(database)
    assert status(database, 1) is DocumentStatus.FAILED


def test_a_repaired_file_with_a_blank_page_needs_review_and_says_why(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 2, DocumentFacts(2, is_repaired=True))
    prepare(database, blank=[2])
    read(database)
    load(database, "text")
    document = database.run(lambda conn: documents.get(conn, "1"))
    assert (document.status, document.code) == (DocumentStatus.NEEDS_REVIEW, "file-repaired")


def test_a_document_of_blank_pages_is_complete_with_nothing_to_find(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 2)
    prepare(database, blank=[1, 2])
    load(database)
    assert status(database, 1) is DocumentStatus.COMPLETE
    assert count(database, tables.chunk) == 0
    assert {page.verdict for page in database.run(lambda conn: reports.pages(conn, 1))} == {Verdict.BLANK}


def test_another_recipe_makes_another_edition_and_the_first_can_be_put_back(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "first")
    register(database, intake("/a.pdf", "one"), recipe=steps.OTHER_RECIPE)
    split(database, 1)
    prepare(database, recipe=steps.OTHER_RECIPE)
    read(database, "Read anew.")
    load(database, "second")
    old, new = database.run(lambda conn: reports.editions(conn, 1))
    assert (old.is_shown, new.is_shown) == (False, True)
    database.run(lambda conn: switches.show(conn, 1, old.id, kind="rollback", by="me"))
    old, new = database.run(lambda conn: reports.editions(conn, 1))
    assert (old.is_shown, new.is_shown) == (True, False)
    assert database.run(lambda conn: reports.pages(conn, 1))[0].text == "A page."


def test_an_edition_of_another_document_cannot_be_put_back(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "a")
    ingest(database, "/b.pdf", "two", "b")
    with pytest.raises(ConfigurationError, match="has no edition 2"):
        database.run(lambda conn: switches.show(conn, 1, 2, kind="rollback", by="me"))


def test_a_load_by_an_owner_whose_lease_was_taken_writes_nothing(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 1)
    prepare(database)
    read(database)
    late = lease(database, Stage.LOAD)[0]
    with database.begin() as connection:
        connection.execute(tables.claim.update().values(leased_until=tables.claim.c.ready_at))
    load(database, "in time")
    assert database.run(lambda conn: editions.load(conn, late, 1, (), ())) is None
    assert count(database, tables.edition) == 1


def test_a_moved_file_is_known_and_read_no_more(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text")
    registered = register(database, intake("/sub/b.pdf", "one"))
    assert registered.known == (1,)
    assert not lease(database, Stage.SPLIT)
    paths = database.run(lambda conn: documents.get(conn, "/sub/b.pdf")).sources
    assert paths == ("/sub/b.pdf", "/a.pdf")
