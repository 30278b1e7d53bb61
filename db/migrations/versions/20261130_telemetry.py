"""What GPUs, processes and queues did during runs, and tokens with the time they took."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_TELEMETRY = """
CREATE TABLE telemetry (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    run_id BIGINT NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    device TEXT NOT NULL,
    busy DOUBLE PRECISION,
    memory_mb DOUBLE PRECISION,
    power_w DOUBLE PRECISION,
    queued INTEGER,
    in_hand INTEGER,
    CONSTRAINT pk_telemetry PRIMARY KEY (id),
    CONSTRAINT fk_telemetry_run_id_run FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE
);
CREATE INDEX ix_telemetry_run_id ON telemetry (run_id);
"""


def upgrade() -> None:
    op.execute(_TELEMETRY)
    for column in ("tokens_in", "tokens_out"):
        zero = sa.text("0")
        op.add_column("stage_run", sa.Column(column, sa.BigInteger, nullable=False, server_default=zero))


def downgrade() -> None:
    for column in ("tokens_out", "tokens_in"):
        op.drop_column("stage_run", column)
    op.execute("DROP TABLE telemetry")
