"""What a backfill says at its end, on the screen and to those who call it."""

import threading
from typing import Any

import pytest
from prefect.client.schemas.objects import State

from flows.backfill import backfill
from flows.opening import CALLER, Caller
from models.backfill import Selection
from models.errors import Code, PageFailed
from tasks import backfill as work
from tests import factories
from tests.flows.backfilling import OTHER, Backfills, backfills_in
from tests.flows.yard import Yard

pytestmark = pytest.mark.slow


@pytest.fixture
def again(yard: Yard, postgres: str, monkeypatch: pytest.MonkeyPatch) -> Backfills:
    """Backfills over a document of two pages that was read."""
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO"))
    yard.ingest()
    return backfills_in(yard, postgres, monkeypatch)


def end_of(again: Backfills, stop: threading.Event | None = None, /, **options: Any) -> State[int]:
    token = CALLER.set(Caller(again.settings, lambda _: None, stop or threading.Event()))
    try:
        return backfill.fn(everything=True, options=OTHER, **options)
    finally:
        CALLER.reset(token)


def test_a_dry_run_counts_and_does_nothing(again: Backfills) -> None:
    state = end_of(again)
    assert state.is_completed()
    assert "1 document with 2 pages, 2 to be read" in (state.message or "")
    assert (state.data, again.yard.rows("backfill")) == (None, [])


def test_a_backfill_tells_what_it_read_and_its_number(again: Backfills) -> None:
    state = end_of(again, dry_run=False, here=True)
    assert (state.name, state.message) == ("Completed", "2 pages of 1 document read.")
    assert state.data == again.yard.rows("backfill")[-1].id


def test_a_backfill_that_lost_a_page_says_so(again: Backfills) -> None:
    again.reads(PageFailed("torn", Code.OCR_FAILED))
    state = end_of(again, dry_run=False, here=True)
    assert (state.name, state.message) == ("PartiallyDone", "1 of 2 pages of 1 document read.")


def test_a_backfill_that_is_stopped_is_cancelled(again: Backfills) -> None:
    stop = threading.Event()
    stop.set()
    state = end_of(again, stop, dry_run=False, here=True)
    assert state.is_cancelled()
    assert "What is left waits for the next run." in (state.message or "")


def test_what_has_not_read_anything_yet_neither_compares_nor_promotes_nor_takes_back_what_another_did(
    again: Backfills, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = again.yard.database
    again.run(everything=True, options=OTHER, promote=True)
    promoted = again.yard.document("a.pdf").edition_id
    monkeypatch.setattr("flows.backfilling.work_off", lambda *_: False)
    end_of(again, dry_run=False, here=True, again=True)
    (compared,) = work.comparisons(database, None, Selection())
    assert (compared.new_edition, compared.is_shown) == (None, False)
    assert work.promote(database, None, Selection()) == work.rollback(database, None, Selection()) == ()
    assert again.yard.document("a.pdf").edition_id == promoted


def test_what_changed_nothing_takes_nothing_back(again: Backfills) -> None:
    database = again.yard.database
    first = again.run(everything=True, options=OTHER, promote=True)
    second = again.run(everything=True, options=OTHER)
    assert second > first
    assert work.rollback(database, second, Selection()) == ()
    assert len(work.rollback(database, first, Selection())) == 1
