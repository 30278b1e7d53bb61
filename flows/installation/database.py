"""Prefect's own database, beside pagemill's in the same Postgres: both keep a table `alembic_version`."""

from contextlib import closing

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from db import embedded
from db.engine import Database
from models.errors import ConfigurationError, DatabaseUnreachable, EnvironmentFault
from models.settings import Settings

NAME = "prefect"
VARIABLE = "PREFECT_SERVER_DATABASE_CONNECTION_URL"
"""Set by a person, it names another database for Prefect."""

_IS_THERE = "42P04"
_NOT_ALLOWED = "42501"


def prefect_database(settings: Settings, chosen: str | None) -> str:
    """URL of Prefect's database for its server, made where it is missing; `chosen` by a person wins.

    Starts the embedded Postgres where it is the one. Raises DatabaseUnreachable, ConfigurationError for a
    URL that is not Postgres's, EnvironmentFault where the account may not create databases.
    """
    if chosen:
        _check_driver(chosen)
        return chosen
    url = settings.database_url
    text = url.get_secret_value() if url else embedded.start(settings.root, settings.postgres_bin)
    _create(text)
    return asyncpg_url(text)


def check_chosen(chosen: str) -> None:
    """That a database which a person has chosen for Prefect answers, before anything is started.

    Raises ConfigurationError for a URL that is not Postgres's, DatabaseUnreachable.
    """
    _check_driver(chosen)
    url = sa.make_url(chosen)
    query = {"sslmode" if name == "ssl" else name: value for name, value in url.query.items()}
    ours = url.set(drivername="postgresql+psycopg", query=query).render_as_string(hide_password=False)
    with closing(Database(ours)) as database:
        try:
            with database.begin():
                pass
        except DatabaseUnreachable as error:
            told = error.message.replace("PAGEMILL_DATABASE_URL", VARIABLE)
            raise DatabaseUnreachable(told) from error


def _check_driver(chosen: str) -> None:
    if not chosen.startswith("postgresql+asyncpg://"):
        raise ConfigurationError(
            f"{VARIABLE} must be postgresql+asyncpg://…: with SQLite a server locks itself up under load."
        )


def asyncpg_url(text: str) -> str:
    """The URL of the database `prefect` at the server of `text`, as Prefect's driver reads it."""
    url = sa.make_url(text)
    query = {"ssl" if name == "sslmode" else name: value for name, value in url.query.items()}
    kept = {name: value for name, value in query.items() if name in {"host", "port", "ssl"}}
    made = url.set(drivername="postgresql+asyncpg", database=NAME, query=kept)
    return made.render_as_string(hide_password=False)


def _create(text: str) -> None:
    database = Database(text)
    try:
        with database.begin() as connection:
            query = sa.text("SELECT 1 FROM pg_database WHERE datname = :name")
            if connection.execute(query, {"name": NAME}).first():
                return
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(sa.text(f"CREATE DATABASE {NAME}"))
    except DBAPIError as error:
        state = getattr(error.orig, "sqlstate", None)
        if state == _NOT_ALLOWED:
            user = database.engine.url.username
            raise EnvironmentFault(
                f"{user} may not create Prefect's database. Let an administrator run: "
                f'CREATE DATABASE {NAME} OWNER "{user}"; then try again.'
            ) from error
        if state != _IS_THERE:  # somebody was quicker
            raise
    finally:
        database.close()
