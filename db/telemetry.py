"""Telemetry: samples of devices and queues kept with their run, and what they come to."""

from collections.abc import Sequence
from dataclasses import asdict

import sqlalchemy as sa

from db import tables
from db.questions import is_status
from models.stage import ClaimStatus, Stage
from models.telemetry import DeviceUse, Sample

t = tables.telemetry


def save(connection: sa.Connection, run_id: int, samples: Sequence[Sample]) -> None:
    """Keep samples of a run."""
    if samples:
        connection.execute(sa.insert(t), [asdict(sample) | {"run_id": run_id} for sample in samples])


def thin_out(connection: sa.Connection, days: int) -> int:
    """Of runs that ended more than `days` ago keep one sample a device, which says that it was there.

    Says how many samples went.
    """
    run, first = tables.run, t.alias("first")
    limit = sa.func.now() - sa.func.make_interval(0, 0, 0, days)
    old = sa.select(run.c.id).where(run.c.ended_at < limit)
    kept = sa.select(sa.func.min(first.c.id)).where(first.c.run_id.in_(old))
    kept = kept.group_by(first.c.run_id, first.c.device)
    gone = sa.delete(t).where(t.c.run_id.in_(old), t.c.id.not_in(kept))
    return connection.execute(gone).rowcount


def queues(connection: sa.Connection, profile: str) -> dict[Stage, tuple[int, int]]:
    """Pieces of work of a profile that are ready, and that are in hand, for each stage that has any."""
    c = tables.claim
    found: dict[Stage, tuple[int, int]] = {}
    for status in (ClaimStatus.READY, ClaimStatus.LEASED):
        query = sa.select(c.c.stage, sa.func.count()).where(is_status(status), c.c.profile == profile)
        for stage, count in connection.execute(query.group_by(c.c.stage)):
            ready, leased = found.get(Stage(stage), (0, 0))
            found[Stage(stage)] = (count, leased) if status is ClaimStatus.READY else (ready, count)
    return found


def uses(connection: sa.Connection, run_id: int) -> tuple[DeviceUse, ...]:
    """What each device and stage did over a run, GPUs first."""
    low = sa.func.percentile_cont(0.1).within_group(t.c.busy)
    query = (
        sa.select(
            t.c.device,
            sa.func.count().label("samples"),
            sa.func.avg(t.c.busy).label("busy"),
            low.label("busy_p10"),
            sa.func.max(t.c.memory_mb).label("memory_mb"),
            sa.func.avg(t.c.power_w).label("power_w"),
            sa.cast(sa.func.avg(t.c.queued), sa.Double).label("queued"),
            sa.cast(sa.func.avg(t.c.in_hand), sa.Double).label("in_hand"),
        )
        .where(t.c.run_id == run_id)
        .group_by(t.c.device)
        .order_by(t.c.device)
    )
    return tuple(DeviceUse(**row._asdict()) for row in connection.execute(query))


def newest_run(connection: sa.Connection) -> int | None:
    """The last run that left samples; None without any."""
    newest: int | None = connection.execute(sa.select(sa.func.max(t.c.run_id))).scalar_one()
    return newest
