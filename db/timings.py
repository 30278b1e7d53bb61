"""Where the time went: one row per run, document, stage and attempt, added to batch by batch."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from db import tables, telemetry
from models.reading import ReadingSource
from models.stage import Outcome, Stage
from models.telemetry import STAGE
from models.timing import StageRun, TimingReport, TimingRow

By = Literal["stage", "document", "run", "profile"]

t = tables.stage_run

_KEY = ("document_id", "stage", "attempt")


def record(connection: sa.Connection, run_id: int, batch: Sequence[StageRun]) -> None:
    """Add what a batch took to the rows of its documents, stages and attempts.

    Seconds, pages and cached add up, the times widen. Different outcomes make a partial one.
    """
    if not batch:
        return
    connection.execute(_adding(), [_row(run_id, row) for row in _merged(batch)])


@cache
def _adding() -> sa.Executable:
    """The statement of `record`, made once: making it takes as long as running it."""
    run = tables.run
    of_run = sa.select(run.c.prefect_run_id).where(run.c.id == sa.bindparam("of_run")).scalar_subquery()
    told = sa.bindparam("told_run_id", type_=sa.Text)
    added = insert(t).values(prefect_run_id=sa.func.coalesce(told, of_run))
    new = added.excluded
    is_same = t.c.outcome == new.outcome
    return added.on_conflict_do_update(
        index_elements=["run_id", *_KEY],
        set_={
            "ready_at": sa.func.least(t.c.ready_at, new.ready_at),
            "started_at": sa.func.least(t.c.started_at, new.started_at),
            "ended_at": sa.func.greatest(t.c.ended_at, new.ended_at),
            "seconds": t.c.seconds + new.seconds,
            "pages": t.c.pages + new.pages,
            "cached": t.c.cached + new.cached,
            "tokens_in": t.c.tokens_in + new.tokens_in,
            "tokens_out": t.c.tokens_out + new.tokens_out,
            "outcome": sa.case((is_same, t.c.outcome), else_=Outcome.PARTIAL.value),
            "code": sa.func.coalesce(new.code, t.c.code),
            "worker": new.worker,
        },
    )


def report(connection: sa.Connection, by: By, document_id: int | None = None) -> TimingReport:
    """Seconds, shares, waits and percentiles of all documents or of one, by what `by` says."""
    limiting = _limiting(_rows(connection, "stage", document_id))
    rows = _rows(connection, by, document_id)
    if by == "stage":
        rows = [_with_page_times(connection, row, document_id) for row in rows]
    query = sa.select(_wall_s())
    total = connection.execute(_of(query, document_id)).scalar_one()
    newest = telemetry.newest_run(connection)
    uses = () if newest is None else telemetry.uses(connection, newest)
    return TimingReport(
        by=by,
        rows=tuple(rows),
        seconds=sum(row.seconds for row in rows),
        wall_s=float(total),
        limiting=limiting,
        devices=tuple(use for use in uses if not use.device.startswith(STAGE)),
    )


def _rows(connection: sa.Connection, by: By, document_id: int | None) -> list[TimingRow]:
    key = _keys()[by]
    worked = sa.func.nullif(t.c.pages - t.c.cached, 0)
    seconds = sa.func.sum(t.c.seconds)
    waited = sa.func.extract("epoch", t.c.started_at - t.c.ready_at)
    # A page goes through every stage: where stages are added up, those of ocr count.
    counted = sa.true() if by == "stage" else t.c.stage == Stage.OCR.value
    query = sa.select(
        sa.cast(key, sa.Text).label("key"),
        sa.func.count(t.c.document_id.distinct()).label("documents"),
        sa.func.coalesce(sa.func.sum(t.c.pages).filter(counted), 0).label("pages"),
        sa.func.coalesce(sa.func.sum(t.c.cached).filter(counted), 0).label("cached"),
        seconds.label("seconds"),
        sa.func.coalesce(seconds / sa.func.nullif(sa.func.sum(seconds).over(), 0), 0).label("share"),
        _percentile(0.5, t.c.seconds / worked).filter(counted).label("page_p50_s"),
        _percentile(0.95, t.c.seconds / worked).filter(counted).label("page_p95_s"),
        _percentile(0.5, waited).label("waited_p50_s"),
        _wall_s().label("wall_s"),
        sa.func.count(t.c.worker.distinct()).label("workers"),
        sa.func.count().filter(t.c.outcome == Outcome.RETRY.value).label("retries"),
    ).select_from(t.join(tables.run).outerjoin(tables.recipe))
    if by == "run":
        query = query.add_columns(
            sa.func.min(tables.run.c.kind).label("kind"), sa.func.min(tables.run.c.outcome).label("outcome")
        )
    ordered = _of(query, document_id).group_by(key).order_by(seconds.desc(), key)
    return [_timing(row) for row in connection.execute(ordered)]


def _timing(row: sa.Row[Any]) -> TimingRow:
    plain = _plain(row)
    outcome = plain.get("outcome")
    return TimingRow(**plain | {"outcome": None if outcome is None else Outcome(outcome)})


def _keys() -> dict[By, sa.ColumnElement[Any]]:
    return {
        "stage": t.c.stage,
        "document": t.c.document_id,
        "run": t.c.run_id,
        "profile": sa.func.coalesce(tables.recipe.c.profile, "none"),
    }


def _with_page_times(connection: sa.Connection, row: TimingRow, document_id: int | None) -> TimingRow:
    """Of pages read, each one's own seconds are known: better than the means of documents."""
    if row.key != Stage.OCR.value:
        return row
    r = tables.reading
    is_read = (r.c.source == ReadingSource.OCR.value) & r.c.cached_from.is_(None)
    query = sa.select(_percentile(0.5, r.c.seconds), _percentile(0.95, r.c.seconds)).where(is_read)
    if document_id is not None:
        query = query.where(r.c.document_id == document_id)
    p50, p95 = connection.execute(query).one()
    return replace(row, page_p50_s=p50, page_p95_s=p95)


def _limiting(rows: Sequence[TimingRow]) -> Stage | None:
    busiest = max(rows, key=lambda row: row.seconds / max(row.workers, 1), default=None)
    return Stage(busiest.key) if busiest is not None and busiest.seconds > 0 else None


def _of(query: sa.Select[Any], document_id: int | None) -> sa.Select[Any]:
    return query if document_id is None else query.where(t.c.document_id == document_id)


def _wall_s() -> sa.ColumnElement[Any]:
    span = sa.func.max(t.c.ended_at) - sa.func.min(t.c.started_at)
    return sa.func.coalesce(sa.func.extract("epoch", span), 0)


def _percentile(share: float, of: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
    return sa.func.percentile_cont(share).within_group(of)


def _plain(row: sa.Row[Any]) -> dict[str, Any]:
    """Postgres' exact numbers as floats."""
    return {
        name: float(value) if isinstance(value, Decimal) else value for name, value in row._asdict().items()
    }


def _merged(batch: Sequence[StageRun]) -> list[StageRun]:
    """One row a key, sorted: a statement cannot update the same row twice."""
    merged: dict[tuple[int, Stage, int], StageRun] = {}
    for row in batch:
        key = (row.document_id, row.stage, row.attempt)
        merged[key] = row if key not in merged else _sum(merged[key], row)
    return [merged[key] for key in sorted(merged)]


def _sum(one: StageRun, other: StageRun) -> StageRun:
    return replace(
        one,
        ready_at=min(one.ready_at, other.ready_at),
        started_at=min(one.started_at, other.started_at),
        ended_at=max(one.ended_at, other.ended_at),
        seconds=one.seconds + other.seconds,
        pages=one.pages + other.pages,
        cached=one.cached + other.cached,
        tokens_in=one.tokens_in + other.tokens_in,
        tokens_out=one.tokens_out + other.tokens_out,
        outcome=one.outcome if one.outcome == other.outcome else Outcome.PARTIAL,
        code=other.code or one.code,
    )


def _row(run_id: int, row: StageRun) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "document_id": row.document_id,
        "stage": row.stage.value,
        "attempt": row.attempt,
        "ready_at": row.ready_at,
        "started_at": row.started_at,
        "ended_at": row.ended_at,
        "seconds": row.seconds,
        "pages": row.pages,
        "cached": row.cached,
        "tokens_in": row.tokens_in,
        "tokens_out": row.tokens_out,
        "outcome": row.outcome.value,
        "code": row.code,
        "worker": row.worker,
        "told_run_id": row.prefect_run_id,
        "of_run": run_id,
    }
