"""Attempts at a page, and how a kept reading was asked for."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_ATTEMPT = """
CREATE TABLE attempt (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    document_id BIGINT NOT NULL,
    page_no INTEGER NOT NULL,
    recipe_id BIGINT NOT NULL,
    run_id BIGINT,
    number INTEGER NOT NULL,
    profile TEXT NOT NULL,
    trial JSONB,
    verdict TEXT NOT NULL,
    codes JSONB NOT NULL,
    finish_reason TEXT NOT NULL,
    seconds DOUBLE PRECISION NOT NULL,
    tokens_in INTEGER,
    tokens_out INTEGER,
    raw TEXT,
    is_kept BOOLEAN NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_attempt PRIMARY KEY (id),
    CONSTRAINT fk_attempt_document_id_page FOREIGN KEY(document_id, page_no)
        REFERENCES page (document_id, page_no) ON DELETE CASCADE,
    CONSTRAINT fk_attempt_recipe_id_recipe FOREIGN KEY(recipe_id)
        REFERENCES recipe (id) ON DELETE CASCADE,
    CONSTRAINT fk_attempt_run_id_run FOREIGN KEY(run_id)
        REFERENCES run (id) ON DELETE SET NULL
);
CREATE INDEX ix_attempt_document_id_page_no ON attempt (document_id, page_no);
"""


def upgrade() -> None:
    op.add_column("reading", sa.Column("queue_s", sa.Double))
    op.add_column("reading", sa.Column("server", sa.Text, nullable=False, server_default=""))
    op.add_column("reading", sa.Column("trial", JSONB))
    op.execute(_ATTEMPT)


def downgrade() -> None:
    op.execute("DROP TABLE attempt")
    for column in ("trial", "server", "queue_s"):
        op.drop_column("reading", column)
