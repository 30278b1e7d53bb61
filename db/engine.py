"""Connections: one small pool per process, driver errors translated, transactions tried again."""

import contextlib
import logging
import random
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from db import embedded, migrate
from models.errors import (
    Code,
    ConfigurationError,
    DatabaseBusy,
    DatabaseUnreachable,
    EnvironmentFault,
    PagemillError,
)
from models.settings import Settings

log = logging.getLogger(__name__)

T = TypeVar("T")

# Serialization failure, deadlock, lock not available, connections used up or cut by the server, starting up.
_PASSING = {"40001", "40P01", "55P03", "53300", "57P01", "57P02", "57P03"}
_NO_SPACE = "53100"
_TRIES = 8
_FIRST_DELAY_S = 0.1
_MOST_DELAY_S = 2.0


class Database:
    """A pool of at most eight connections to one database. Make one per process, after any fork.

    `url` is a SQLAlchemy URL; postgresql:// and postgres:// mean psycopg 3. `revive` is called after a lost
    connection and may bring the server back. Raises ConfigurationError for a URL that is none.
    """

    def __init__(self, url: str, revive: Callable[[], object] | None = None) -> None:
        self.engine = _make_engine(url)
        self._revive = revive
        self._was_reached = False

    @contextlib.contextmanager
    def begin(self) -> Iterator[sa.Connection]:
        """A transaction: committed at the end, rolled back by an error.

        Raises DatabaseUnreachable when no server has answered yet; DatabaseBusy for deadlocks, lock timeouts
        and lost connections, after which the whole transaction can be tried again.
        """
        with self._connect() as connection:
            try:
                with connection.begin():
                    yield connection
            except DBAPIError as error:
                raise _translated(error) from error

    def run(self, work: Callable[[sa.Connection], T]) -> T:
        """`work` in one transaction, tried again after DatabaseBusy for about ten seconds in all.

        `work` may run several times and must change nothing but the database.
        """
        for attempt in range(1, _TRIES):
            try:
                with self.begin() as connection:
                    return work(connection)
            except DatabaseBusy as error:
                log.info("database busy attempt=%s code=%s", attempt, error.code)
                time.sleep(_delay(attempt))
                if self._revive is not None:
                    self._revive()
        with self.begin() as connection:
            return work(connection)

    def close(self) -> None:
        """Close the pool's connections; the server goes on."""
        self.engine.dispose()

    @contextlib.contextmanager
    def _connect(self) -> Iterator[sa.Connection]:
        try:
            connection = self.engine.connect()
        except DBAPIError as error:
            raise self._not_connected(error) from error
        except sa.exc.TimeoutError as error:
            raise DatabaseBusy("All database connections of this process are in use.") from error
        self._was_reached = True
        with connection:
            yield connection

    def _not_connected(self, error: DBAPIError) -> PagemillError:
        where = self.engine.url.render_as_string(hide_password=True)
        # Drivers write several lines, and end the last with a question.
        reason = " ".join(str(error.orig).split()).rstrip("?.")
        if self._was_reached:
            return DatabaseBusy(f"The connection to {where} was lost: {reason}")
        return DatabaseUnreachable(
            f"No Postgres answers at {where}: {reason}. Check PAGEMILL_DATABASE_URL and that the server runs."
        )


def open_database(settings: Settings) -> Database:
    """The database of the settings, ready for use.

    Starts the embedded Postgres where no URL is set. Migrates the embedded one and an empty one; any other
    that is not at the newest revision raises EnvironmentFault (database-outdated).
    """
    if settings.database_url is not None:
        database = Database(settings.database_url.get_secret_value())
    else:
        start = partial(embedded.start, settings.root, settings.postgres_bin)
        database = Database(start(), revive=start)
    try:
        _prepare(database, is_embedded=settings.database_url is None)
    except PagemillError:
        database.close()
        raise
    return database


def has_vectors(connection: sa.Connection) -> bool:
    """Whether this database keeps embedding vectors (the extension pgvector was there at migration)."""
    return connection.execute(sa.text("SELECT to_regclass('chunk_vector') IS NOT NULL")).scalar_one() is True


def _make_engine(url: str) -> sa.Engine:
    try:
        parsed = sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError) as error:
        raise ConfigurationError(
            "PAGEMILL_DATABASE_URL is no database URL. Write postgresql://user@host/name."
        ) from error
    if parsed.get_backend_name() not in {"postgresql", "postgres"}:
        raise ConfigurationError(
            f"PAGEMILL_DATABASE_URL names {parsed.get_backend_name()}, but pagemill needs Postgres."
        )
    return sa.create_engine(
        parsed.set(drivername="postgresql+psycopg"),
        pool_size=4,
        max_overflow=4,
        pool_timeout=10,
        # Errors are logged and stored; what was to be stored must not come along.
        hide_parameters=True,
        connect_args={
            "application_name": "pagemill",
            "connect_timeout": 10,
            "options": "-c statement_timeout=60000 -c lock_timeout=5000 -c timezone=UTC",
        },
    )


def _prepare(database: Database, *, is_embedded: bool) -> None:
    with database.begin() as connection:
        _check_letters(connection)
        revision = migrate.current(connection)
        is_empty = revision is None and migrate.is_empty(connection)
    if revision == migrate.HEAD:
        return
    if not is_embedded and not is_empty:
        raise EnvironmentFault(
            f"The database is at revision {revision or 'none'}, this pagemill needs {migrate.HEAD}. "
            "Run 'pagemill db migrate'; if the database is newer, update pagemill.",
            Code.DATABASE_OUTDATED,
        )
    migrate.upgrade(database.engine)


def _check_letters(connection: sa.Connection) -> None:
    """LC_CTYPE C knows no letters beyond ASCII: lower() and trigrams then silently miss most scripts."""
    query = sa.text("SELECT current_setting('server_encoding') = 'UTF8' AND lower('ÄЖ') = 'äж'")
    if not connection.execute(query).scalar_one():
        raise EnvironmentFault(
            "The database knows no letters beyond ASCII (encoding other than UTF8, or LC_CTYPE C). Create it "
            "with: CREATE DATABASE pagemill TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8'."
        )


def _translated(error: DBAPIError) -> Exception:
    state = getattr(error.orig, "sqlstate", None)
    if state in _PASSING or error.connection_invalidated:
        return DatabaseBusy(str(error.orig).strip())
    if state == _NO_SPACE:
        return EnvironmentFault("Postgres has no space left on its disk. Free some and run again.")
    return error


def _delay(attempt: int) -> float:
    delay: float = min(_MOST_DELAY_S, _FIRST_DELAY_S * 2 ** (attempt - 1))
    return delay * (0.5 + random.random())  # noqa: S311 (jitter, not a secret)
