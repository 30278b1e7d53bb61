"""The first schema."""

from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_TABLES = Path(__file__).with_suffix(".sql")

_VECTORS = """
CREATE TABLE chunk_vector (
    chunk_id BIGINT NOT NULL,
    model TEXT NOT NULL,
    dims INTEGER NOT NULL,
    embedding VECTOR(512) NOT NULL,
    CONSTRAINT pk_chunk_vector PRIMARY KEY (chunk_id, model),
    CONSTRAINT fk_chunk_vector_chunk_id_chunk FOREIGN KEY(chunk_id)
        REFERENCES chunk (id) ON DELETE CASCADE
);
"""


def upgrade() -> None:
    op.execute(_TABLES.read_text())
    if _make_vector_extension():
        op.execute(_VECTORS)


def downgrade() -> None:
    op.execute("DROP TABLE IF EXISTS chunk_vector")
    op.execute("ALTER TABLE document DROP CONSTRAINT fk_document_edition_id_edition")
    op.execute(
        "DROP TABLE stage_run, chunk, edition_page, edition, finding, reading, claim, page_image, page, "
        "scan_problem, run_document, source, document, run, recipe"
    )
    # The extension stays: others may use it.


def _make_vector_extension() -> bool:
    """Whether pgvector can be used here: installed beside the server, and ours to create."""
    connection = op.get_bind()
    query = "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"
    if connection.execute(sa.text(query)).first() is None:
        return False
    try:
        with connection.begin_nested():
            connection.execute(sa.text("CREATE EXTENSION IF NOT EXISTS vector"))
    except sa.exc.ProgrammingError:  # no right to: search goes on without vectors
        return False
    return True
