"""Wake the drains: ask the Prefect server for a run of each, on their own pools."""

import logging

from prefect.deployments import run_deployment
from prefect.exceptions import ObjectNotFound

from models.errors import Code, EnvironmentFault

log = logging.getLogger(__name__)

DRAINS = ("split/cpu", "ocr/gpu", "load/cpu")
SCHEDULED, BACKFILL = "scheduled", "backfill"
"""The queues of every pool."""


def wake(profile: str, queue: str, linger_s: float = 60.0) -> None:
    """Ask for a drain of each kind for a profile, on `queue` of its pool; nobody is waited for.

    Each drain waits `linger_s` seconds for what the one before it is still at. Raises EnvironmentFault
    (not-found) where the deployments are not there.
    """
    for name in DRAINS:
        try:
            run_deployment(
                name=name,
                parameters={"profile": profile, "linger_s": linger_s},
                timeout=0,
                as_subflow=False,
                work_queue_name=queue,
            )
        except ObjectNotFound as error:
            raise EnvironmentFault(
                f"The Prefect server has no deployment {name}. Run 'pagemill up', or use --here to do the "
                "work in this process.",
                Code.NOT_FOUND,
            ) from error
        log.info("woke drain=%s queue=%s profile=%s", name, queue, profile)
