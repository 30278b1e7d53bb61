"""The schema's revisions: which one a database has, and the way to the newest."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError

from models.errors import Code, EnvironmentFault

# Any number that nobody else uses; one migration at a time in a database.
_LOCK = 7_263_400_521


def upgrade(engine: sa.Engine, revision: str = "head") -> None:
    """Bring the database to `revision`; processes that try at once wait for each other.

    Raises EnvironmentFault (database-outdated) when the database is newer than this code.
    """
    _move(engine, command.upgrade, revision)


def downgrade(engine: sa.Engine, revision: str) -> None:
    """Take the database back to `revision`; `base` leaves nothing of ours in it."""
    _move(engine, command.downgrade, revision)


def current(connection: sa.Connection) -> str | None:
    """The database's revision, None where there is none."""
    return MigrationContext.configure(connection).get_current_revision()


@cache
def head() -> str:
    """The newest revision this code knows."""
    revision = ScriptDirectory.from_config(config()).get_current_head()
    if revision is None:
        raise EnvironmentFault("The package holds no migrations: install pagemill again.")
    return revision


def is_empty(connection: sa.Connection) -> bool:
    """Whether the schema holds no table but perhaps Alembic's own."""
    return not set(sa.inspect(connection).get_table_names()) - {"alembic_version"}


def config() -> Config:
    """Alembic's settings from where this package lies: true in a checkout and in an installed wheel."""
    made = Config()
    # Alembic's own interpolation would read a percent sign in the path.
    made.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    return made


def _move(engine: sa.Engine, how: Callable[[Config, str], None], revision: str) -> None:
    made = config()
    with engine.begin() as connection:
        connection.execute(sa.text("SET LOCAL statement_timeout = 0"))
        connection.execute(sa.text("SET LOCAL lock_timeout = '60s'"))
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        made.attributes["connection"] = connection
        try:
            how(made, revision)
        except CommandError as error:
            raise EnvironmentFault(
                f"The database's revision is unknown to this pagemill: {error}. Update pagemill.",
                Code.DATABASE_OUTDATED,
            ) from error
