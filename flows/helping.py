"""Other machines help: while a run works off much, their workers are asked for drains of their own."""

import contextvars
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import (
    DeploymentFilter,
    DeploymentFilterId,
    FlowRunFilter,
    FlowRunFilterState,
    FlowRunFilterStateType,
    WorkQueueFilter,
    WorkQueueFilterName,
)
from prefect.client.schemas.objects import StateType
from prefect.context import FlowRunContext
from prefect.exceptions import PrefectException

from db import claims
from flows.installation.services import worker_name
from flows.waking import SCHEDULED, drains_of, workers
from models.errors import PagemillError
from models.stage import Stage
from tasks.mill import Mill
from tasks.work.engines import servers_for

log = logging.getLogger(__name__)

EVERY_S, _FIRST_S = 10.0, 2.0
WORTH = 16
"""Pieces of work that nobody is at when there has been time to begin: so many are worth three processes."""

_LINGER_S = 15.0
"""A drain that ends too soon is asked for again."""

_UNENDED = [StateType.SCHEDULED, StateType.PENDING, StateType.RUNNING]


@contextmanager
def helped(mill: Mill, *, worth: int = WORTH, every_s: float = EVERY_S) -> Iterator[None]:
    """While the body works in a run that a worker started: ask all other machines for help, again and again.

    A run that somebody started by hand may read what the others do not have, and asks nobody. Who is asked
    gets one drain of each stage, and no other before that has ended. A server that does not answer stops no
    run.
    """
    context = FlowRunContext.get()
    if context is None or context.flow_run is None or context.flow_run.deployment_id is None:
        yield
        return
    ended = threading.Event()
    thread = threading.Thread(
        target=contextvars.copy_context().run,
        args=(_call, mill, ended, worth, every_s),
        name="help",
        daemon=True,
    )
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(every_s)


def is_read_elsewhere(mill: Mill) -> bool:
    """Whether this machine has no server to read at, while workers of others have GPUs."""
    profile = mill.profile
    if mill.reads or profile.vlm is None or servers_for(profile, mill.settings).urls:
        return False
    if FlowRunContext.get() is None:
        return False
    with get_client(sync_client=True) as client:
        return bool(others(client, "gpu"))


def ask_others(client: SyncPrefectClient, mill: Mill) -> int:
    """Ask each machine but this one for the drains that it can do and has not; how many were asked for."""
    asked = 0
    for drain in drains_of(mill.profile, SCHEDULED):
        for worker in others(client, drain.rpartition("/")[2]):
            asked += _ask(client, drain, worker, mill.profile.name)
    return asked


def others(client: SyncPrefectClient, pool: str) -> list[str]:
    """Names of the workers of a pool that are there, this machine's left out."""
    return [name for name in workers(client, pool) if name != worker_name(pool)]


def _call(mill: Mill, ended: threading.Event, worth: int, every_s: float) -> None:
    pause = min(_FIRST_S, every_s)
    with get_client(sync_client=True) as client:
        while not ended.wait(pause):
            pause = every_s
            try:
                if _waiting(mill) >= worth:
                    ask_others(client, mill)
            except (PrefectException, httpx.HTTPError, PagemillError) as error:
                log.info("no help asked for run=%d: %s", mill.run_id, type(error).__name__)


def _waiting(mill: Mill) -> int:
    """Pieces of work that nobody is at."""
    return mill.database.run(lambda conn: claims.outstanding(conn, list(Stage), mill.profile.name)).ready


def _ask(client: SyncPrefectClient, drain: str, worker: str, profile: str) -> bool:
    """Ask one for a drain, on the queue that is its own, unless it has been asked; says whether."""
    deployment = client.read_deployment_by_name(drain)
    asked_for = client.read_flow_runs(
        deployment_filter=DeploymentFilter(id=DeploymentFilterId(any_=[deployment.id])),
        work_queue_filter=WorkQueueFilter(name=WorkQueueFilterName(any_=[worker])),
        flow_run_filter=FlowRunFilter(state=FlowRunFilterState(type=FlowRunFilterStateType(any_=_UNENDED))),
    )
    if any(run.parameters.get("profile") == profile for run in asked_for):
        return False
    parameters = {"profile": profile, "linger_s": _LINGER_S}
    client.create_flow_run_from_deployment(deployment.id, parameters=parameters, work_queue_name=worker)
    log.info("asked worker=%s drain=%s profile=%s", worker, drain, profile)
    return True
