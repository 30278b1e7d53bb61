"""Timings add up however the work was cut into batches."""

import datetime as dt
import itertools
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from db import runs, tables, timings
from db.engine import Database
from models.stage import Outcome, Stage
from models.timing import StageRun
from tests.db.steps import RECIPE, intake, register

NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)
t = tables.stage_run

quick = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _run(start: int, seconds: int, pages: int, attempt: int, outcome: Outcome) -> StageRun:
    began = NOON + dt.timedelta(seconds=start)
    ended = began + dt.timedelta(seconds=seconds)
    code = None if outcome is Outcome.OK else "ocr-timeout"
    return StageRun(
        1,
        Stage.OCR,
        attempt,
        NOON,
        began,
        ended,
        float(seconds),
        pages,
        pages // 2,
        outcome,
        code,
        tokens_in=10 * pages,
        tokens_out=pages,
    )


work = st.lists(
    st.builds(
        _run,
        st.integers(0, 99),
        st.integers(0, 99),
        st.integers(1, 9),
        st.integers(1, 2),
        st.sampled_from([Outcome.OK, Outcome.FAILED]),
    ),
    min_size=1,
    max_size=6,
)


@pytest.fixture
def library(database: Database) -> Database:
    register(database, intake("/a.pdf", "a"))
    return database


def kept(database: Database, batches: list[list[StageRun]]) -> list[dict[str, Any]]:
    """What a run of its own has when these batches are recorded one after the other."""
    run_id = database.run(lambda conn: runs.start(conn, "ingest", RECIPE, {}))
    for batch in batches:
        database.run(lambda conn, batch=batch: timings.record(conn, run_id, batch))  # type: ignore[misc]
    query = sa.select(t).where(t.c.run_id == run_id).order_by(t.c.attempt)
    rows = database.run(lambda conn: conn.execute(query).all())
    return [{k: v for k, v in row._asdict().items() if k not in {"run_id", "id"}} for row in rows]


@quick
@given(work, st.data())
def test_batches_of_any_size_come_to_the_same(
    library: Database, rows: list[StageRun], data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(1, len(rows)))) | {0, len(rows)})
    batches = [rows[first:last] for first, last in itertools.pairwise(cuts)]
    assert kept(library, [rows]) == kept(library, batches)


@quick
@given(work)
def test_nothing_of_the_work_is_lost_or_counted_twice(library: Database, rows: list[StageRun]) -> None:
    found = kept(library, [[row] for row in rows])
    assert [row["attempt"] for row in found] == sorted({row.attempt for row in rows})
    for name in ("seconds", "pages", "cached", "tokens_in", "tokens_out"):
        assert sum(row[name] for row in found) == sum(getattr(row, name) for row in rows)


@quick
@given(work)
def test_a_row_spans_all_its_work_and_is_whole_only_if_all_was(
    library: Database, rows: list[StageRun]
) -> None:
    for row in kept(library, [rows]):
        mine = [one for one in rows if one.attempt == row["attempt"]]
        outcomes = {one.outcome for one in mine}
        assert row["started_at"] == min(one.started_at for one in mine)
        assert row["ended_at"] == max(one.ended_at for one in mine)
        assert row["outcome"] == (outcomes.pop() if len(outcomes) == 1 else Outcome.PARTIAL)
        assert (row["code"] is None) == all(one.code is None for one in mine)
