"""The tables, and nothing else. The words are those of the models; times are UTC."""

import sqlalchemy as sa
from pgvector.sqlalchemy import Vector
from sqlalchemy import Column, ForeignKey, Index, Integer, Table, Text, UniqueConstraint
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR

from db.columns import Notes, Sha256, Time, Typed, Words, count, identity, now, ref, text
from models.chunk import ChunkBox
from models.geometry import Transform
from models.reading import Block
from models.recipe import Recipe

VECTOR_DIMS = 512

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

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


def _page_key() -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["document_id", "page_no"], ["page.document_id", "page.page_no"], ondelete="CASCADE"
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
    _page_key(),
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
    UniqueConstraint("document_id", "recipe_id", "page_no"),
    Index("ix_claim_ready", "stage", "priority", "id", postgresql_where=sa.text("status = 'ready'")),
    Index("ix_claim_leased", "owner", "leased_until", postgresql_where=sa.text("status = 'leased'")),
    # Rows change a dozen times and soon rest: leave room beside them and sweep early.
    postgresql_with={"fillfactor": 70, "autovacuum_vacuum_scale_factor": 0.02},
)

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
    UniqueConstraint("document_id", "page_no", "recipe_id"),
    Index("ix_reading_image_sha256_recipe_id", "image_sha256", "recipe_id"),
    _page_key(),
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
    _page_key(),
    Index("ix_finding_document_id_page_no", "document_id", "page_no"),
)

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
    UniqueConstraint("run_id", "document_id", "stage", "attempt"),
)
