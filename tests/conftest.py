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


def pytest_configure(config: pytest.Config) -> None:
    """The same on every machine: however busy it is, and whatever its owner has set for Prefect."""
    # Without limits in seconds, and with the same examples each time.
    settings.load_profile("ci")
    # Profiles of one's own may name a server, and a home may be missing.
    folder = tempfile.TemporaryDirectory(prefix="pm-")
    os.environ["PREFECT_HOME"] = folder.name
    config.add_cleanup(folder.cleanup)


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
