"""How a page image came about: turned, straightened, and sized by its smallest text."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("page_image", sa.Column("turn", sa.Integer, nullable=False, server_default="0"))
    op.add_column("page_image", sa.Column("skew", sa.Double, nullable=False, server_default="0"))
    op.add_column("page_image", sa.Column("x_height_px", sa.Double))
    op.add_column("page_image", sa.Column("reason", sa.Text, nullable=False, server_default=""))
    op.add_column("page_image", sa.Column("tokens_saved", sa.Integer, nullable=False, server_default="0"))


def downgrade() -> None:
    for column in ("tokens_saved", "reason", "x_height_px", "skew", "turn"):
        op.drop_column("page_image", column)
