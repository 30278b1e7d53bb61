"""One real Postgres a session, empty tables a test."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import settings

from db import embedded, migrate, tables
from db.engine import Database

# The same on every machine: examples are the same each time and have no limit in seconds; Prefect, which
# reads its settings as it is imported, finds no profile that names a server, and a home that it can write.
settings.load_profile("ci")
PREFECT_HOME = tempfile.TemporaryDirectory(prefix="pm-", ignore_cleanup_errors=True)
os.environ["PREFECT_HOME"] = PREFECT_HOME.name


def pytest_unconfigure() -> None:
    """Leave nothing behind."""
    PREFECT_HOME.cleanup()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """URL of a server of our own; its path is short, as a socket's must be."""
    with tempfile.TemporaryDirectory(prefix="pm-") as folder:
        root = Path(folder)
        url = embedded.start(root)
        database = Database(url)
        migrate.upgrade(database.engine)
        # Nobody needs these tables after a power cut, and syncing them is half of a test's time.
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(sa.text("ALTER SYSTEM SET fsync = off"))
            connection.execute(sa.text("SELECT pg_reload_conf()"))
        database.close()
        yield url
        embedded.stop(root)


@pytest.fixture
def database(postgres: str) -> Iterator[Database]:
    """A migrated database without a row."""
    database = Database(postgres)
    names = ", ".join(table.name for table in tables.metadata.sorted_tables)
    with database.begin() as connection:
        connection.execute(sa.text(f"TRUNCATE {names} RESTART IDENTITY"))
    yield database
    database.close()
