"""A backfill is cancelled while its run is at work; one reads with a profile of one's own."""

import threading

import pytest

from flows.backfill import backfill
from flows.opening import CALLER, Caller
from models.engine import OcrRequest
from models.errors import ConfigurationError
from models.reading import Reading
from tasks import backfill as work
from tasks.maintain import check_ledger
from tasks.work.engines.fake import Answer, FakeEngine, said
from tests import factories
from tests.flows.backfilling import OTHER, Backfills, backfills_in
from tests.flows.yard import Yard

pytestmark = pytest.mark.slow

OWN = '[vlm.tasks.text]\nprompt = "Read."\nparser = "text"\nabout = "the whole page"\n'


@pytest.fixture
def again(yard: Yard, postgres: str, monkeypatch: pytest.MonkeyPatch) -> Backfills:
    """Backfills over a document of three pages that was read."""
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO", "THREE"))
    yard.ingest()
    return backfills_in(yard, postgres, monkeypatch)


def cancelling(yard: Yard, by_hand: threading.Event) -> FakeEngine:
    """An engine during whose first page somebody cancels the backfill."""

    def answer(_: OcrRequest) -> Answer:
        if not by_hand.is_set():
            by_hand.set()
            work.cancel(yard.database, None)
        return said("Read again")

    return FakeEngine(answer)


def test_a_run_whose_backfill_is_cancelled_ends_and_leaves_what_is_shown(
    yard: Yard, again: Backfills
) -> None:
    before = yard.document("a.pdf")
    again.engine = cancelling(yard, threading.Event())
    token = CALLER.set(Caller(again.settings, lambda _: None, threading.Event()))
    try:
        state = backfill.fn(everything=True, options=OTHER, dry_run=False, here=True)
    finally:
        CALLER.reset(token)
    assert state.is_cancelled()
    assert "Backfill 1 was cancelled by" in (state.message or "")
    assert yard.rows("run")[-1].outcome == "cancelled"
    assert yard.document("a.pdf") == before
    assert check_ledger(yard.database) == ()
    with pytest.raises(ConfigurationError, match="No document matches"):
        again.run(status=["failed"])


def test_the_same_can_be_asked_for_again_afterwards(yard: Yard, again: Backfills) -> None:
    again.engine = cancelling(yard, threading.Event())
    first = again.run(everything=True, options=OTHER)
    again.reads()
    second = again.run(everything=True, options=OTHER)
    assert second > first
    assert [row.cancelled_by is None for row in yard.rows("backfill")] == [False, True]
    present = [row for row in yard.rows("reading") if row.superseded_at is None]
    assert len(present) == 3 + 3
    assert check_ledger(yard.database) == ()


def test_a_profile_of_one_s_own_reads_again(
    yard: Yard, again: Backfills, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.backfill.get_settings", lambda: again.settings)
    factories.write(yard.home / "profiles" / "mine.toml", OWN.encode())
    again.engine = FakeEngine(default=Reading(said("Mine").source, "Mine", said("Mine").blocks))
    again.run(everything=True, profile="mine", promote=True)
    assert {row.text for row in yard.rows("chunk", edition_id=2)} == {"Mine\n\nMine\n\nMine"}
