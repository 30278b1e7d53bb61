"""The database as commands use it."""

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from db import embedded, migrate
from db.engine import Database, open_database
from models.settings import Settings


@contextmanager
def connected(settings: Settings) -> Iterator[sa.Connection]:
    """A transaction on the database of the settings, embedded or not. Raises DatabaseUnreachable."""
    database = open_database(settings)
    try:
        with database.begin() as connection:
            yield connection
    finally:
        database.close()


def migrate_database(settings: Settings) -> str:
    """Bring the database to the newest revision; returns that. Raises EnvironmentFault."""
    url = settings.database_url
    database = Database(
        url.get_secret_value() if url else embedded.start(settings.root, settings.postgres_bin)
    )
    try:
        with database.begin():
            pass  # an unreachable server is told here, in our words
        migrate.upgrade(database.engine)
        return migrate.HEAD
    finally:
        database.close()
