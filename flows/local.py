"""Start a flow from the command line: as a flow run where a Prefect server is named, else its body.

docs/adr/0004-flows-without-a-server.md says why.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from prefect import Flow
from prefect.exceptions import CancelledRun, FailedRun
from prefect.settings import get_current_settings

from flows.ingest import ingest
from flows.installation.api import check_named_server
from flows.opening import CALLER, Caller
from models.settings import Settings
from tasks.work.sources import normal


def run_ingest(
    settings: Settings,
    roots: Sequence[str],
    profile: str,
    options: Sequence[str] = (),
    jobs: int | None = None,
    *,
    started: Callable[[int], None] = lambda _: None,
    stop: threading.Event | None = None,
) -> int:
    """Ingest and wait for the end; returns the run's id, which `started` is told as soon as there is one.

    Setting `stop` ends the run after the pages in hand; what is left stays in the ledger. Raises the errors
    of `flows.opening.open_mill` and what stopped a stage for good.
    """
    # The worker of a server may stand in another folder.
    paths = [normal(root) for root in roots]
    # Whoever types a command has the files ready.
    wish: dict[str, Any] = {"paths": paths, "profile": profile, "options": list(options), "settle_s": 0.0}
    return call(ingest, settings, wish | {"jobs": jobs}, started, stop)


def call(
    flow: Flow[..., Any],
    settings: Settings,
    given: Mapping[str, Any],
    started: Callable[[int], None] = lambda _: None,
    stop: threading.Event | None = None,
) -> int:
    """Run a flow for somebody who waits for it; the id of its run, however that ended.

    What stopped it for good is raised, and before it starts what `check_named_server` raises. A state of the
    flow's own choice is for the screen: who waits here looks into the ledger.
    """
    if has_server():
        check_named_server()
    ids: list[int] = []

    def tell(run_id: int) -> None:
        ids.append(run_id)
        started(run_id)

    token = CALLER.set(Caller(settings, tell, stop or threading.Event()))
    try:
        (flow if has_server() else flow.fn)(**given)
    except (FailedRun, CancelledRun):
        if not ids:
            raise
    finally:
        CALLER.reset(token)
    return ids[-1]


def has_server() -> bool:
    """Whether a Prefect server is named (PREFECT_API_URL, a profile or a settings file)."""
    return get_current_settings().api.url is not None
