"""Runs, recipes, claims and timing: who does what, and how long it took."""

import sqlalchemy as sa
from sqlalchemy import Column, Index, Integer, Table, Text, UniqueConstraint
from sqlalchemy.dialects.postgresql import JSONB

from db.columns import Sha256, Time, Typed, count, identity, now, ref, text
from db.tables.base import metadata
from models.recipe import Recipe

recipe = Table(
    "recipe",
    metadata,
    identity(),
    Column("hash", Sha256, nullable=False, unique=True),
    Column("profile", Text, nullable=False),
    Column("body", Typed(Recipe), nullable=False),
)

run = Table(
    "run",
    metadata,
    identity(),
    Column("kind", Text, nullable=False),
    ref("recipe", "SET NULL"),
    now("started_at"),
    Column("ended_at", Time),
    Column("outcome", Text),
    text("host"),
    count("pid"),
    Column("prefect_run_id", Text),
    Column("facts", JSONB, nullable=False, server_default="{}"),
)

claim = Table(
    "claim",
    metadata,
    identity(),
    ref("document"),
    ref("recipe"),
    Column("page_no", Integer, nullable=False),
    Column("stage", Text, nullable=False),
    Column("status", Text, nullable=False),
    count("attempt"),
    count("crashes"),
    count("priority"),
    Column("profile", Text, nullable=False),
    Column("owner", Text),
    Column("leased_at", Time),
    Column("leased_until", Time),
    now("ready_at"),
    now("not_before"),
    Column("ended_at", Time),
    Column("code", Text),
    Column("message", Text),
    ref("run", "SET NULL"),
    # Of a document: whether what is loaded is shown, and what its last load came to.
    Column("promotes", sa.Boolean, nullable=False, server_default=sa.true()),
    ref("edition", "SET NULL"),
    UniqueConstraint("document_id", "recipe_id", "page_no"),
    Index("ix_claim_edition_id", "edition_id", postgresql_where=sa.text("edition_id IS NOT NULL")),
    Index("ix_claim_ready", "stage", "priority", "id", postgresql_where=sa.text("status = 'ready'")),
    Index("ix_claim_leased", "owner", "leased_until", postgresql_where=sa.text("status = 'leased'")),
    # Rows change a dozen times and soon rest: leave room beside them and sweep early.
    postgresql_with={"fillfactor": 70, "autovacuum_vacuum_scale_factor": 0.02},
)

stage_run = Table(
    "stage_run",
    metadata,
    identity(),
    ref("run"),
    ref("document", index=True),
    Column("stage", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("ready_at", Time, nullable=False),
    Column("started_at", Time, nullable=False),
    Column("ended_at", Time, nullable=False),
    Column("seconds", sa.Double, nullable=False),
    Column("pages", Integer, nullable=False),
    Column("cached", Integer, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("code", Text),
    text("worker"),
    Column("prefect_run_id", Text),
    Column("tokens_in", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    Column("tokens_out", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    UniqueConstraint("run_id", "document_id", "stage", "attempt"),
)
