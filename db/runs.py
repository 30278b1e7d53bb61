"""Runs and the recipes they read with."""

import os
import socket
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from db import tables
from models.document import ScanProblem
from models.errors import Code, ConfigurationError
from models.recipe import Recipe
from models.run import Run
from models.stage import Outcome
from models.text import clean, printable


def start(
    connection: sa.Connection,
    kind: str,
    recipe: Recipe | None,
    facts: Mapping[str, str],
    prefect_run_id: str | None = None,
) -> int:
    """A new run of this process; its id."""
    values = {
        "kind": kind,
        "recipe_id": None if recipe is None else recipe_id(connection, recipe),
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "prefect_run_id": prefect_run_id,
        "facts": dict(facts),
    }
    new: int = connection.execute(
        sa.insert(tables.run).values(values).returning(tables.run.c.id)
    ).scalar_one()
    return new


def add_facts(connection: sa.Connection, run_id: int, facts: Mapping[str, str]) -> None:
    """What turns out later, e.g. the engine's versions."""
    run = tables.run
    added = run.c.facts.op("||")(sa.cast(dict(facts), run.c.facts.type))
    connection.execute(sa.update(run).where(run.c.id == run_id).values(facts=added))


def finish(connection: sa.Connection, run_id: int, outcome: Outcome) -> None:
    """The run has ended."""
    run = tables.run
    values = {"ended_at": sa.func.clock_timestamp(), "outcome": outcome.value}
    connection.execute(sa.update(run).where(run.c.id == run_id).values(values))


def get(connection: sa.Connection, run_id: int) -> Run:
    """A run. Raises ConfigurationError (not-found)."""
    row = connection.execute(sa.select(tables.run).where(tables.run.c.id == run_id)).one_or_none()
    if row is None:
        raise ConfigurationError(f"There is no run {run_id}.", Code.NOT_FOUND)
    return _run(row)


def last_ended(connection: sa.Connection) -> Run | None:
    """The run that ended last, of whatever kind."""
    run = tables.run
    ended = sa.select(run).where(run.c.ended_at.is_not(None)).order_by(run.c.ended_at.desc(), run.c.id.desc())
    row = connection.execute(ended.limit(1)).one_or_none()
    return None if row is None else _run(row)


def _run(row: sa.Row[Any]) -> Run:
    outcome = None if row.outcome is None else Outcome(row.outcome)
    return Run(**row._asdict() | {"outcome": outcome})


def save_problems(connection: sa.Connection, run_id: int, problems: Sequence[ScanProblem]) -> None:
    """Paths that the scan could not take."""
    rows = [
        {"run_id": run_id, "uri": printable(p.uri), "code": p.code, "message": printable(clean(p.message))}
        for p in problems
    ]
    if rows:
        connection.execute(sa.insert(tables.scan_problem), rows)


def problems(connection: sa.Connection, run_id: int) -> tuple[ScanProblem, ...]:
    """What the scan of a run could not take, in the order it was met."""
    t = tables.scan_problem
    query = sa.select(t.c.uri, t.c.code, t.c.message).where(t.c.run_id == run_id).order_by(t.c.id)
    return tuple(ScanProblem(*row) for row in connection.execute(query))


def recipe_id(connection: sa.Connection, recipe: Recipe) -> int:
    """The id of a recipe, new or known."""
    t = tables.recipe
    values = {"hash": recipe.hash, "profile": recipe.profile, "body": recipe}
    connection.execute(insert(t).values(values).on_conflict_do_nothing(index_elements=["hash"]))
    found: int = connection.execute(sa.select(t.c.id).where(t.c.hash == recipe.hash)).scalar_one()
    return found


def recipe(connection: sa.Connection, recipe_id: int) -> Recipe:
    """A stored recipe. Raises ConfigurationError (not-found)."""
    t = tables.recipe
    found: Recipe | None = connection.execute(
        sa.select(t.c.body).where(t.c.id == recipe_id)
    ).scalar_one_or_none()
    if found is None:
        raise ConfigurationError(f"There is no recipe {recipe_id}.", Code.NOT_FOUND)
    return found
