"""A backfill from its beginning to its end: one for equal wishes, busy while there is work, ended once."""

import pytest
import sqlalchemy as sa

from db import backfills, tables
from db.engine import Database
from models.backfill import Backfill, FromStage, Selection, Standing
from models.errors import Code, ConfigurationError
from models.recipe import Recipe
from models.stage import Stage
from tests.db.backfilling import begin, enrol, wish
from tests.db.steps import OTHER_RECIPE, RECIPE, count, ingest, lease, load, prepare, read, split


@pytest.fixture
def shelf(database: Database) -> Database:
    """Two documents of a page each in the knowledge base."""
    ingest(database, "/a.pdf", "one", "words")
    ingest(database, "/b.pdf", "two", "words")
    return database


def is_busy(database: Database, backfill: Backfill) -> bool:
    return database.run(lambda conn: backfills.is_busy(conn, backfill.id))


def end(database: Database) -> tuple[int, ...]:
    return database.run(backfills.end)


def work_off(database: Database, recipe: Recipe = OTHER_RECIPE) -> None:
    split(database, 1)
    prepare(database, recipe=recipe)
    read(database, "Anew.")
    load(database, "Anew.")


def test_an_equal_wish_goes_on_with_the_same_backfill_until_that_has_ended(shelf: Database) -> None:
    first = enrol(shelf, wish(), RECIPE)
    assert begin(shelf, wish())[0].id == first.id
    assert end(shelf) == (first.id,)
    assert begin(shelf, wish())[0].id != first.id


@pytest.mark.parametrize(
    "changed", [{"again": True}, {"promote": True}, {"limit": 1}, {"start": FromStage.LOAD}]
)
def test_another_wish_is_a_backfill_of_its_own(shelf: Database, changed: dict[str, object]) -> None:
    first, _ = begin(shelf, wish())
    other, _ = begin(shelf, wish(**changed))  # type: ignore[arg-type]
    assert other.id != first.id
    assert begin(shelf, wish())[0] == first


def test_the_same_wish_under_another_recipe_is_another_backfill(shelf: Database) -> None:
    first, other = begin(shelf, wish())[0], begin(shelf, wish(), OTHER_RECIPE)[0]
    assert (first.id == other.id, first.recipe_id == other.recipe_id) == (False, False)


def test_a_backfill_comes_back_with_its_whole_wish(shelf: Database) -> None:
    wanted = wish(Selection(source="/in/*", findings=("loop",)), FromStage.VALIDATE, limit=5)
    begun, _ = begin(shelf, wanted)
    found = shelf.run(lambda conn: backfills.get(conn, begun.id))
    assert found == begun
    assert (found.wish, found.enrolled_at, found.ended_at) == (wanted, None, None)


def test_a_backfill_is_busy_until_the_last_of_its_work_has_ended(shelf: Database) -> None:
    begun = enrol(shelf, wish(), OTHER_RECIPE)
    for step in (split, lambda database: prepare(database, recipe=OTHER_RECIPE), read):
        assert is_busy(shelf, begun)
        assert end(shelf) == ()
        step(shelf)
    assert is_busy(shelf, begun)
    load(shelf, "Anew.")
    assert not is_busy(shelf, begun)
    assert end(shelf) == (begun.id,)


def test_work_in_somebody_s_hands_keeps_a_backfill_open(shelf: Database) -> None:
    begun = enrol(shelf, wish(), OTHER_RECIPE)
    assert len(lease(shelf, Stage.SPLIT)) == 2
    assert is_busy(shelf, begun)
    assert end(shelf) == ()


def test_a_backfill_whose_documents_are_not_all_in_the_ledger_does_not_end(shelf: Database) -> None:
    begun, _ = begin(shelf, wish())
    assert not is_busy(shelf, begun)
    assert end(shelf) == ()
    shelf.run(lambda conn: backfills.set_enrolled(conn, begun.id))
    assert end(shelf) == (begun.id,)


def test_work_of_another_recipe_does_not_keep_a_backfill_open(shelf: Database) -> None:
    idle, busy = enrol(shelf, wish(), RECIPE), enrol(shelf, wish(), OTHER_RECIPE)
    assert (is_busy(shelf, idle), is_busy(shelf, busy)) == (False, True)
    assert end(shelf) == (idle.id,)


def test_an_end_stands_and_is_told_once(shelf: Database) -> None:
    begun = enrol(shelf, wish(), RECIPE)
    assert end(shelf) == (begun.id,)
    first = shelf.run(lambda conn: backfills.get(conn, begun.id)).ended_at
    assert end(shelf) == ()
    assert shelf.run(lambda conn: backfills.get(conn, begun.id)).ended_at == first


def test_the_last_backfill_of_a_wish_is_found_after_its_end_too(shelf: Database) -> None:
    enrol(shelf, wish(), RECIPE)
    end(shelf)
    second = enrol(shelf, wish(), RECIPE)
    end(shelf)
    begin(shelf, wish(again=True))
    found = shelf.run(lambda conn: backfills.last_of(conn, wish(), RECIPE))
    assert found.id == second.id
    with pytest.raises(ConfigurationError) as refused:
        shelf.run(lambda conn: backfills.last_of(conn, wish(limit=9), RECIPE))
    assert refused.value.code is Code.NOT_FOUND


def test_a_run_that_goes_on_with_a_backfill_met_its_documents_once(shelf: Database) -> None:
    begun = enrol(shelf, wish(), OTHER_RECIPE)
    _, run_id = begin(shelf, wish(), OTHER_RECIPE)
    met = tables.run_document
    for _ in range(2):
        shelf.run(lambda conn: backfills.join_run(conn, begun.id, run_id))
    assert count(shelf, met, met.c.run_id == run_id) == 2


def test_a_document_counts_as_failed_when_a_page_of_it_could_not_be_read(shelf: Database) -> None:
    begun = enrol(shelf, wish(), OTHER_RECIPE)

    def standing() -> Standing:
        return shelf.run(lambda conn: backfills.standing(conn, begun.id))

    assert standing() == Standing(documents=2, unfinished=2, failed=0, waiting=0)
    work_off(shelf)
    assert standing() == Standing(documents=2, unfinished=0, failed=0, waiting=2)
    bad = sa.text("UPDATE edition_page SET verdict = 'bad' WHERE edition_id = (SELECT max(id) FROM edition)")
    shelf.run(lambda conn: conn.execute(bad))
    assert standing() == Standing(documents=2, unfinished=0, failed=1, waiting=2)
