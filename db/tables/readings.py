"""What was read, and what the checks said of it."""

import sqlalchemy as sa
from sqlalchemy import Column, ForeignKey, Index, Integer, Table, Text
from sqlalchemy.dialects.postgresql import JSONB

from db.columns import Notes, Sha256, Time, Typed, count, identity, now, ref, text
from db.tables.base import metadata, page_key
from models.reading import Block, Trial

reading = Table(
    "reading",
    metadata,
    identity(),
    Column("document_id", sa.BigInteger, nullable=False),
    Column("page_no", Integer, nullable=False),
    ref("recipe"),
    Column("source", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("blocks", Typed(tuple[Block, ...]), nullable=False),
    Column("finish_reason", Text, nullable=False),
    Column("verdict", Text, nullable=False),
    text("engine"),
    Column("seconds", sa.Double, nullable=False),
    Column("tokens_in", Integer),
    Column("tokens_out", Integer),
    Column("confidence", sa.Double),
    count("attempts", 1),
    Column("layer_agreement", sa.Double),
    Column("raw", Text),
    Column("notes", Notes, nullable=False),
    Column("image_sha256", Sha256),
    Column("cached_from", sa.BigInteger, ForeignKey("reading.id", ondelete="SET NULL"), index=True),
    now("created_at"),
    Column("queue_s", sa.Double),
    text("server"),
    Column("trial", Typed(Trial)),
    # Set when a backfill read the page again under the same recipe; editions may still show it.
    Column("superseded_at", Time),
    # What sums and checks ask for lies in the index: they never touch the texts.
    Index(
        "ix_reading_current",
        "document_id",
        "page_no",
        "recipe_id",
        unique=True,
        postgresql_include=["verdict", "source", "seconds"],
        postgresql_where=sa.text("superseded_at IS NULL"),
    ),
    Index(
        "ix_reading_imageless",
        "id",
        postgresql_where=sa.text("source = 'ocr' AND image_sha256 IS NULL"),
    ),
    Index("ix_reading_image_sha256_recipe_id", "image_sha256", "recipe_id"),
    page_key(),
)

finding = Table(
    "finding",
    metadata,
    identity(),
    Column("document_id", sa.BigInteger, nullable=False),
    Column("page_no", Integer, nullable=False),
    ref("reading", nullable=True, index=True),
    Column("code", Text, nullable=False),
    Column("severity", Text, nullable=False),
    Column("message", Text, nullable=False),
    Column("evidence", JSONB, nullable=False),
    page_key(),
    Index("ix_finding_document_id_page_no", "document_id", "page_no"),
)

# Every try at a page, also those whose answer was not kept: what the retry ladder did, and what it cost.
attempt = Table(
    "attempt",
    metadata,
    identity(),
    Column("document_id", sa.BigInteger, nullable=False),
    Column("page_no", Integer, nullable=False),
    ref("recipe"),
    ref("run", "SET NULL"),
    Column("number", Integer, nullable=False),
    Column("profile", Text, nullable=False),
    Column("trial", Typed(Trial)),
    Column("verdict", Text, nullable=False),
    Column("codes", Notes, nullable=False),
    Column("finish_reason", Text, nullable=False),
    Column("seconds", sa.Double, nullable=False),
    Column("tokens_in", Integer),
    Column("tokens_out", Integer),
    Column("raw", Text),
    Column("is_kept", sa.Boolean, nullable=False),
    now("created_at"),
    page_key(),
    Index("ix_attempt_document_id_page_no", "document_id", "page_no"),
)
