"""Documents, where they were seen, and their pages."""

import sqlalchemy as sa
from sqlalchemy import Column, ForeignKey, Index, Integer, Table, Text, UniqueConstraint

from db.columns import Notes, Sha256, Time, Typed, Words, count, identity, now, ref, text
from db.tables.base import metadata, page_key
from models.geometry import Transform

document = Table(
    "document",
    metadata,
    identity(),
    Column("sha256", Sha256, nullable=False, unique=True),
    Column("media_type", Text),
    Column("size", sa.BigInteger, nullable=False),
    Column("status", Text, nullable=False),
    Column("code", Text),
    Column("message", Text),
    Column("page_count", Integer),
    Column("is_repaired", sa.Boolean, nullable=False, server_default=sa.false()),
    Column("is_encrypted", sa.Boolean, nullable=False, server_default=sa.false()),
    Column("permissions", Integer),
    text("title"),
    Column("notes", Notes, nullable=False, server_default="[]"),
    Column("split_version", Integer),
    Column("edition_id", sa.BigInteger, ForeignKey("edition.id", use_alter=True)),
    now("created_at"),
    sa.CheckConstraint("length(sha256) = 32", name="sha256_length"),
    Index("ix_document_status", "status"),
)

source = Table(
    "source",
    metadata,
    identity(),
    ref("document", index=True),
    # Unique on a hash: a long name does not fit into an index row.
    Column("uri_sha256", Sha256, nullable=False),
    Column("uri", Text, nullable=False),
    # The name's own bytes where `uri` is only a picture of them.
    Column("raw", sa.LargeBinary),
    Column("size", sa.BigInteger, nullable=False),
    Column("mtime_ns", sa.BigInteger, nullable=False),
    now("first_seen"),
    now("last_seen"),
    Column("gone_at", Time),
    Column("superseded_at", Time),
    UniqueConstraint("uri_sha256", "document_id"),
)

run_document = Table(
    "run_document",
    metadata,
    ref("run", primary_key=True),
    ref("document", primary_key=True, index=True),
    Column("seen_as", Text, nullable=False),
)

scan_problem = Table(
    "scan_problem",
    metadata,
    identity(),
    ref("run", index=True),
    Column("uri", Text, nullable=False),
    Column("code", Text, nullable=False),
    Column("message", Text, nullable=False),
)

page = Table(
    "page",
    metadata,
    ref("document", primary_key=True),
    Column("page_no", Integer, primary_key=True, autoincrement=False),
    Column("width_pt", sa.Double, nullable=False),
    Column("height_pt", sa.Double, nullable=False),
    Column("rotation", Integer, nullable=False),
    Column("notes", Notes, nullable=False),
    Column("words", Words, nullable=False),
    Column("layer_chars", Integer, nullable=False),
    Column("split_version", Integer, nullable=False),
)

page_image = Table(
    "page_image",
    metadata,
    Column("document_id", sa.BigInteger, primary_key=True, autoincrement=False),
    Column("page_no", Integer, primary_key=True, autoincrement=False),
    Column("preprocess_key", Sha256, primary_key=True),
    Column("sha256", Sha256, nullable=False, index=True),
    Column("suffix", Text, nullable=False),
    Column("width_px", Integer, nullable=False),
    Column("height_px", Integer, nullable=False),
    Column("transform", Typed(Transform), nullable=False),
    Column("ink", sa.Double, nullable=False),
    Column("is_blank", sa.Boolean, nullable=False),
    Column("notes", Notes, nullable=False),
    count("turn"),
    Column("skew", sa.Double, nullable=False, server_default="0"),
    Column("x_height_px", sa.Double),
    text("reason"),
    count("tokens_saved"),
    page_key(),
)
