"""A machine whose clock is wrong: leases and timings go by the database's."""

import datetime as dt
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.recovery_kills import make_clock
from db import claims
from db.engine import Database
from models.document import DocumentStatus
from models.errors import DatabaseBusy
from models.stage import Stage
from tasks.maintain import check_ledger
from tasks.mill import Mill
from tasks.register import register_roots
from tests import factories
from tests.flows.yard import Yard, saying

HOUR = dt.timedelta(hours=1)

_RUN = """
import sys
from pathlib import Path
from db.engine import Database
from tests.flows.yard import Yard
Yard(Database(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])).ingest()
"""


def _registered(yard: Yard) -> Mill:
    """A mill with a document to split."""
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE"))
    mill, recipe_id = yard.mill(saying())
    register_roots(mill, [yard.inbox], recipe_id)
    return mill


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler to put a clock off")
def test_a_run_on_a_machine_an_hour_behind_enters_true_times(
    yard: Yard, postgres: str, tmp_path: Path
) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO"))
    wrong = {"LD_PRELOAD": str(make_clock(tmp_path)), "CLOCK_OFF_S": "-3600"}
    command = [sys.executable, "-c", _RUN, postgres, str(yard.home), str(yard.inbox)]
    subprocess.run(command, env=os.environ | wrong, check=True)
    assert yard.document("a.pdf").status is DocumentStatus.COMPLETE
    now = dt.datetime.now(dt.UTC)
    for row in yard.rows("stage_run"):
        assert row.ready_at <= row.started_at <= row.ended_at
        assert abs(row.ended_at - now) < HOUR / 4
    assert check_ledger(yard.database) == ()


def test_a_mill_tells_the_time_of_the_database(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "behind", lambda _: -HOUR)
    mill, _ = yard.mill(saying())
    mill.close()
    assert abs(mill.now() + HOUR - dt.datetime.now(dt.UTC)) < HOUR / 60


def test_what_is_leased_by_the_databases_clock_is_not_free_for_others(yard: Yard) -> None:
    mill = _registered(yard)
    other, _ = yard.mill(saying())
    try:
        assert len(mill.claim(Stage.SPLIT, 1)) == 1
        assert other.claim(Stage.SPLIT, 1) == []
    finally:
        mill.close()
        other.close()


def test_a_heart_goes_on_beating_after_the_database_was_away(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    mill = _registered(yard)
    mill.settings = mill.settings.model_copy(update={"lease_s": 0.2})
    run: Callable[..., Any] = Database.run
    beats: list[bool] = []
    thrice = threading.Event()

    def away_at_first(database: Database, work: Callable[..., Any]) -> Any:
        if threading.current_thread().name != "heartbeat":
            return run(database, work)
        beats.append(len(beats) > 1)
        if len(beats) > 4:
            thrice.set()
        if not beats[-1]:
            raise DatabaseBusy("the connection was lost")
        return run(database, work)

    monkeypatch.setattr(Database, "run", away_at_first)
    with mill.heartbeat():
        assert thrice.wait(120)
    mill.close()
