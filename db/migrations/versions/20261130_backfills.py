"""Backfills: readings beside readings of the same recipe, editions not shown yet, every switch kept."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_CLAIM = """
ALTER TABLE claim ADD COLUMN promotes BOOLEAN DEFAULT true NOT NULL, ADD COLUMN edition_id BIGINT
    CONSTRAINT fk_claim_edition_id_edition REFERENCES edition (id) ON DELETE SET NULL;
CREATE INDEX ix_claim_edition_id ON claim (edition_id) WHERE edition_id IS NOT NULL;
UPDATE claim SET edition_id = (
    SELECT max(edition.id) FROM edition
    WHERE edition.document_id = claim.document_id AND edition.recipe_id = claim.recipe_id
) WHERE page_no = 0;
"""

_READING = """
ALTER TABLE reading ADD COLUMN superseded_at TIMESTAMP WITH TIME ZONE;
CREATE UNIQUE INDEX ix_reading_current ON reading (document_id, page_no, recipe_id)
    INCLUDE (verdict, source, seconds) WHERE superseded_at IS NULL;
CREATE INDEX ix_reading_imageless ON reading (id) WHERE source = 'ocr' AND image_sha256 IS NULL;
ALTER TABLE reading DROP CONSTRAINT uq_reading_document_id_page_no_recipe_id;
"""

_EDITION_SWITCH = """
CREATE TABLE edition_switch (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    document_id BIGINT NOT NULL,
    before_id BIGINT,
    edition_id BIGINT NOT NULL,
    kind TEXT NOT NULL,
    by TEXT NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_edition_switch PRIMARY KEY (id),
    CONSTRAINT fk_edition_switch_document_id_document FOREIGN KEY(document_id)
        REFERENCES document (id) ON DELETE CASCADE,
    CONSTRAINT fk_edition_switch_before_id_edition FOREIGN KEY(before_id)
        REFERENCES edition (id) ON DELETE CASCADE,
    CONSTRAINT fk_edition_switch_edition_id_edition FOREIGN KEY(edition_id)
        REFERENCES edition (id) ON DELETE CASCADE
);
CREATE INDEX ix_edition_switch_document_id ON edition_switch (document_id);
CREATE INDEX ix_edition_switch_before_id ON edition_switch (before_id);
CREATE INDEX ix_edition_switch_edition_id ON edition_switch (edition_id);
"""

_BACKFILL = """
CREATE TABLE backfill (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    recipe_id BIGINT NOT NULL,
    run_id BIGINT,
    digest BYTEA NOT NULL,
    wish JSONB NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    enrolled_at TIMESTAMP WITH TIME ZONE,
    ended_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_backfill PRIMARY KEY (id),
    CONSTRAINT fk_backfill_recipe_id_recipe FOREIGN KEY(recipe_id)
        REFERENCES recipe (id) ON DELETE CASCADE,
    CONSTRAINT fk_backfill_run_id_run FOREIGN KEY(run_id)
        REFERENCES run (id) ON DELETE SET NULL
);
CREATE INDEX ix_backfill_recipe_id ON backfill (recipe_id);
CREATE UNIQUE INDEX ix_backfill_open ON backfill (digest) WHERE ended_at IS NULL;

CREATE TABLE backfill_document (
    backfill_id BIGINT NOT NULL,
    document_id BIGINT NOT NULL,
    before_id BIGINT,
    pages INTEGER NOT NULL,
    CONSTRAINT pk_backfill_document PRIMARY KEY (backfill_id, document_id),
    CONSTRAINT fk_backfill_document_backfill_id_backfill FOREIGN KEY(backfill_id)
        REFERENCES backfill (id) ON DELETE CASCADE,
    CONSTRAINT fk_backfill_document_document_id_document FOREIGN KEY(document_id)
        REFERENCES document (id) ON DELETE CASCADE,
    CONSTRAINT fk_backfill_document_before_id_edition FOREIGN KEY(before_id)
        REFERENCES edition (id) ON DELETE SET NULL
);
CREATE INDEX ix_backfill_document_document_id ON backfill_document (document_id);
CREATE INDEX ix_backfill_document_before_id ON backfill_document (before_id);
"""


def upgrade() -> None:
    for step in (_CLAIM, _READING, _EDITION_SWITCH, _BACKFILL):
        op.execute(step)


def downgrade() -> None:
    op.execute("DROP TABLE backfill_document, backfill, edition_switch")
    # One reading a page and recipe is all that the schema before can hold: the newest.
    op.execute(
        "UPDATE edition_page SET reading_id = NULL FROM reading "
        "WHERE reading.id = reading_id AND superseded_at IS NOT NULL"
    )
    op.execute("DELETE FROM reading WHERE superseded_at IS NOT NULL")
    op.create_unique_constraint(
        "uq_reading_document_id_page_no_recipe_id", "reading", ["document_id", "page_no", "recipe_id"]
    )
    op.drop_index("ix_reading_imageless", "reading")
    op.drop_index("ix_reading_current", "reading")
    op.drop_column("reading", "superseded_at")
    for column in ("edition_id", "promotes"):
        op.drop_column("claim", column)
