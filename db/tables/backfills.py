"""Backfills, and which documents each one is about."""

import sqlalchemy as sa
from sqlalchemy import Column, ForeignKey, Index, Integer, Table

from db.columns import Sha256, Time, Typed, identity, now, ref
from db.tables.base import metadata
from models.backfill import Wish

backfill = Table(
    "backfill",
    metadata,
    identity(),
    ref("recipe", index=True),
    ref("run", "SET NULL"),
    Column("digest", Sha256, nullable=False),
    Column("wish", Typed(Wish), nullable=False),
    now("created_at"),
    Column("enrolled_at", Time),
    Column("ended_at", Time),
    Column("cancelled_by", sa.Text),
    # Two that ask for the same at once share one.
    Index("ix_backfill_open", "digest", unique=True, postgresql_where=sa.text("ended_at IS NULL")),
)

backfill_document = Table(
    "backfill_document",
    metadata,
    ref("backfill", primary_key=True),
    ref("document", primary_key=True, index=True),
    # What was shown when it began.
    Column("before_id", sa.BigInteger, ForeignKey("edition.id", ondelete="SET NULL"), index=True),
    Column("pages", Integer, nullable=False),
)
