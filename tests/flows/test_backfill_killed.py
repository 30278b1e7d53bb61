"""A backfill that is killed goes on where it stopped, when the same is asked for again."""

import os
import signal
import subprocess
import sys

import pytest

from models.document import DocumentStatus
from models.errors import Code, PageFailed
from tasks.maintain import check_ledger
from tests import factories
from tests.flows.backfilling import OTHER, Backfills, backfills_in
from tests.flows.yard import Yard, saying
from tests.served import until

pytestmark = pytest.mark.slow

_RUN = """
import sys
from pathlib import Path
from pydantic import SecretStr
from db.engine import Database
from flows import opening
from models.errors import Code, PageFailed
from tasks.work.engines.fake import Delayed, FakeEngine, said
from tests.flows.backfilling import OTHER, Backfills
from tests.flows.yard import Yard
yard = Yard(Database(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
torn = PageFailed("torn", Code.OCR_FAILED)
again = Backfills(yard, yard.settings.model_copy(update={"database_url": SecretStr(sys.argv[1])}))
again.engine = FakeEngine([torn] * 3 + [said("at once")] * 3, default=Delayed(600.0, said("slowly")))
opening.open_engine = lambda *_: again.engine
again.run(everything=True, options=OTHER if sys.argv[4] == "other" else [])
"""
_TORN = PageFailed("torn", Code.OCR_FAILED)


@pytest.fixture
def again(yard: Yard, postgres: str, monkeypatch: pytest.MonkeyPatch) -> Backfills:
    """Backfills over two documents of six pages each."""
    for name in ("a", "b"):
        factories.write(yard.inbox / f"{name}.pdf", factories.pdf(*(f"{name}{page}" for page in range(6))))
    return backfills_in(yard, postgres, monkeypatch)


def _kill(yard: Yard, postgres: str, recipe: str) -> None:
    """Begin in a process of its own and kill that when three pages have failed and three are read."""
    before = len(yard.rows("reading"))
    arguments = [postgres, str(yard.home), str(yard.inbox), recipe]
    run = subprocess.Popen([sys.executable, "-c", _RUN, *arguments], start_new_session=True)
    try:
        until(
            lambda: (len(yard.rows("reading")) - before, _left(yard)) == (3, 6) or run.poll() is not None, 300
        )
    finally:
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()


def _left(yard: Yard) -> int:
    """Pages whose work has not ended."""
    return sum(row.status not in {"done", "failed"} for row in yard.rows("claim") if row.page_no)


def test_after_kill_9_nothing_that_was_read_is_read_again(
    yard: Yard, again: Backfills, postgres: str
) -> None:
    yard.ingest()
    _kill(yard, postgres, "other")
    assert _left(yard) == 6
    again.run(everything=True, options=OTHER)
    assert len(again.read()) == 6
    assert [row.ended_at is not None for row in yard.rows("backfill")] == [True]
    assert len(yard.rows("reading")) == 12 + 12 - 3
    assert check_ledger(yard.database) == ()


def test_pages_that_failed_again_before_the_kill_are_not_tried_a_third_time(
    yard: Yard, again: Backfills, postgres: str
) -> None:
    yard.ingest(saying(*[_TORN] * 12))
    assert yard.document("a.pdf").status is DocumentStatus.FAILED
    _kill(yard, postgres, "same")
    assert _left(yard) == 6
    again.run(everything=True)
    assert len(again.read()) == 6
    assert sum(row.status == "failed" for row in yard.rows("claim") if row.page_no) == 3
    # That one has ended: whoever asks again means it.
    again.reads()
    again.run(everything=True)
    assert len(again.read()) == 3
    assert len(yard.rows("backfill")) == 2
    assert yard.document("a.pdf").status is yard.document("b.pdf").status is DocumentStatus.COMPLETE


def test_a_backfill_stopped_in_the_middle_is_gone_on_with(yard: Yard, again: Backfills) -> None:
    yard.ingest()
    first = again.run(stop_after_s=0.01, everything=True, options=OTHER)
    again.reads()
    assert again.run(everything=True, options=OTHER) == first
    assert len(yard.rows("reading")) == 24
    assert again.run(everything=True, options=OTHER) == first + 1
