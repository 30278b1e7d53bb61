"""A backfill that is cancelled: no work of it is left, what was read stays, and the ledger is sound."""

import pytest
import sqlalchemy as sa

from db import backfill_cancel, backfills, claims, compare, readings, tables
from db.engine import Database
from models.backfill import Backfill, FromStage, Selection, Standing
from models.errors import Code, ConfigurationError
from models.recipe import Recipe
from models.stage import ClaimStatus, Stage
from tasks import backfill as work
from tasks.maintain import check_ledger
from tests.db.backfilling import begin, enrol, wish
from tests.db.steps import (
    OTHER_RECIPE,
    RECIPE,
    count,
    ingest,
    intake,
    lease,
    load,
    prepare,
    read,
    register,
    result,
    split,
)

SPLIT = wish(start=FromStage.SPLIT, again=True)


@pytest.fixture
def shelf(database: Database) -> Database:
    """Two documents of two pages each in the knowledge base."""
    ingest(database, "/a.pdf", "one", "words", page_count=2)
    ingest(database, "/b.pdf", "two", "words", page_count=2)
    return database


def unfinished(database: Database) -> int:
    ended = [ClaimStatus.DONE.value, ClaimStatus.FAILED.value]
    return count(database, tables.claim, tables.claim.c.status.not_in(ended))


def standing(database: Database, backfill: Backfill) -> Standing:
    return database.run(lambda conn: backfills.standing(conn, backfill.id))


def documents(database: Database) -> list[tuple[object, ...]]:
    d = tables.document
    query = sa.select(d.c.id, d.c.status, d.c.edition_id, d.c.code).order_by(d.c.id)
    return [tuple(row) for row in database.run(lambda conn: conn.execute(query).all())]


def come_to(database: Database, stage: Stage, recipe: Recipe) -> None:
    """Work a backfill off until `stage` is ready."""
    steps = {
        Stage.SPLIT: lambda: None,
        Stage.PREPROCESS: lambda: split(database),
        Stage.OCR: lambda: prepare(database, recipe=recipe),
        Stage.LOAD: lambda: read(database, "Anew."),
    }
    for step in list(steps)[: list(steps).index(stage) + 1]:
        steps[step]()


@pytest.mark.parametrize("stage", [Stage.SPLIT, Stage.PREPROCESS, Stage.OCR, Stage.LOAD])
@pytest.mark.parametrize("recipe", [RECIPE, OTHER_RECIPE])
@pytest.mark.parametrize("is_held", [False, True])
def test_cancelled_at_whatever_stage_no_work_is_left_and_documents_stand_as_before(
    shelf: Database, stage: Stage, recipe: Recipe, is_held: bool
) -> None:
    before, sound = documents(shelf), check_ledger(shelf)
    begun = enrol(shelf, SPLIT if recipe is RECIPE else wish(), recipe)
    come_to(shelf, stage, recipe)
    held = lease(shelf, stage) if is_held else []
    assert unfinished(shelf) > 0
    assert work.cancel(shelf, begun.id)[1] == 2
    assert (unfinished(shelf), documents(shelf), check_ledger(shelf)) == (0, before, sound)
    assert shelf.run(lambda conn: claims.held(conn, held)) == frozenset()


def test_what_was_read_to_its_end_can_still_be_promoted(shelf: Database) -> None:
    begun = enrol(shelf, wish(), OTHER_RECIPE)
    come_to(shelf, Stage.OCR, OTHER_RECIPE)
    first = [claim for claim in lease(shelf, Stage.OCR) if claim.document_id == 1]
    shelf.run(lambda conn: readings.save(conn, [result(claim, "Anew.") for claim in first]))
    load(shelf, "Anew.")
    assert work.cancel(shelf, begun.id)[1] == 1
    assert standing(shelf, begun) == Standing(documents=1, unfinished=0, failed=0, waiting=1)
    found = shelf.run(lambda conn: backfills.get(conn, begun.id))
    pairs = shelf.run(lambda conn: compare.pairs(conn, found, Selection()))
    assert [pair.document_id for pair in pairs] == [1]
    assert work.promote(shelf, begun.id, Selection()) == (1,)
    spent = shelf.run(lambda conn: backfills.spent(conn, found))
    assert (spent.pages, spent.seconds) == (2, 4.0)


def test_pages_that_it_had_read_are_not_read_again_by_the_next(shelf: Database) -> None:
    begun = enrol(shelf, wish(), OTHER_RECIPE)
    come_to(shelf, Stage.OCR, OTHER_RECIPE)
    first = lease(shelf, Stage.OCR)[:1]
    shelf.run(lambda conn: readings.save(conn, [result(claim, "Anew.") for claim in first]))
    work.cancel(shelf, begun.id)
    again = enrol(shelf, wish(), OTHER_RECIPE)
    assert again.id != begun.id
    come_to(shelf, Stage.OCR, OTHER_RECIPE)
    assert len(read(shelf, "Anew.")) == 3
    load(shelf, "Anew.")
    assert standing(shelf, again).waiting == 2


def test_pages_that_had_failed_have_failed_for_the_same_reason_again(shelf: Database) -> None:
    c = tables.claim
    torn = {"status": "failed", "code": "ocr-failed", "message": "torn"}
    page = {"reading_id": None, "verdict": "bad", "code": "ocr-failed", "message": "torn"}
    e = tables.edition_page
    with shelf.begin() as connection:
        connection.execute(sa.update(c).where(c.c.document_id == 1, c.c.page_no == 1).values(torn))
        connection.execute(sa.update(e).where(e.c.edition_id == 1, e.c.page_no == 1).values(page))
        connection.execute(sa.delete(tables.reading).where(tables.reading.c.id == 1))
    begun = enrol(shelf, wish(), RECIPE)
    assert unfinished(shelf) == 2
    work.cancel(shelf, begun.id)
    failed = sa.select(c.c.document_id, c.c.page_no, c.c.code, c.c.message).where(c.c.status == "failed")
    assert shelf.run(lambda conn: conn.execute(failed).all()) == [(1, 1, "ocr-failed", "torn")]


def test_a_document_that_had_been_given_up_is_given_up_again(database: Database) -> None:
    register(database, intake("/a.pdf"))
    d = tables.document
    lost = {"status": "failed", "code": "split-crash"}
    with database.begin() as connection:
        connection.execute(sa.update(d).values(lost))
        connection.execute(sa.update(tables.claim).values(lost))
    begun = enrol(database, wish(), RECIPE)
    assert documents(database) == [(1, "pending", None, None)]
    work.cancel(database, begun.id)
    assert documents(database) == [(1, "failed", None, "cancelled")]
    assert check_ledger(database) == ()


def test_work_that_a_scan_or_another_backfill_has_asked_for_too_goes_on(shelf: Database) -> None:
    first = enrol(shelf, wish(), OTHER_RECIPE)
    other = enrol(shelf, wish(Selection(documents=(1,))), OTHER_RECIPE)
    register(shelf, intake("/b.pdf", "two"), recipe=OTHER_RECIPE)
    assert work.cancel(shelf, first.id)[1] == 0
    assert unfinished(shelf) == 2
    assert work.cancel(shelf, other.id)[1] == 1
    assert unfinished(shelf) == 1


def test_nothing_is_put_in_for_a_backfill_that_is_cancelled(shelf: Database) -> None:
    begun, run_id = begin(shelf, wish(), OTHER_RECIPE)
    work.cancel(shelf, begun.id)
    assert work._enrol_some(shelf, begun, run_id, 0) is None
    assert unfinished(shelf) == 0


def test_it_says_who_cancelled_it_and_cancelling_goes_on_where_it_stopped(shelf: Database) -> None:
    begun = enrol(shelf, wish(), OTHER_RECIPE)
    closed = shelf.run(lambda conn: backfill_cancel.close(conn, begun.id, "me@here"))
    assert (closed.cancelled_by, closed.ended_at is None, unfinished(shelf)) == ("me@here", False, 2)
    again, taken = work.cancel(shelf, None)
    assert (again, taken, unfinished(shelf)) == (closed, 2, 0)


def test_one_that_has_ended_or_never_was_cannot_be_cancelled(shelf: Database) -> None:
    enrol(shelf, wish(), RECIPE)
    shelf.run(backfills.end)
    for number, told in ((1, "Backfill 1 has ended"), (7, "There is no backfill 7")):
        with pytest.raises(ConfigurationError, match=told) as refused:
            work.cancel(shelf, number)
        assert refused.value.code is Code.NOT_FOUND
