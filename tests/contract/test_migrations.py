"""The schema's revisions agree with each other and with the tables in the code."""

import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from db import embedded, migrate, tables
from db.engine import Database, has_vectors, open_database
from db.search import search
from models.errors import Code, EnvironmentFault
from models.search import QueryVector
from models.settings import Settings
from models.work import ChunkVectors
from tests.db import steps

DEBIAN = Path("/usr/lib/postgresql/15/bin")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="pm-") as folder:
        yield embedded.start(Path(folder))
        embedded.stop(Path(folder))


@pytest.fixture
def database(server: str) -> Iterator[Database]:
    """A database without a table."""
    database = Database(server)
    yield database
    migrate.downgrade(database.engine, "base")
    database.close()


def names(database: Database) -> set[str]:
    return database.run(lambda conn: set(sa.inspect(conn).get_table_names())) - {"alembic_version"}


def drift(database: Database) -> list[object]:
    with database.begin() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        return list(compare_metadata(context, tables.metadata))


def test_there_is_one_head_and_it_is_the_one_that_is_written_down() -> None:
    assert ScriptDirectory.from_config(migrate.config()).get_heads() == [migrate.HEAD]


@pytest.mark.slow
def test_a_database_that_is_up_to_date_is_opened_without_alembic(database: Database) -> None:
    migrate.upgrade(database.engine)
    code = (
        "import sys\nfrom db.engine import open_database\nfrom models.settings import Settings\n"
        "open_database(Settings(database_url=sys.argv[1])).close()\nassert 'alembic' not in sys.modules"
    )
    url = database.engine.url.render_as_string(hide_password=False)
    subprocess.run([sys.executable, "-c", code, url], check=True)


@pytest.mark.slow
def test_the_revisions_make_exactly_the_tables_of_the_code(database: Database) -> None:
    migrate.upgrade(database.engine)
    assert drift(database) == []
    assert names(database) == set(tables.metadata.tables)


@pytest.mark.slow
def test_columns_have_the_same_type_default_and_place_in_both(database: Database) -> None:
    query = sa.text(
        "SELECT table_name, column_name, data_type, column_default, is_nullable, is_identity "
        "FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'alembic_version' "
        "ORDER BY table_name, ordinal_position"
    )
    migrate.upgrade(database.engine)
    migrated = database.run(lambda conn: conn.execute(query).all())
    migrate.downgrade(database.engine, "base")
    database.run(tables.metadata.create_all)
    created = database.run(lambda conn: conn.execute(query).all())
    database.run(tables.metadata.drop_all)
    assert migrated == created


@pytest.mark.slow
def test_the_way_back_leaves_nothing_and_the_way_up_works_again(database: Database) -> None:
    migrate.upgrade(database.engine)
    migrate.downgrade(database.engine, "base")
    assert names(database) == set()
    with database.begin() as connection:
        assert migrate.current(connection) is None
        assert migrate.is_empty(connection)
    migrate.upgrade(database.engine)
    assert drift(database) == []


@pytest.mark.slow
def test_three_that_migrate_at_once_wait_for_each_other(database: Database) -> None:
    failed: list[BaseException] = []

    def work() -> None:
        try:
            migrate.upgrade(database.engine)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert drift(database) == []


@pytest.mark.slow
def test_a_database_newer_than_the_code_is_told(database: Database) -> None:
    migrate.upgrade(database.engine)
    with database.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(EnvironmentFault, match="Update pagemill") as raised:
        migrate.upgrade(database.engine)
    assert raised.value.code is Code.DATABASE_OUTDATED
    with database.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = :head"), {"head": migrate.HEAD})


@pytest.mark.slow
def test_the_revisions_are_found_from_any_folder() -> None:
    code = (
        "from alembic.script import ScriptDirectory\nfrom db import migrate\n"
        "print(ScriptDirectory.from_config(migrate.config()).get_current_head())"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, cwd="/", capture_output=True, text=True)
    assert done.stdout.strip() == migrate.HEAD


@pytest.mark.slow
@pytest.mark.skipif(not DEBIAN.exists(), reason="no other Postgres on this machine")
def test_a_postgres_without_pgvector_is_used_without_vectors() -> None:
    with tempfile.TemporaryDirectory(prefix="pm-") as folder:
        settings = Settings(home=Path(folder), postgres_bin=DEBIAN)
        database = open_database(settings)
        assert names(database) == set(tables.metadata.tables) - {"chunk_vector"}
        assert not database.run(has_vectors)
        steps.register(database, steps.intake("/a.pdf"))
        steps.split(database, 1)
        steps.prepare(database)
        steps.read(database)
        vector = tuple([1.0] + [0.0] * 511)
        steps.load(database, "全文検索", vectors=ChunkVectors("m", (vector,)))
        assert database.run(lambda conn: search(conn, "検索", QueryVector("m", vector)))[0].document_id == 1
        database.close()
        embedded.stop(settings.root)
