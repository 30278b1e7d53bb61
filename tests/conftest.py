"""One real Postgres a session, empty tables a test."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import settings

from db import embedded, migrate, tables
from db.engine import Database

# The same on every machine: examples are the same each time and have no limit in seconds. Nobody's own
# knowledge base, settings or Prefect is touched, by tests or by what they start: the user's folder is an
# empty one, and Prefect, which reads its settings as it is imported, has a home in it.
settings.load_profile("ci")
USER = tempfile.TemporaryDirectory(prefix="pm-", ignore_cleanup_errors=True)
for name in [name for name in os.environ if name.startswith(("PAGEMILL_", "PREFECT_"))]:
    del os.environ[name]
os.environ |= {"HOME": USER.name, "PREFECT_HOME": f"{USER.name}/.prefect"}
DEFAULT_HOME = Path(USER.name, ".local/share/pagemill")


def pytest_unconfigure() -> None:
    """Leave nothing behind."""
    embedded.stop(DEFAULT_HOME)
    USER.cleanup()


@pytest.fixture(autouse=True)
def _default_home_stays_untouched() -> Iterator[None]:
    """A test that forgot to name a home would otherwise use the one of whoever runs it."""
    yield
    if DEFAULT_HOME.exists():
        found = sorted(path.name for path in DEFAULT_HOME.iterdir())
        embedded.stop(DEFAULT_HOME)
        shutil.rmtree(DEFAULT_HOME)
        pytest.fail(f"used the default home, {DEFAULT_HOME}: {found}. Give it a PAGEMILL_HOME of its own.")


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
