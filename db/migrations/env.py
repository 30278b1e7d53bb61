"""Runs migrations on the connection that db.migrate gives, or on the configured database for developers."""

import sqlalchemy as sa
from alembic import context

from db import tables
from db.engine import open_database
from models.settings import get_settings


def migrate(connection: sa.Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=tables.metadata,
        compare_type=True,
        compare_server_default=False,
        transaction_per_migration=False,
    )
    with context.begin_transaction():
        context.run_migrations()


given = context.config.attributes.get("connection")
if given is not None:
    migrate(given)
else:
    with open_database(get_settings()).begin() as connection:
        migrate(connection)
