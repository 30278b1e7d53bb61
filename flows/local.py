"""Start a flow from the command line: as a flow run where a Prefect server is named, else its body.

docs/adr/0004-flows-without-a-server.md says why.
"""

import threading
from collections.abc import Callable, Sequence

from prefect.settings import get_current_settings

from flows.ingest import ingest
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
    token = CALLER.set(Caller(settings, started, stop or threading.Event()))
    try:
        # The worker of a server may stand in another folder.
        paths = [normal(root) for root in roots]
        run = ingest if has_server() else ingest.fn
        # Whoever types a command has the files ready.
        return run(paths=paths, profile=profile, options=list(options), jobs=jobs, settle_s=0.0)
    finally:
        CALLER.reset(token)


def has_server() -> bool:
    """Whether a Prefect server is named (PREFECT_API_URL, a profile or a settings file)."""
    return get_current_settings().api.url is not None
