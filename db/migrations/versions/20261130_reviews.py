"""What people decided about pages."""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_REVIEWS = """
CREATE TABLE review_action (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    document_id BIGINT NOT NULL,
    page_no INTEGER NOT NULL,
    reading_id BIGINT,
    made_id BIGINT,
    action TEXT NOT NULL,
    person TEXT NOT NULL,
    note TEXT DEFAULT '' NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_review_action PRIMARY KEY (id),
    CONSTRAINT fk_review_action_reading_id_reading FOREIGN KEY(reading_id)
        REFERENCES reading (id) ON DELETE SET NULL,
    CONSTRAINT fk_review_action_made_id_reading FOREIGN KEY(made_id)
        REFERENCES reading (id) ON DELETE SET NULL,
    CONSTRAINT fk_review_action_document_id_page FOREIGN KEY(document_id, page_no)
        REFERENCES page (document_id, page_no) ON DELETE CASCADE
);
CREATE INDEX ix_review_action_reading_id ON review_action (reading_id);
CREATE INDEX ix_review_action_made_id ON review_action (made_id);
CREATE INDEX ix_review_action_document_id_page_no ON review_action (document_id, page_no);
"""


def upgrade() -> None:
    op.execute(_REVIEWS)


def downgrade() -> None:
    op.execute("DROP TABLE review_action")
