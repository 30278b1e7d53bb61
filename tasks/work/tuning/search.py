"""The order in which settings are tried: the client's first, a server flag at a time, then the best together.

A start of a server costs a minute or two, a measurement seconds: what needs no start is tried on the untuned
server, each flag on a fresh one, so that no cache knows the pages yet.
"""

import logging
import math
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from models.errors import EngineUnavailable, PagemillError
from tasks.work.tuning.choices import Choice
from tasks.work.tuning.row import Row, State
from tasks.work.tuning.trial import Outcome, distance

log = logging.getLogger(__name__)

RESOLUTIONS = ("legible", "fixed", "max")
RESOLUTION, IN_FLIGHT = "resolution", "in-flight"
CLIENT = frozenset({RESOLUTION, IN_FLIGHT})
"""What needs no other server."""
_WIDTHS = (512, 256, 128, 64, 32, 16, 8, 4)
_LEAST_GAIN = 0.02
"""Less is taken for noise even where two equal measurements agree better."""
_MEASUREMENTS = 20
"""That a tuning should have time for, besides the starts of servers."""
_FAR_BEHIND = 1.5
"""So many times as long as the fastest took nobody waits for another: on a GPU one slow try costs minutes."""
UNTUNED = "untuned"


class Bench(Protocol):
    """Servers to be had, and measurements on them."""

    @property
    def resolution(self) -> str:
        """The profile's own."""
        ...

    @property
    def most_in_flight(self) -> int:
        """Requests at once, at most."""
        ...

    def serving(self, flags: tuple[str, ...]) -> AbstractContextManager[str]:
        """The URL of a server with these flags besides the usual ones. Raises EngineUnavailable."""
        ...

    def settle(self, url: str, most_s: float) -> None:
        """Warm up, and keep no more pages than are read within `most_s`. Raises EngineUnavailable."""
        ...

    def read(self, url: str, resolution: str, in_flight: int | None, most_s: float | None) -> Outcome:
        """Have all pages read, for `most_s` seconds at most.

        Raises EngineUnavailable; ConfigurationError for pages not to be made so.
        """
        ...

    def failed_before(self, flags: tuple[str, ...]) -> str:
        """Why these flags failed when they were tried before; empty when they did not."""
        ...

    def note(self, flags: tuple[str, ...], *, works: bool, said: str) -> None:
        """Write down how these flags did, for the next time."""
        ...


@dataclass(slots=True)
class Search:
    """One tuning. `keep` gets every row as soon as there is one."""

    bench: Bench
    choices: Sequence[Choice]
    budget_s: float
    most_different: float
    """Largest share of characters that may differ from the untuned answers."""
    keep: Callable[[Row], None]
    client: frozenset[str] = CLIENT
    """Which of the client's settings are tried."""
    now: Callable[[], float] = time.monotonic
    rows: list[Row] = field(default_factory=list)
    _texts: tuple[str | None, ...] = ()
    _started: float = 0.0
    _dearest_s: float = 0.0
    """What a start and a measurement have cost at most."""
    _gain: float = _LEAST_GAIN
    _fastest_s: float = math.inf
    """What all pages took at best."""

    def run(self) -> Row:
        """Search until all is tried or the time is used up; the best row, `untuned` when nothing was better.

        Raises EngineUnavailable when not even the untuned server reads the pages.
        """
        self._started = self.now()
        client = self._on_the_untuned_server()
        winners: dict[str, Row] = {}
        for choice in self.choices:
            row = self._try(choice, client, reserve=2 if winners else 1)
            if self._is_better(row, winners.get(choice.factor, client)):
                winners[choice.factor] = row
        best = max([client, *winners.values()], key=lambda row: row.pages_per_s)
        if len(winners) > 1:
            together = self._together(list(winners.values()), client)
            best = together if self._is_better(together, best) else best
        return best

    def _on_the_untuned_server(self) -> Row:
        """The profile as it is, twice, then what the client alone can do; the best of these rows."""
        began = self.now()
        with self.bench.serving(()) as url:
            start_s = self.now() - began
            self.bench.settle(url, self.budget_s / _MEASUREMENTS)
            outcome = self.bench.read(url, self.bench.resolution, None, None)
            self._texts = outcome.texts
            best = self._add(Row(what=UNTUNED, start_s=start_s), outcome, self.bench.resolution, None)
            if best.failed == best.pages:
                raise EngineUnavailable(
                    "The untuned server read none of the pages: there is nothing to tune."
                )
            self._dearest_s = self.now() - began
            best = self._twice(url, best)
            try:
                best = self._with_client(url, best)
            except EngineUnavailable as error:
                self._add_only(Row(what="client settings", state=State.FAILED, said=error.message))
        return best

    def _twice(self, url: str, first: Row) -> Row:
        """The faster of two equal measurements; what they are apart is neither gain nor other answers."""
        again = self._measure(url, Row(what=f"{UNTUNED}, again"), first.resolution, None)
        self._gain = max(_LEAST_GAIN, abs(again.pages_per_s / first.pages_per_s - 1))
        self.most_different = max(self.most_different, again.distance)
        return untuned_of(self.rows)

    def _with_client(self, url: str, best: Row) -> Row:
        for resolution in RESOLUTIONS if RESOLUTION in self.client else ():
            if resolution != self.bench.resolution and self._has_time(0):
                draft = Row(what=f"resolution {resolution}", factor=RESOLUTION)
                row = self._measure(url, draft, resolution, None)
                best = row if self._is_better(row, best) else best
        return self._with_widths(url, best)

    def _with_widths(self, url: str, best: Row) -> Row:
        """From the most requests in flight to fewer, until fewer are slower."""
        wider = 0.0
        for width in _WIDTHS if IN_FLIGHT in self.client else ():
            if width <= self.bench.most_in_flight and self._has_time(0):
                draft = Row(what=f"{width} in flight", factor=IN_FLIGHT)
                row = self._measure(url, draft, best.resolution, width)
                best = row if self._is_better(row, best) else best
                if row.pages_per_s < wider * (1 - self._gain):
                    break
                wider = row.pages_per_s
        return best

    def _try(self, choice: Choice, client: Row, reserve: int) -> Row:
        draft = Row(what=choice.name, factor=choice.factor, flags=choice.flags)
        if choice.unsafe:
            return self._add_only(draft.model_copy(update={"state": State.UNSAFE, "said": choice.unsafe}))
        if said := self.bench.failed_before(choice.flags):
            return self._add_only(draft.model_copy(update={"state": State.KNOWN, "said": said}))
        if not self._has_time(reserve):
            return self._add_only(draft.model_copy(update={"state": State.NO_TIME}))
        return self._on_a_server(draft, client)

    def _together(self, winners: Sequence[Row], client: Row) -> Row:
        flags = tuple(word for row in winners for word in row.flags)
        draft = Row(what="the best together", factor="together", flags=flags)
        if not self._has_time(1):
            return self._add_only(draft.model_copy(update={"state": State.NO_TIME}))
        return self._on_a_server(draft, client)

    def _on_a_server(self, draft: Row, client: Row) -> Row:
        began = self.now()
        try:
            with self.bench.serving(draft.flags) as url:
                started = draft.model_copy(update={"start_s": self.now() - began})
                row = self._measure(url, started, client.resolution, client.in_flight)
        except EngineUnavailable as error:
            self.bench.note(draft.flags, works=False, said=error.message)
            return self._add_only(draft.model_copy(update={"state": State.FAILED, "said": error.message}))
        finally:
            self._dearest_s = max(self._dearest_s, self.now() - began)
        self.bench.note(draft.flags, works=True, said=f"{row.pages_per_s:.3f} pages/s")
        return row

    def _measure(self, url: str, draft: Row, resolution: str, in_flight: int | None) -> Row:
        try:
            outcome = self.bench.read(url, resolution, in_flight, self._fastest_s * _FAR_BEHIND)
        except EngineUnavailable:
            raise
        except PagemillError as error:
            return self._add_only(draft.model_copy(update={"state": State.FAILED, "said": error.message}))
        return self._add(draft, outcome, resolution, in_flight)

    def _add(self, draft: Row, outcome: Outcome, resolution: str, in_flight: int | None) -> Row:
        apart = distance(self._texts, outcome.texts)
        lost = outcome.failed - sum(text is None for text in self._texts)
        is_other = draft.what != f"{UNTUNED}, again" and (apart > self.most_different or lost > 0)
        state = State.DIFFERENT if is_other else State.SLOWER if outcome.unread else State.MEASURED
        said = f"{outcome.read} of {len(outcome.texts)} pages in {outcome.seconds:.0f} s"
        if state is State.MEASURED:
            self._fastest_s = min(self._fastest_s, outcome.seconds)
        figures = {
            "state": state,
            "resolution": resolution,
            "in_flight": in_flight,
            "pages": len(outcome.texts) - outcome.unread,
            "failed": outcome.failed,
            "seconds": outcome.seconds,
            # Of those that were not waited for only this is known: all pages would have taken longer.
            "pages_per_s": len(outcome.texts) / outcome.seconds if outcome.unread else outcome.pages_per_s,
            "tokens_per_s": outcome.tokens_out / outcome.seconds,
            "distance": apart,
            "said": said if outcome.unread else "",
        }
        return self._add_only(draft.model_copy(update=figures))

    def _add_only(self, row: Row) -> Row:
        self.rows.append(row)
        self.keep(row)
        return row

    def _is_better(self, row: Row, best: Row) -> bool:
        return row.state is State.MEASURED and row.pages_per_s > best.pages_per_s * (1 + self._gain)

    def _has_time(self, starts: int) -> bool:
        """Whether there is time left for so many more starts; for none: whether there is any."""
        return self.now() - self._started + starts * self._dearest_s < self.budget_s


def untuned_of(rows: Sequence[Row]) -> Row:
    """What all others are held against: the faster of the untuned rows, since the first one warms up."""
    return max((row for row in rows if row.what.startswith(UNTUNED)), key=lambda row: row.pages_per_s)
