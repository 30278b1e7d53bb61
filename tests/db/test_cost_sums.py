"""Costs add up: documents to their run, runs to their profile, and no page is paid twice."""

import datetime as dt
from dataclasses import replace

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from db import costs, runs, tables, telemetry, timings
from db.engine import Database
from models.cost import CostRow, Price
from models.stage import Outcome, Stage
from models.telemetry import Sample
from models.timing import StageRun
from tests.db.steps import OTHER_RECIPE, RECIPE, intake, register

NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)
quick = settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def library(database: Database) -> Database:
    register(database, *(intake(f"/{name}.pdf", name) for name in "abc"))
    return database


def _run(document: int, start: int, seconds: int, pages: int) -> StageRun:
    began = NOON + dt.timedelta(seconds=start)
    ended = began + dt.timedelta(seconds=seconds)
    row = StageRun(document, Stage.OCR, 1, began, began, ended, float(seconds), pages)
    return replace(row, tokens_in=100 * pages, tokens_out=10 * pages)


work = st.lists(
    st.builds(_run, st.integers(1, 3), st.integers(0, 99), st.integers(1, 99), st.integers(1, 9)),
    min_size=1,
    max_size=6,
)


def record(database: Database, rows: list[StageRun], gpus: int = 0) -> None:
    """A run of its own with this work, on so many GPUs."""

    def keep(connection: sa.Connection) -> None:
        run_id = runs.start(connection, "ocr", RECIPE, {})
        timings.record(connection, run_id, rows)
        telemetry.save(connection, run_id, [Sample(f"gpu:{number}", NOON, 0.5) for number in range(gpus)])

    database.run(keep)


def rows(database: Database, by: costs.By) -> tuple[CostRow, ...]:
    return database.run(lambda conn: costs.report(conn, by, Price(1.0))).rows


def total(found: tuple[CostRow, ...]) -> list[float]:
    names = ("pages", "wall_s", "gpu_s", "tokens_in", "tokens_out")
    return [sum(getattr(row, name) for row in found) for name in names]


@quick
@given(st.lists(st.tuples(work, st.integers(0, 3)), min_size=1, max_size=3))
def test_documents_runs_and_profiles_come_to_the_same_sums(
    library: Database, made: list[tuple[list[StageRun], int]]
) -> None:
    library.run(lambda conn: conn.execute(sa.delete(tables.stage_run)))
    for done, gpus in made:
        record(library, done, gpus)
    by_run = total(rows(library, "run"))
    assert by_run[0] == sum(row.pages for done, _ in made for row in done)
    assert total(rows(library, "document")) == pytest.approx(by_run)
    assert total(rows(library, "profile")) == pytest.approx(by_run)


@quick
@given(work, st.integers(1, 4))
def test_a_run_takes_its_span_on_each_of_its_gpus(library: Database, done: list[StageRun], gpus: int) -> None:
    library.run(lambda conn: conn.execute(sa.delete(tables.stage_run)))
    record(library, done, gpus)
    (row,) = rows(library, "run")
    span = max(one.ended_at for one in done) - min(one.started_at for one in done)
    assert row.wall_s == pytest.approx(span.total_seconds())
    assert row.gpu_s == pytest.approx(gpus * row.wall_s)


def test_the_most_expensive_comes_first(library: Database) -> None:
    record(library, [_run(1, 0, 5, 9), _run(3, 0, 50, 1), _run(2, 0, 20, 1)])
    assert [row.key for row in rows(library, "document")] == ["3", "2", "1"]


def test_work_of_other_stages_costs_no_gpu(library: Database) -> None:
    began = NOON + dt.timedelta(seconds=500)
    split = StageRun(1, Stage.SPLIT, 1, NOON, NOON, began, 500.0, 9)
    record(library, [split, _run(1, 0, 5, 2)])
    (row,) = rows(library, "document")
    assert (row.pages, row.wall_s) == (2, 5.0)


def test_tries_in_vain_cost_their_time_and_are_no_pages(library: Database) -> None:
    lost = replace(_run(1, 0, 5, 1), outcome=Outcome.RETRY, code="engine-unavailable")
    again = replace(_run(1, 5, 5, 1), attempt=2)
    record(library, [lost, again])
    (row,) = rows(library, "document")
    assert (row.pages, row.wall_s) == (1, 10.0)


def test_profiles_are_told_apart_by_the_recipes_of_their_runs(library: Database) -> None:
    record(library, [_run(1, 0, 5, 2)])
    other = OTHER_RECIPE.model_copy(update={"profile": "chandra"})
    run_id = library.run(lambda conn: runs.start(conn, "ocr", other, {}))
    library.run(lambda conn: timings.record(conn, run_id, [_run(1, 0, 50, 3)]))
    assert [(row.key, row.pages) for row in rows(library, "profile")] == [("chandra", 3), (RECIPE.profile, 2)]
