"""The real servers that a tuning starts, one at a time, on one GPU or the CPU."""

import re
import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from models.errors import EngineUnavailable
from tasks.work.serving.plan import Plan
from tasks.work.serving.supervisor import Patience, State, Supervised
from tasks.work.serving.tested import OptionRecord
from tasks.work.tuning.pages import OwnPages
from tasks.work.tuning.trial import Outcome, read

_LOOK_S = 0.5
_SAID_CHARS = 300
_ERROR = re.compile(r"(?:^|\s)([\w.]*(?:Error|Exception): \S.*|error: .*)$")


@dataclass(slots=True)
class Stand:
    """Speaks tasks.work.tuning.search.Bench."""

    plan: Plan
    """Of one server; what is tried comes behind its further flags and wins."""
    own: OwnPages
    record: OptionRecord
    gpu: str
    """Its name; empty for the CPU."""
    logs: Path
    patience: Patience
    tell: Callable[[str], None]
    settle_s: float = 4.0
    """After the end of a server its GPU memory takes a moment to come back."""
    _servers: int = 0

    @property
    def resolution(self) -> str:
        """The profile's own."""
        return self.plan.profile.resolution

    @property
    def pages(self) -> int:
        """How many are read in each measurement."""
        return len(self.own.pages)

    @property
    def most_in_flight(self) -> int:
        """More requests at once than the profile allows are not tried."""
        return self.plan.vlm.most_in_flight

    @contextmanager
    def serving(self, flags: tuple[str, ...]) -> Iterator[str]:
        """The URL of a server that has proven that it reads; ended afterwards. Raises EngineUnavailable."""
        server = replace(self.plan, extra=(*self.plan.extra, *flags)).servers()[0]
        self._servers += 1
        log = self.logs / f"{self._servers:02}.log"
        self.tell(f"Starting a server{' with ' + shlex.join(flags) if flags else ', untuned'}; log {log}")
        watched = Supervised(server, log, patience=replace(self.patience, starts=1), tell=lambda _: None)
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
            if self.plan.gpus:
                time.sleep(self.settle_s)

    def read(self, url: str, resolution: str, in_flight: int | None) -> Outcome:
        """Have all pages read. Raises EngineUnavailable; ConfigurationError for pages not to be made so."""
        requests = self.own.at(resolution)
        return read(self.plan.profile, url, self.plan.api_key, requests, in_flight)

    def failed_before(self, flags: tuple[str, ...]) -> str:
        """Why these flags failed on this machine with these versions; empty when they did not."""
        known = self.record.of(self.plan, self.gpu, flags)
        return "" if known is None or known.works else known.said

    def note(self, flags: tuple[str, ...], *, works: bool, said: str) -> None:
        """Write down how these flags did, where `pagemill serve` keeps how options did."""
        self.record.keep(self.plan, self.gpu, works=works, said=said, flags=flags)


def why_not(log: Path) -> str:
    """What a server's log gives as the reason of its end: the last error it names, else its last line.

    vLLM ends with an error that only says that there was one before.
    """
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    errors = [found[1] for line in lines if (found := _ERROR.search(line))]
    told = [error for error in errors if "root cause" not in error]
    return (told or lines or ["it said nothing"])[-1][:_SAID_CHARS]
