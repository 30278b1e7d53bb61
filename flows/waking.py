"""Wake the drains: ask the Prefect server for a run of each, on their own pools."""

import logging

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.deployments import run_deployment
from prefect.exceptions import ObjectNotFound

from flows.installation.api import check_named_server
from models.errors import Code, EnvironmentFault
from models.profile import Profile

log = logging.getLogger(__name__)

SCHEDULED, BACKFILL = "scheduled", "backfill"
"""The queues of every pool."""

_LINGER_S = 60.0
"""Drains begin together: one waits so long for the first work of the one before it."""


def check_drains(profile: Profile, queue: str, *, reads: bool = True) -> None:
    """Raises EnvironmentFault where what is asked of the drains of a profile would wait for ever.

    The server has no deployments for them, or nobody serves their pools; `reads`: pages are to be read, too.
    And as `check_named_server`.
    """
    check_named_server()
    with get_client(sync_client=True) as client:
        for name in drains_of(profile, queue):
            if not _has_place(client, name):
                raise EnvironmentFault(
                    f"The Prefect server has no deployment {name} with pool and queue. Run 'pagemill up', or "
                    "use --here to do the work in this process.",
                    Code.NOT_FOUND,
                )
        _check_workers(client, "cpu", "pagemill up")
        if reads and profile.vlm is not None:
            _check_workers(client, "gpu", f"pagemill up --gpu {profile.name}")


def _has_place(client: SyncPrefectClient, name: str) -> bool:
    """A deployment whose pool or queue somebody has deleted takes runs that nobody ever gets."""
    try:
        found = client.read_deployment_by_name(name)
    except ObjectNotFound:
        return False
    return found.work_pool_name is not None and found.work_queue_name is not None


def _check_workers(client: SyncPrefectClient, pool: str, command: str) -> None:
    try:
        is_served = bool(workers(client, pool))
    except ObjectNotFound:
        is_served = False
    if not is_served:
        raise EnvironmentFault(
            f"No worker serves the pool {pool} of the Prefect server. Run '{command}', or use --here to do "
            "the work in this process.",
            Code.NOT_FOUND,
        )


def wake(profile: Profile, queue: str) -> None:
    """Ask for the drains of a profile, on `queue` of their pools; nobody is waited for.

    Reading is asked for once for each machine with GPUs: its worker takes one run at a time, so that each
    machine gets one.
    """
    for name in drains_of(profile, queue):
        parameters = {"profile": profile.name, "linger_s": _LINGER_S}
        for _ in range(_readers() if name.startswith("ocr/gpu") else 1):
            run_deployment(name=name, parameters=parameters, timeout=0, as_subflow=False)
        log.info("woke drain=%s queue=%s profile=%s", name, queue, profile.name)


def workers(client: SyncPrefectClient, pool: str) -> list[str]:
    """Names of the workers of a pool that have reported lately."""
    return [one.name for one in client.read_workers_for_work_pool(pool) if one.status == "ONLINE"]


def drains_of(profile: Profile, queue: str) -> tuple[str, str, str]:
    """Deployments that work off a profile: a served model is asked from where the GPUs are.

    Each queue has its own. The server starts a crashed run again on the queue of its deployment, wherever it
    had been before.
    """
    behind = "" if queue == SCHEDULED else f"-{queue}"
    ocr = "ocr/cpu" if profile.vlm is None else "ocr/gpu"
    return f"split/cpu{behind}", f"{ocr}{behind}", f"load/cpu{behind}"


def _readers() -> int:
    """Workers with GPUs; one, where none is there yet."""
    with get_client(sync_client=True) as client:
        return max(1, len(workers(client, "gpu")))
