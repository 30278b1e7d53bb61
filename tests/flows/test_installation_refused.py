"""What cannot be brought up says so in a sentence, and leaves nothing half-started."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from bench.served import free_port
from db import embedded
from flows.installation import raising, services
from flows.installation.database import VARIABLE, asyncpg_url, check_chosen, prefect_database
from flows.installation.wish import Wish
from models.errors import Code, ConfigurationError, DatabaseUnreachable, EnvironmentFault, PagemillError
from models.settings import load_settings
from tasks.work import processes

_NOWHERE = "postgresql://me:hunter2@127.0.0.1:1/mill"


@pytest.fixture
def home() -> Iterator[Path]:
    """With a path short enough for a socket."""
    with TemporaryDirectory(prefix="pm-") as folder:
        yield Path(folder)


def refused(
    home: Path, given: dict[str, str] | None = None, url: str | None = None, **wish: Any
) -> PagemillError:
    """The error of `up`; what it started is ended again."""
    settings = load_settings(home=home, database_url=url)
    with pytest.raises(PagemillError) as caught:
        raising.up(settings, Wish(**{"port": free_port()} | wish), given or {}, lambda _: None)
    assert [name for name in services.names_in(home / "run") if processes.running(name, home / "run")] == []
    assert not embedded.running(home)
    assert "hunter2" not in caught.value.message
    return caught.value


def test_a_port_in_use_is_told_before_anything_starts(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        error = refused(home, port=taken.getsockname()[1])
    assert error.code is Code.PORT_IN_USE
    assert not (home / "postgres").exists()


def test_a_server_that_nobody_runs_is_told_before_anything_starts(home: Path) -> None:
    error = refused(home, theirs=f"http://me:hunter2@127.0.0.1:{free_port()}/api")
    assert error.code is Code.PREFECT_UNREACHABLE
    assert not (home / "postgres").exists()


def test_an_address_that_is_none_is_told(home: Path) -> None:
    assert isinstance(refused(home, theirs="prefect.example:4200"), ConfigurationError)


def test_an_unknown_profile_is_told(home: Path) -> None:
    assert refused(home, profile="nope").code is Code.UNKNOWN_PROFILE
    assert refused(home, gpu="nope").code is Code.UNKNOWN_PROFILE


def test_a_database_that_nobody_runs_is_told(home: Path) -> None:
    assert isinstance(refused(home, url=_NOWHERE), DatabaseUnreachable)


@pytest.mark.parametrize(
    ("chosen", "family", "told"),
    [
        ("sqlite+aiosqlite:///prefect.db", ConfigurationError, "must be postgresql+asyncpg"),
        (
            "postgresql+asyncpg://me:hunter2@127.0.0.1:1/x?ssl=require",
            DatabaseUnreachable,
            "No Postgres answers",
        ),
    ],
)
def test_a_database_for_prefect_that_cannot_be_used_is_told_before_anything_starts(
    home: Path, chosen: str, family: type[PagemillError], told: str
) -> None:
    error = refused(home, {VARIABLE: chosen})
    assert isinstance(error, family)
    assert told in error.message
    assert VARIABLE in error.message
    assert len(error.message.splitlines()) == 1
    assert not (home / "postgres").exists()


def test_a_database_for_prefect_that_answers_is_taken(postgres: str) -> None:
    check_chosen(postgres.replace("+psycopg", "+asyncpg"))


@pytest.mark.slow
def test_a_server_that_dies_at_once_is_told_and_takes_postgres_with_it(home: Path) -> None:
    broken = {**os.environ, "PREFECT_SERVER_SERVICES_DB_VACUUM_BATCH_SIZE": "many"}
    error = refused(home, broken)
    assert "prefect ended as soon as it had started" in error.message
    assert str(home / "run" / "prefect.log") in error.message
    assert (home / "postgres").exists()


def test_prefects_database_is_made_once_beside_ours(postgres: str) -> None:
    settings = load_settings(database_url=postgres)
    assert prefect_database(settings, None) == prefect_database(settings, None) == asyncpg_url(postgres)
    plain = sa.make_url(asyncpg_url(postgres)).set(drivername="postgresql")
    with psycopg.connect(plain.render_as_string(hide_password=False)) as connection:
        assert connection.execute("SELECT current_database()").fetchone() == ("prefect",)


def test_an_account_that_may_not_make_databases_is_told_what_to_ask_for(postgres: str) -> None:
    plain = sa.make_url(postgres).set(drivername="postgresql")
    with psycopg.connect(plain.render_as_string(hide_password=False), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS prefect")
        connection.execute("DROP ROLE IF EXISTS clerk")
        connection.execute("CREATE ROLE clerk LOGIN")
    url = sa.make_url(postgres).set(username="clerk").render_as_string(hide_password=False)
    with pytest.raises(EnvironmentFault, match='CREATE DATABASE prefect OWNER "clerk"'):
        prefect_database(load_settings(database_url=url), None)
