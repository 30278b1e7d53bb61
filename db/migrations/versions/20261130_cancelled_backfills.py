"""Who cancelled a backfill."""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE backfill ADD COLUMN cancelled_by TEXT")


def downgrade() -> None:
    op.execute("ALTER TABLE backfill DROP COLUMN cancelled_by")
