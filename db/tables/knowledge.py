"""What can be searched: editions, their pages and passages."""

import sqlalchemy as sa
from pgvector.sqlalchemy import Vector
from sqlalchemy import Column, ForeignKey, Index, Integer, Table, Text, UniqueConstraint
from sqlalchemy.dialects.postgresql import ARRAY, TSVECTOR

from db.columns import Sha256, Typed, identity, now, ref
from db.tables.base import metadata
from models.chunk import ChunkBox

VECTOR_DIMS = 512

edition = Table(
    "edition",
    metadata,
    identity(),
    ref("document"),
    ref("recipe"),
    Column("digest", Sha256, nullable=False),
    now("created_at"),
    ref("run", "SET NULL"),
    UniqueConstraint("document_id", "digest"),
)

edition_page = Table(
    "edition_page",
    metadata,
    ref("edition", primary_key=True),
    Column("page_no", Integer, primary_key=True, autoincrement=False),
    ref("reading", None, nullable=True, index=True),
    Column("verdict", Text, nullable=False),
    Column("code", Text),
    Column("message", Text),
)

# Every change of what a document shows, so that the one before can be put back.
edition_switch = Table(
    "edition_switch",
    metadata,
    identity(),
    ref("document", index=True),
    # Null: nothing was shown.
    Column("before_id", sa.BigInteger, ForeignKey("edition.id", ondelete="CASCADE"), index=True),
    ref("edition", index=True),
    Column("kind", Text, nullable=False),
    Column("by", Text, nullable=False),
    now("at"),
)

chunk = Table(
    "chunk",
    metadata,
    identity(),
    ref("edition"),
    Column("ordinal", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("headings", ARRAY(Text), nullable=False),
    Column("pages", ARRAY(Integer), nullable=False),
    Column("boxes", Typed(tuple[ChunkBox, ...]), nullable=False),
    Column("fts", TSVECTOR, nullable=False),
    Column("fts_cjk", TSVECTOR, nullable=False),
    UniqueConstraint("edition_id", "ordinal"),
    Index("ix_chunk_fts", "fts", postgresql_using="gin"),
    Index("ix_chunk_fts_cjk", "fts_cjk", postgresql_using="gin"),
)

# Only where the extension pgvector is: ask db.engine.has_vectors before use.
chunk_vector = Table(
    "chunk_vector",
    metadata,
    ref("chunk", primary_key=True),
    Column("model", Text, primary_key=True),
    Column("dims", Integer, nullable=False),
    Column("embedding", Vector(VECTOR_DIMS), nullable=False),
)
