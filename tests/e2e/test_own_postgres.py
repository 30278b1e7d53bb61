"""A Postgres of one's own instead of the embedded one."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests import factories
from tests.e2e.shell import Shell

pytestmark = pytest.mark.slow


@pytest.fixture
def own(postgres: str) -> Iterator[str]:
    """URL of an empty database."""
    name = f"own_{uuid.uuid4().hex[:8]}"
    admin = sa.create_engine(postgres, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name} TEMPLATE template0"))
    yield (
        sa.make_url(postgres)
        .set(database=name, drivername="postgresql")
        .render_as_string(hide_password=False)
    )
    with admin.connect() as connection:
        connection.execute(sa.text(f"DROP DATABASE {name} WITH (FORCE)"))
    admin.dispose()


def execute(url: str, statement: str) -> None:
    engine = sa.create_engine(sa.make_url(url).set(drivername="postgresql+psycopg"))
    with engine.begin() as connection:
        connection.execute(sa.text(statement))
    engine.dispose()


def test_an_empty_database_gets_its_tables_at_the_first_command(own: str, tmp_path: Path) -> None:
    shell = Shell(tmp_path / "home")
    assert "is empty" in shell.run("status", PAGEMILL_DATABASE_URL=own).stdout
    assert not (tmp_path / "home" / "postgres").exists()


def test_the_knowledge_base_can_live_there(own: str, tmp_path: Path) -> None:
    shell = Shell(tmp_path / "home")
    path = factories.write(tmp_path / "a.pdf", factories.pdf("The hydraulic pump"))
    assert shell.run("ingest", path, PAGEMILL_DATABASE_URL=own).returncode == 0
    assert "‹pump›" in shell.run("search", "pump", PAGEMILL_DATABASE_URL=own).stdout
    assert "No embedded Postgres was running." in shell.run("down", PAGEMILL_DATABASE_URL=own).stdout


def test_a_database_at_another_revision_ends_with_4_and_says_what_to_do(own: str, tmp_path: Path) -> None:
    shell = Shell(tmp_path / "home")
    assert shell.run("db", "migrate", PAGEMILL_DATABASE_URL=own).returncode == 0
    execute(own, "UPDATE alembic_version SET version_num = 'unheard-of'")
    done = shell.run("status", PAGEMILL_DATABASE_URL=own)
    assert done.returncode == 4
    assert "(database-outdated)" in done.stderr
    assert "pagemill db migrate" in done.stderr


def test_a_newer_database_is_not_touched_by_migrate(own: str, tmp_path: Path) -> None:
    shell = Shell(tmp_path / "home")
    assert shell.run("db", "migrate", PAGEMILL_DATABASE_URL=own).returncode == 0
    execute(own, "UPDATE alembic_version SET version_num = 'unheard-of'")
    done = shell.run("db", "migrate", PAGEMILL_DATABASE_URL=own)
    assert done.returncode == 4
    assert "Update pagemill" in done.stderr


def test_without_vectors_search_goes_by_words(own: str, tmp_path: Path) -> None:
    shell = Shell(tmp_path / "home")
    options = {"PAGEMILL_DATABASE_URL": own, "PAGEMILL_VECTORS": "false"}
    path = factories.write(tmp_path / "a.pdf", factories.pdf("The hydraulic pump"))
    assert shell.run("ingest", path, **options).returncode == 0
    done = shell.run("search", "pump", "--json", **options)
    assert '"mode": "text"' in done.stdout
    assert '"vector_rank": null' in done.stdout
