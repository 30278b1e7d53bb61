"""What GPUs, processes and queues did while a run went on, sample by sample."""

import sqlalchemy as sa
from sqlalchemy import Column, Integer, Table, Text

from db.columns import identity, now, ref
from db.tables.base import metadata

telemetry = Table(
    "telemetry",
    metadata,
    identity(),
    ref("run", index=True),
    now("at"),
    Column("device", Text, nullable=False),
    Column("busy", sa.Double),
    Column("memory_mb", sa.Double),
    Column("power_w", sa.Double),
    Column("queued", Integer),
    Column("in_hand", Integer),
)
