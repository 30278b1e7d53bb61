"""Wake the drains: ask the Prefect server for a run of each, on their own pools."""

import logging

from prefect.client.orchestration import get_client
from prefect.deployments import run_deployment
from prefect.exceptions import ObjectNotFound

from models.errors import Code, EnvironmentFault
from models.profile import Profile

log = logging.getLogger(__name__)

SCHEDULED, BACKFILL = "scheduled", "backfill"
"""The queues of every pool."""

_LINGER_S = 60.0
"""Drains begin together: one waits so long for the first work of the one before it."""


def check_drains(profile: Profile, queue: str) -> None:
    """Raises EnvironmentFault (not-found) where the server has no deployments for the drains of a profile."""
    with get_client(sync_client=True) as client:
        for name in drains_of(profile, queue):
            try:
                client.read_deployment_by_name(name)
            except ObjectNotFound as error:
                raise EnvironmentFault(
                    f"The Prefect server has no deployment {name}. Run 'pagemill up', or use --here to do "
                    "the work in this process.",
                    Code.NOT_FOUND,
                ) from error


def wake(profile: Profile, queue: str) -> None:
    """Ask for the drains of a profile, on `queue` of their pools; nobody is waited for."""
    for name in drains_of(profile, queue):
        parameters = {"profile": profile.name, "linger_s": _LINGER_S}
        run_deployment(name=name, parameters=parameters, timeout=0, as_subflow=False)
        log.info("woke drain=%s queue=%s profile=%s", name, queue, profile.name)


def drains_of(profile: Profile, queue: str) -> tuple[str, str, str]:
    """Deployments that work off a profile: a served model is asked from where the GPUs are.

    Each queue has its own. The server starts a crashed run again on the queue of its deployment, wherever it
    had been before.
    """
    behind = "" if queue == SCHEDULED else f"-{queue}"
    ocr = "ocr/cpu" if profile.vlm is None else "ocr/gpu"
    return f"split/cpu{behind}", f"{ocr}{behind}", f"load/cpu{behind}"
