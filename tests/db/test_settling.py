"""Failed work: tried again or ended, with its reason and its time; a mill without an engine."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from db import runs, tables
from db.engine import Database
from models import profiles
from models.claim import Claim, Failure
from models.errors import (
    Code,
    DatabaseBusy,
    DocumentRejected,
    EngineUnavailable,
    PageFailed,
    PagemillError,
    PermanentError,
    SourceBusy,
    SourceGone,
)
from models.settings import load_settings
from models.stage import Stage
from tasks.ledger import failure_of, settle, stage_run, will_retry
from tasks.mill import Mill
from tests.db.steps import RECIPE, intake, lease, register, split

PASSING = [SourceBusy("b"), SourceGone("g"), EngineUnavailable("e"), DatabaseBusy("d")]
LASTING = [DocumentRejected("r"), PageFailed("p", Code.RENDER_TIMEOUT), PermanentError("i", Code.INTERNAL)]


@pytest.fixture
def mill(database: Database, tmp_path: Path) -> Iterator[Mill]:
    """A run with one page that waits to be prepared; three tries, without delay or chance."""
    register(database, intake("/a.pdf"))
    split(database, 1)
    retry: Any = {"preprocess": {"attempts": 3, "delay_s": 60, "factor": 2, "jitter": 0}}
    mill = Mill(
        settings=load_settings(home=tmp_path, retry=retry, max_crashes=2, jobs=1),
        database=database,
        profile=profiles.get("ppocr"),
        run_id=database.run(lambda conn: runs.start(conn, "ingest", RECIPE, {})),
    )
    yield mill
    mill.close()


def fail(mill: Mill, error: PagemillError, **changes: int) -> Any:
    """Lease the page, let it fail, and look at its claim."""
    mill.database.run(lambda conn: conn.execute(sa.text("UPDATE claim SET not_before = now()")))
    (claim,) = lease(mill.database, Stage.PREPROCESS)
    failure = Failure(replace(claim, **changes), error)  # type: ignore[arg-type]
    mill.database.run(lambda conn: settle(mill, conn, [failure]))
    t = tables.claim
    left_s = sa.func.extract("epoch", t.c.not_before - sa.func.now()).label("left_s")
    return mill.database.run(lambda conn: conn.execute(sa.select(t, left_s).where(t.c.page_no == 1)).one())


def timed(mill: Mill) -> list[tuple[int, str, str]]:
    t = tables.stage_run
    query = sa.select(t.c.attempt, t.c.outcome, t.c.code).order_by(t.c.attempt)
    return [tuple(row) for row in mill.database.run(lambda conn: conn.execute(query).all())]


@pytest.mark.parametrize("error", PASSING, ids=lambda error: type(error).__name__)
def test_what_may_pass_is_tried_again_after_the_delay(mill: Mill, error: PagemillError) -> None:
    row = fail(mill, error)
    assert (row.status, row.owner, row.crashes) == ("ready", None, 0)
    assert 50 < row.left_s <= 60
    assert timed(mill) == [(1, "retry", error.code.value)]


@pytest.mark.parametrize("error", LASTING, ids=lambda error: type(error).__name__)
def test_what_lasts_is_ended_at_once_with_its_reason(mill: Mill, error: PagemillError) -> None:
    row = fail(mill, error)
    assert (row.status, row.code, row.message) == ("failed", error.code.value, error.message)
    assert timed(mill) == [(1, "failed", error.code.value)]


def test_the_last_try_is_the_last_and_every_try_is_timed(mill: Mill) -> None:
    rows = [fail(mill, SourceBusy("busy")) for _ in range(3)]
    assert [row.status for row in rows] == ["ready", "ready", "failed"]
    assert 110 < rows[1].left_s <= 120
    assert rows[2].code == "source-busy"
    assert [(attempt, outcome) for attempt, outcome, _ in timed(mill)] == [
        (1, "retry"),
        (2, "retry"),
        (3, "failed"),
    ]


def test_work_at_which_workers_died_is_put_away_before_its_tries_are_used_up(mill: Mill) -> None:
    died = EngineUnavailable("The worker died.", Code.WORKER_DIED)
    first, second = fail(mill, died), fail(mill, died)
    assert (first.status, first.crashes) == ("ready", 1)
    assert (second.status, second.code) == ("failed", "quarantined")


def test_a_failure_of_work_that_others_hold_by_now_changes_nothing(mill: Mill) -> None:
    row = fail(mill, PageFailed("torn"), attempt=9)
    assert (row.status, row.code) == ("leased", None)


@pytest.mark.parametrize(("attempt", "again"), [(1, True), (2, True), (3, False), (4, False)])
def test_there_are_as_many_tries_as_the_stage_s_policy_says(mill: Mill, attempt: int, again: bool) -> None:
    (claim,) = lease(mill.database, Stage.PREPROCESS)
    assert will_retry(mill, Failure(replace(claim, attempt=attempt), SourceBusy("busy"))) is again


def test_an_error_that_nobody_foresaw_is_told_with_its_kind(mill: Mill) -> None:
    (claim,) = lease(mill.database, Stage.PREPROCESS)
    failure = failure_of(claim, ZeroDivisionError("division by zero"))
    assert isinstance(failure.error, PermanentError)
    assert (failure.error.code, failure.error.message) == (
        Code.INTERNAL,
        "ZeroDivisionError: division by zero",
    )
    known = PageFailed("torn")
    assert failure_of(claim, known).error is known


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt(), SystemExit(3)])
def test_an_interrupt_is_no_failure_of_the_work(mill: Mill, interrupt: BaseException) -> None:
    (claim,) = lease(mill.database, Stage.PREPROCESS)
    with pytest.raises(type(interrupt)):
        failure_of(claim, interrupt)


def test_work_begins_no_earlier_than_it_was_claimed(mill: Mill) -> None:
    claim: Claim
    (claim,) = lease(mill.database, Stage.PREPROCESS)
    long, short = stage_run(mill, claim, 3600.0), stage_run(mill, claim, 0.0)
    assert long.started_at == claim.leased_at
    assert short.started_at >= claim.leased_at
    assert (long.seconds, long.pages, long.worker) == (3600.0, 1, mill.owner)
