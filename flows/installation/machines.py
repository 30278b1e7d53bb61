"""Whether another machine of this one's name works at the same server.

The name is what a worker and its queue are called by: two of one name would take each other's runs, and be
taken for one. The server keeps, as variables of Prefect, which machine has a name.
"""

import re
import socket
import time
from collections.abc import Callable

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import VariableCreate, VariableUpdate
from prefect.client.schemas.objects import Worker
from prefect.exceptions import ObjectAlreadyExists

from flows.installation.pools import POOLS
from flows.installation.services import worker_name
from models.errors import EnvironmentFault
from tasks.work.machine import machine

_BEATS_S = 45.0
"""A worker says every 30 seconds that it lives, and counts as there for another 60."""

_LOOK_S = 1.0


def check_name(
    client: SyncPrefectClient, tell: Callable[[str], None], *, is_at_work: bool, beats_s: float = _BEATS_S
) -> None:
    """Take this machine's name at the server. Raises EnvironmentFault where another works under it.

    `is_at_work`: this machine has workers of its own. After a restart of the machine it may take `beats_s`
    seconds to see that nobody else does; `tell` says so.
    """
    variable = variable_of(socket.gethostname())
    known = client.read_variable_by_name(variable)
    if known is not None and known.value == machine():
        return
    if not is_at_work and _somebody_beats(client, tell, beats_s):
        raise _taken()
    if known is not None:
        client.update_variable(VariableUpdate(name=variable, value=machine()))
        return
    try:
        client.create_variable(VariableCreate(name=variable, value=machine()))
    except ObjectAlreadyExists as error:
        raise _taken() from error


def variable_of(host: str) -> str:
    """Name of the variable that says which machine is called so."""
    return f"pagemill_machine_{re.sub(r'[^A-Za-z0-9]', '_', host)}"


def _somebody_beats(client: SyncPrefectClient, tell: Callable[[str], None], beats_s: float) -> bool:
    """Whether a worker of our name says that it lives while we look."""
    before = _beats(client)
    if not before:
        return False
    tell(f"A worker called {', '.join(before)} was at work lately. Waiting to see whether it still is.")
    until = time.monotonic() + beats_s
    while time.monotonic() < until:
        now = _beats(client)
        if any(now[name] != before.get(name) for name in now):
            return True
        if not now:
            return False
        time.sleep(_LOOK_S)
    return False


def _beats(client: SyncPrefectClient) -> dict[str, object]:
    """When the workers of our name said last that they live, by name; those that are there."""
    found: list[Worker] = [one for pool in POOLS for one in client.read_workers_for_work_pool(pool)]
    ours = {worker_name(pool) for pool in POOLS}
    return {one.name: one.last_heartbeat_time for one in found if one.name in ours and one.status == "ONLINE"}


def _taken() -> EnvironmentFault:
    name = socket.gethostname()
    return EnvironmentFault(
        f"Another machine that is called {name} works at this Prefect server: they would take each other's "
        "runs. Give this one another name (hostnamectl set-hostname) and start it again."
    )
