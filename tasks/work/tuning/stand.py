"""The real servers that a tuning starts, one at a time, on one GPU or the CPU."""

import math
import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from models.profile import Profile
from tasks.work.serving import visit
from tasks.work.serving.plan import Plan
from tasks.work.serving.supervisor import Patience
from tasks.work.serving.tested import OptionRecord
from tasks.work.tuning.pages import OwnPages
from tasks.work.tuning.trial import Outcome, read

_LEAST_START_S, _LONGER = 60.0, 3.0
"""The first start is the longest as a rule: it fills caches of compiled code."""
_FEW = 64
"""So many pages are read whatever they take: fewer say little."""


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
    _servers: int = 0
    _first_start_s: float = 0.0

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
        """No more than the profile allows, nor than a quarter of the pages: else the server is never full.

        Of few pages half, or there were nothing to tune.
        """
        share = 4 if self.pages >= _FEW else 2
        return max(1, min(self.plan.vlm.most_in_flight, self.pages // share))

    @contextmanager
    def serving(self, flags: tuple[str, ...]) -> Iterator[str]:
        """The URL of a server that has proven that it reads; ended afterwards. Raises EngineUnavailable."""
        plan = replace(self.plan, extra=(*self.plan.extra, *flags))
        self._servers += 1
        log = self.logs / f"{self._servers:02}.log"
        self.tell(f"Starting a server{' with ' + shlex.join(flags) if flags else ', untuned'}; log {log}")
        began = time.monotonic()
        with visit.serving(plan, log, self._patience_now(), lambda _: None) as url:
            self._first_start_s = self._first_start_s or time.monotonic() - began
            yield url

    def _patience_now(self) -> Patience:
        """Once a server has started, none is waited for much longer: that would use up the budget."""
        known = max(_LEAST_START_S, _LONGER * self._first_start_s) if self._first_start_s else math.inf
        return replace(self.patience, starts=1, start_s=min(self.patience.start_s, known))

    def settle(self, url: str, most_s: float) -> None:
        """Keep as many of many pages as are read within `most_s`. Raises EngineUnavailable."""
        if self.pages <= _FEW:
            return
        some = self.own.at(self.resolution)[:_FEW]
        speed = read(self._profile, url, self.plan.api_key, some, None).pages_per_s
        self.own.keep(max(_FEW, round(speed * most_s)))
        self.tell(f"{self.pages} pages are read each time")

    def read(self, url: str, resolution: str, in_flight: int | None, most_s: float | None) -> Outcome:
        """Have all pages read. Raises EngineUnavailable; ConfigurationError for pages not to be made so."""
        requests = self.own.at(resolution)
        return read(self._profile, url, self.plan.api_key, requests, in_flight, most_s=most_s)

    @property
    def _profile(self) -> Profile:
        vlm = self.plan.vlm
        widths = {"most_in_flight": self.most_in_flight}
        widths["least_in_flight"] = min(vlm.least_in_flight, self.most_in_flight)
        return self.plan.profile.model_copy(update={"vlm": vlm.model_copy(update=widths)})

    def failed_before(self, flags: tuple[str, ...]) -> str:
        """Why these flags failed on this machine with these versions; empty when they did not."""
        known = self.record.of(self.plan, self.gpu, flags)
        return "" if known is None or known.works else known.said

    def note(self, flags: tuple[str, ...], *, works: bool, said: str) -> None:
        """Write down how these flags did, where `pagemill serve` keeps how options did."""
        self.record.keep(self.plan, self.gpu, works=works, said=said, flags=flags)
