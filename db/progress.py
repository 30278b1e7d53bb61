"""How far a run has come, counted from the claims of the documents it met."""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from db import tables
from db.names import name_of
from models.progress import Progress, RecentFailure, StageProgress
from models.stage import ClaimStatus, Stage

t = tables.claim

_Counts = Mapping[tuple[bool, Stage, ClaimStatus], int]


def snapshot(connection: sa.Connection, run_id: int, most_failures: int = 20) -> Progress:
    """Documents and pages done, total and failed per stage, and the last failures. Milliseconds, not more."""
    met, problem = tables.run_document, tables.scan_problem
    is_refused = met.c.seen_as == "rejected"
    of_run = sa.select(sa.func.count(), sa.func.count().filter(is_refused)).where(met.c.run_id == run_id)
    documents, refused = connection.execute(of_run).one()
    problems = sa.select(sa.func.count()).where(problem.c.run_id == run_id)
    return Progress(
        documents=documents,
        refused=refused,
        problems=connection.execute(problems).scalar_one(),
        stages=_stages(_counts(connection, run_id)),
        failures=_failures(connection, run_id, most_failures),
    )


def _counts(connection: sa.Connection, run_id: int) -> _Counts:
    """Claims by whether they are documents', stage and status."""
    is_document = (t.c.page_no == 0).label("is_document")
    query = _of_run(sa.select(is_document, t.c.stage, t.c.status, sa.func.count()), run_id)
    grouped = query.group_by(is_document, t.c.stage, t.c.status)
    return {(row[0], Stage(row[1]), ClaimStatus(row[2])): row[3] for row in connection.execute(grouped)}


def _stages(counts: _Counts) -> tuple[StageProgress, ...]:
    documents = {key[1:]: number for key, number in counts.items() if key[0]}
    pages = {key[1:]: number for key, number in counts.items() if not key[0]}
    return (
        _progress(Stage.SPLIT, Stage.LOAD, documents),
        _progress(Stage.PREPROCESS, Stage.OCR, pages),
        _last(Stage.OCR, Stage.PREPROCESS, pages),
        _last(Stage.LOAD, Stage.SPLIT, documents),
    )


def _progress(stage: Stage, after: Stage, counts: Mapping[tuple[Stage, ClaimStatus], int]) -> StageProgress:
    """The first of two stages: done is what waits, has ended well, or has gone on."""
    passed = {ClaimStatus.WAITING, ClaimStatus.DONE}
    done = sum(n for (at, status), n in counts.items() if at == after or status in passed)
    return StageProgress(stage, sum(counts.values()), done, counts.get((stage, ClaimStatus.FAILED), 0))


def _last(stage: Stage, before: Stage, counts: Mapping[tuple[Stage, ClaimStatus], int]) -> StageProgress:
    """The second of two stages: what failed in the first does not come to it."""
    total = sum(counts.values()) - counts.get((before, ClaimStatus.FAILED), 0)
    done = sum(n for (_, status), n in counts.items() if status is ClaimStatus.DONE)
    return StageProgress(stage, total, done, counts.get((stage, ClaimStatus.FAILED), 0))


def _failures(connection: sa.Connection, run_id: int, most: int) -> tuple[RecentFailure, ...]:
    columns = [t.c.id.label("claim_id"), name_of(t.c.document_id).label("name")]
    more = [t.c.document_id, t.c.page_no, t.c.stage, t.c.code, t.c.message]
    failed = _of_run(sa.select(*columns, *more), run_id).where(t.c.status == ClaimStatus.FAILED.value)
    rows = connection.execute(failed.order_by(t.c.ended_at.desc(), t.c.id.desc()).limit(most))
    return tuple(RecentFailure(**row._asdict() | {"stage": Stage(row.stage)}) for row in rows)


def _of_run(query: sa.Select[*tuple[Any, ...]], run_id: int) -> sa.Select[*tuple[Any, ...]]:
    """The claims of the documents that the run met, under its recipe."""
    met, run = tables.run_document, tables.run
    return (
        query.join_from(met, run, run.c.id == met.c.run_id)
        .join(t, (t.c.document_id == met.c.document_id) & (t.c.recipe_id == run.c.recipe_id))
        .where(met.c.run_id == run_id)
    )
