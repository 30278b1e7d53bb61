"""A server for the time of a `with`: started, proven, and ended again."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from models.errors import EngineUnavailable
from tasks.work.ports import check_port
from tasks.work.serving.plan import Plan
from tasks.work.serving.supervisor import Patience, State, Supervised

_LOOK_S = 0.5
_SETTLE_S = 4.0
"""After the end of a server its GPU memory takes a moment to come back."""
_SAID_CHARS = 300
_ERROR = re.compile(r"(?:^|\s)([\w.]*(?:Error|Exception): \S.*|error: .*)$")


@contextmanager
def serving(plan: Plan, log: Path, patience: Patience, tell: Callable[[str], None]) -> Iterator[str]:
    """The URL of the first server of a plan, once it has proven that it reads.

    Raises EngineUnavailable; EnvironmentFault where its port is in use.
    """
    server = plan.servers()[0]
    check_port(plan.host, server.port)
    watched = Supervised(server, log, patience=patience, tell=tell)
    watched.start()
    try:
        while watched.state is State.STARTING:
            time.sleep(_LOOK_S)
            watched.tick()
        if watched.state is not State.READY:
            raise EngineUnavailable(f"It did not start: {why_not(log)} (log {log})")
        yield server.url
    finally:
        watched.stop()
        if plan.gpus:
            time.sleep(_SETTLE_S)


def why_not(log: Path) -> str:
    """What a server's log gives as the reason of its end: the last error it names, else its last line.

    vLLM ends with an error that only says that there was one before.
    """
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    errors = [found[1] for line in lines if (found := _ERROR.search(line))]
    told = [error for error in errors if "root cause" not in error]
    return (told or lines or ["it said nothing"])[-1][:_SAID_CHARS]
