"""The schema's revisions: which one a database has, and the way to the newest."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import sqlalchemy as sa

from models.errors import Code, EnvironmentFault

if TYPE_CHECKING:
    from alembic.config import Config

HEAD = "0007"
"""The newest revision this code knows. Written down: to ask Alembic took a tenth of every command."""

# Any number that nobody else uses; one migration at a time in a database.
_LOCK = 7_263_400_521


def upgrade(engine: sa.Engine, revision: str = "head") -> None:
    """Bring the database to `revision`; processes that try at once wait for each other.

    Raises EnvironmentFault (database-outdated) when the database is newer than this code.
    """
    _move(engine, "upgrade", revision)


def downgrade(engine: sa.Engine, revision: str) -> None:
    """Take the database back to `revision`; `base` leaves nothing of ours in it."""
    _move(engine, "downgrade", revision)


def current(connection: sa.Connection) -> str | None:
    """The database's revision, None where there is none."""
    if connection.execute(sa.text("SELECT to_regclass('alembic_version')")).scalar_one() is None:
        return None
    found: str | None = connection.execute(
        sa.text("SELECT version_num FROM alembic_version")
    ).scalar_one_or_none()
    return found


def is_empty(connection: sa.Connection) -> bool:
    """Whether the schema holds no table but perhaps Alembic's own."""
    return not set(sa.inspect(connection).get_table_names()) - {"alembic_version"}


def config() -> "Config":
    """Alembic's settings from where this package lies: true in a checkout and in an installed wheel."""
    from alembic.config import Config  # noqa: PLC0415 (seldom needed)

    made = Config()
    # Alembic's own interpolation would read a percent sign in the path.
    made.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    return made


def _move(engine: sa.Engine, how: Literal["upgrade", "downgrade"], revision: str) -> None:
    from alembic import command  # noqa: PLC0415 (seldom needed)
    from alembic.util import CommandError  # noqa: PLC0415

    made = config()
    with engine.begin() as connection:
        connection.execute(sa.text("SET LOCAL statement_timeout = 0"))
        connection.execute(sa.text("SET LOCAL lock_timeout = '60s'"))
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        made.attributes["connection"] = connection
        try:
            getattr(command, how)(made, revision)
        except CommandError as error:
            raise EnvironmentFault(
                f"The database's revision is unknown to this pagemill: {error}. Update pagemill.",
                Code.DATABASE_OUTDATED,
            ) from error
