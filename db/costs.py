"""What reading cost, by document, run or profile, and which stage held the newest run up."""

from typing import Literal

import sqlalchemy as sa

from db import tables, telemetry
from models.cost import CostReport, CostRow, Limit, Price, StageUse
from models.stage import Outcome, Stage
from models.telemetry import GPU, STAGE

By = Literal["document", "run", "profile"]

t = tables.stage_run
_IS_READ = t.c.stage == Stage.OCR.value

# Tries in vain cost time and read nothing.
_PAGES = sa.func.sum(t.c.pages - t.c.cached).filter(
    t.c.outcome.in_((Outcome.OK.value, Outcome.PARTIAL.value))
)


def report(connection: sa.Connection, by: By, price: Price, document_id: int | None = None) -> CostReport:
    """Costs of all documents or of one, most expensive first."""
    newest = telemetry.newest_run(connection)
    limit = None if newest is None else limit_of(connection, newest)
    return CostReport(by, tuple(_rows(connection, by, document_id)), price, limit)


def limit_of(connection: sa.Connection, run_id: int) -> Limit:
    """How the stages of a run were occupied, from its samples."""
    uses = telemetry.uses(connection, run_id)
    by_stage = {use.device.removeprefix(STAGE): use for use in uses if use.device.startswith(STAGE)}
    stages = tuple(
        StageUse(stage, by_stage[stage].busy or 0.0, by_stage[stage].queued or 0.0)
        for stage in Stage
        if stage in by_stage
    )
    return Limit(run_id, stages, tuple(use for use in uses if use.device.startswith(GPU)))


def _rows(connection: sa.Connection, by: By, document_id: int | None) -> list[CostRow]:
    run, gpus = _runs(), _gpus()
    share = t.c.seconds / sa.func.nullif(run.c.seconds, 0)
    wall_s = sa.func.sum(share * run.c.wall_s)
    gpu_s = sa.func.sum(share * run.c.wall_s * sa.func.coalesce(gpus.c.count, 1))
    key = {"document": t.c.document_id, "run": t.c.run_id, "profile": tables.recipe.c.profile}[by]
    query = (
        sa.select(
            sa.cast(key, sa.Text),
            _PAGES,
            sa.cast(wall_s, sa.Double),
            sa.cast(gpu_s, sa.Double),
            sa.cast(sa.func.sum(t.c.tokens_in), sa.BigInteger),
            sa.cast(sa.func.sum(t.c.tokens_out), sa.BigInteger),
        )
        .select_from(t.join(tables.run).join(tables.recipe).join(run, run.c.run_id == t.c.run_id))
        .outerjoin(gpus, gpus.c.run_id == t.c.run_id)
        .where(_IS_READ)
        .group_by(key)
        .having(_PAGES > 0)
        .order_by(sa.desc(sa.func.coalesce(gpu_s, 0)), key)
    )
    if document_id is not None:
        query = query.where(t.c.document_id == document_id)
    found = connection.execute(query)
    return [CostRow(row[0], row[1], row[2] or 0.0, row[3] or 0.0, row[4], row[5]) for row in found]


def _runs() -> sa.Subquery:
    """Engine seconds of each run, and how long its engine was at work."""
    span = sa.func.extract("epoch", sa.func.max(t.c.ended_at) - sa.func.min(t.c.started_at))
    query = sa.select(t.c.run_id, sa.func.sum(t.c.seconds).label("seconds"), span.label("wall_s"))
    return query.where(_IS_READ).group_by(t.c.run_id).subquery("at_work")


def _gpus() -> sa.Subquery:
    """How many GPUs were seen in each run."""
    s = tables.telemetry
    count = sa.func.count(s.c.device.distinct()).label("count")
    query = sa.select(s.c.run_id, count).where(sa.func.starts_with(s.c.device, GPU))
    return query.group_by(s.c.run_id).subquery("gpus")
