"""Start a flow from the command line: as a flow run where a Prefect server is named, else its body.

docs/adr/0004-flows-without-a-server.md says why.
"""

import os
import sys
import threading
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.ingesting import Wish, read_in
from flows.opening import CALLER, Caller
from models.settings import Settings
from tasks.work.sources import normal

if TYPE_CHECKING:
    from prefect import Flow

_OURS = frozenset(
    {
        "PREFECT_HOME",
        "PREFECT_SERVER_ANALYTICS_ENABLED",
        "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL",
        "PREFECT_LOGGING_LEVEL",
    }
)
"""What `cli.environment` sets; none of it names a server."""


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
    if not has_server():
        with called(settings, started, stop) as ids:
            read_in(paths, profile, options, jobs, Wish(settle_s=0.0))
        return ids[-1]
    from flows.ingest import ingest  # noqa: PLC0415 (with Prefect, a second of CPU)

    wish: dict[str, Any] = {"paths": paths, "profile": profile, "options": list(options), "settle_s": 0.0}
    return call(ingest, settings, wish | {"jobs": jobs}, started, stop)


def call(
    flow: "Flow[..., Any]",
    settings: Settings,
    given: Mapping[str, Any],
    started: Callable[[int], None] = lambda _: None,
    stop: threading.Event | None = None,
) -> int:
    """Run a flow of the named server for somebody who waits for it; the id of its run, however that ended.

    What stopped it for good is raised, and before it starts what `check_named_server` raises. A state of the
    flow's own choice is for the screen: who waits here looks into the ledger.
    """
    from prefect.exceptions import CancelledRun, FailedRun  # noqa: PLC0415

    from flows.installation.api import check_named_server  # noqa: PLC0415

    check_named_server()
    with called(settings, started, stop) as ids:
        try:
            flow(**given)
        except (FailedRun, CancelledRun):
            if not ids:
                raise
    return ids[-1]


@contextmanager
def called(
    settings: Settings, started: Callable[[int], None], stop: threading.Event | None
) -> Iterator[list[int]]:
    """The body's runs have a caller; the ids of those that began."""
    ids: list[int] = []

    def tell(run_id: int) -> None:
        ids.append(run_id)
        started(run_id)

    token = CALLER.set(Caller(settings, tell, stop or threading.Event()))
    try:
        yield ids
    finally:
        CALLER.reset(token)


def has_server() -> bool:
    """Whether a Prefect server is named (PREFECT_API_URL, a profile or a settings file)."""
    if "prefect.settings" not in sys.modules and not may_name_server(os.environ, Path.cwd()):
        return False
    from prefect.settings import get_current_settings  # noqa: PLC0415

    return get_current_settings().api.url is not None


def may_name_server(environ: Mapping[str, str], folder: Path) -> bool:
    """Whether to ask Prefect if a server is named: importing it takes a second, and nearly always in vain.

    False where there is none of what Prefect's settings are read from but what the command itself sets; see
    `cli.environment.set_prefect_variables`. `folder`: where the command runs.
    """
    told = {name.upper(): value for name, value in environ.items()}
    if any(name.startswith("PREFECT_") and name not in _OURS for name in told):
        return True
    home = Path(told.get("PREFECT_HOME", "~/.prefect")).expanduser()
    files = (home / "profiles.toml", folder / "prefect.toml")
    if any(file.exists() for file in files):
        return True
    return _is_told_in(folder)


def _is_told_in(folder: Path) -> bool:
    """Whether a file for settings of many programs has some for Prefect; one that is broken is left to it."""
    variables, project = (_text_of(folder / name) for name in (".env", "pyproject.toml"))
    if "prefect_" in variables.lower():
        return True
    try:
        return "prefect" in tomllib.loads(project).get("tool", {})
    except tomllib.TOMLDecodeError:
        return True


def _text_of(file: Path) -> str:
    """What can be read of a file; nothing of one that is not there."""
    return file.read_text("utf-8", errors="replace") if file.is_file() else ""
