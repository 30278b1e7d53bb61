"""Whether a machine that joins others has their store and database: with its own it would spoil their work.

The server keeps, as a variable of Prefect, which ones they are.
"""

import contextlib
import uuid
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import VariableCreate, VariableUpdate
from prefect.exceptions import ObjectAlreadyExists

from db.engine import open_database
from models.errors import Code, EnvironmentFault
from models.settings import Settings

VARIABLE = "pagemill_shared"

_DATABASE = "SELECT system_identifier || '/' || current_database() FROM pg_control_system()"
_MARK = "id"
"""A file of the store: two stores have different ones."""


def check_shared(client: SyncPrefectClient, settings: Settings, *, is_joining: bool) -> None:
    """Raises EnvironmentFault for a machine that joins others and has another store or database than they.

    `is_joining`: the server is another's. The machine of the server decides which ones they are, or whoever
    is the first at a server that belongs to none of them.
    """
    ours = {"store": _store_mark(settings), "database": _database_mark(settings)}
    theirs = _known(client, ours)
    if theirs == ours:
        return
    if not is_joining:
        client.update_variable(VariableUpdate(name=VARIABLE, value=ours))
        return
    has_database = isinstance(theirs, dict) and theirs.get("database") == ours["database"]
    raise _stranger(settings, has_database=has_database)


def _known(client: SyncPrefectClient, ours: dict[str, Any]) -> Any:
    """What the server keeps; of two that come first at the same time, what the quicker one has."""
    if client.read_variable_by_name(VARIABLE) is None:
        with contextlib.suppress(ObjectAlreadyExists):
            client.create_variable(VariableCreate(name=VARIABLE, value=ours))
    known = client.read_variable_by_name(VARIABLE)
    return known.value if known else None


def _stranger(settings: Settings, *, has_database: bool) -> EnvironmentFault:
    if not has_database:
        return EnvironmentFault(
            "The other machines of this Prefect server have another database. Set PAGEMILL_DATABASE_URL to "
            "theirs; an embedded Postgres is for a machine that is alone."
        )
    return EnvironmentFault(
        f"The other machines of this Prefect server have another store than {settings.store}. Make that a "
        "link to the folder that they share, so that pages prepared there can be read here."
    )


def _store_mark(settings: Settings) -> str:
    path = settings.store / _MARK
    try:
        settings.store.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            _mark(path)
        return path.read_text()
    except OSError as error:
        raise EnvironmentFault(
            f"The store {settings.store} cannot be written: {error.strerror}. If it is a link, make the "
            "folder that it leads to.",
            Code.HOME_UNWRITABLE,
        ) from error


def _mark(path: Path) -> None:
    """Whole or not at all, and never over that of another machine which joins at the same moment."""
    part = path.with_name(f".{uuid.uuid4().hex}.part")
    part.write_text(uuid.uuid4().hex)
    try:
        path.hardlink_to(part)
    except FileExistsError:
        return
    finally:
        part.unlink()


def _database_mark(settings: Settings) -> str:
    database = open_database(settings)
    try:
        return str(database.run(lambda conn: conn.execute(sa.text(_DATABASE)).scalar_one()))
    finally:
        database.close()
