"""Which edition a document shows: what a switch changes, what it refuses, what stood before."""

import pytest
import sqlalchemy as sa

from db import switches, tables
from db.engine import Database
from models.document import DocumentStatus
from models.errors import Code, ConfigurationError
from models.recipe import Recipe
from tests.db.backfilling import enrol, wish
from tests.db.steps import count, ingest, intake, load, prepare, read, register, split

t, d = tables.edition_switch, tables.document


@pytest.fixture
def shelf(database: Database) -> Database:
    """A document of two pages that shows edition 1; editions 2 and 3 stand beside it, 3 with a bad page."""
    ingest(database, "/a.pdf", "one", "text", page_count=2)
    for revision in ("2", "3"):
        recipe = Recipe(revision=revision)
        enrol(database, wish(), recipe)
        split(database, 2)
        prepare(database, recipe=recipe)
        read(database, revision, bad=[2] if revision == "3" else [])
        load(database, revision)
    return database


def show(database: Database, edition: int, kind: str = switches.PROMOTE, document: int = 1) -> bool:
    return database.run(lambda conn: switches.show(conn, document, edition, kind=kind, by="me"))


def previous(database: Database) -> int | None:
    return database.run(lambda conn: switches.previous(conn, 1))


def facts(database: Database) -> tuple[object, ...]:
    query = sa.select(d.c.edition_id, d.c.status, d.c.code).where(d.c.id == 1)
    return tuple(database.run(lambda conn: conn.execute(query).one()))


def test_what_is_shown_its_recipe_and_status_change_together(shelf: Database) -> None:
    first = shelf.run(lambda conn: switches.recipe_shown(conn, 1))
    assert (shelf.run(lambda conn: switches.shown(conn, 1)), previous(shelf)) == (1, None)
    assert show(shelf, 3)
    assert facts(shelf) == (3, "partial", "truncated")
    assert shelf.run(lambda conn: switches.status(conn, 1)) is DocumentStatus.PARTIAL
    assert shelf.run(lambda conn: switches.recipe_shown(conn, 1)) != first
    assert previous(shelf) == 1


def test_a_good_edition_clears_the_reason_of_the_bad_one_before(shelf: Database) -> None:
    show(shelf, 3)
    show(shelf, 2)
    assert facts(shelf) == (2, "complete", None)


def test_showing_what_is_shown_changes_nothing_and_is_not_noted(shelf: Database) -> None:
    before = count(shelf, t), facts(shelf)
    assert not show(shelf, 1)
    shelf.run(lambda conn: switches.record(conn, 1, 1, 1, kind=switches.LOAD, by="me"))
    assert (count(shelf, t), facts(shelf)) == before


@pytest.mark.parametrize(("document", "edition"), [(1, 99), (9, 1), (2, 1)])
def test_an_edition_that_the_document_has_not_is_refused_and_nothing_changes(
    shelf: Database, document: int, edition: int
) -> None:
    ingest(shelf, "/b.pdf", "other", "text")
    before = facts(shelf)
    with pytest.raises(ConfigurationError, match=f"Document {document} has no edition {edition}") as refused:
        show(shelf, edition, document=document)
    assert refused.value.code is Code.NOT_FOUND
    assert facts(shelf) == before


def test_every_change_is_kept_with_who_asked_for_it(shelf: Database) -> None:
    show(shelf, 2)
    show(shelf, 1, switches.ROLLBACK)
    query = sa.select(t.c.before_id, t.c.edition_id, t.c.kind, t.c.by).where(t.c.by == "me").order_by(t.c.id)
    rows = shelf.run(lambda conn: conn.execute(query).all())
    assert [tuple(row) for row in rows] == [(1, 2, "promote", "me"), (2, 1, "rollback", "me")]


def test_after_going_back_what_stood_before_is_not_what_one_came_from(shelf: Database) -> None:
    show(shelf, 2)
    show(shelf, 3)
    assert previous(shelf) == 2
    show(shelf, 2, switches.ROLLBACK)
    assert previous(shelf) == 1
    show(shelf, 1, switches.ROLLBACK)
    assert previous(shelf) is None


def test_an_edition_promoted_anew_has_the_one_before_it_then(shelf: Database) -> None:
    for edition in (2, 3, 2):
        show(shelf, edition)
    assert previous(shelf) == 3


def test_a_document_that_shows_nothing_cannot_be_held_and_shows_nothing(database: Database) -> None:
    register(database, intake("/a.pdf"))
    assert not database.run(lambda conn: switches.lock(conn, 1))
    assert database.run(lambda conn: switches.shown(conn, 1)) is None
    assert not database.run(lambda conn: switches.lock(conn, 99))


def test_while_a_document_is_held_nobody_else_can_change_what_it_shows(shelf: Database) -> None:
    mine = sa.select(d.c.id).where(d.c.id == 1)
    with shelf.begin() as holding:
        assert switches.lock(holding, 1)
        free = shelf.run(lambda conn: conn.execute(mine.with_for_update(skip_locked=True)).all())
        assert free == []
    assert len(shelf.run(lambda conn: conn.execute(mine.with_for_update(skip_locked=True)).all())) == 1


def test_decisions_about_pages_are_no_steps_back(shelf: Database) -> None:
    show(shelf, 2)
    show(shelf, 3, switches.REVIEW)
    assert shelf.run(lambda conn: switches.base(conn, 1)) == 2
    assert previous(shelf) == 1
    show(shelf, 1, switches.ROLLBACK)
    assert shelf.run(lambda conn: switches.base(conn, 1)) == 1
    assert previous(shelf) is None


def test_a_document_that_shows_nothing_has_no_base(database: Database) -> None:
    assert database.run(lambda conn: switches.base(conn, 1)) is None
