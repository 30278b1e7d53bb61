"""Drains: lanes that claim work of a stage until nothing is left, the time is up, or someone stops them."""

import contextvars
import gc
import logging
import math
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from models.claim import Claim
from models.errors import Code, DatabaseUnreachable, PagemillError, TransientError
from models.stage import Stage
from tasks.bells import Bells
from tasks.gate import Gate
from tasks.mill import Mill
from tasks.telemetry import sampled

log = logging.getLogger(__name__)

# Bells wake lanes for what this process brings. For what others bring, an idle lane asks the ledger again,
# ever more seldom: asking every half second cost 3 % of a core.
SHORTEST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 2.0
_LOOK_S = 0.2
_ASK_S = 0.5
_MOST_FAILURES = 8
_LONGEST_S = 60.0
"""It takes a person to make room on a full disk: a lane waits minutes for that, and then soon goes on."""
_GROWTH = 4

IsOver = Callable[[], bool]
Work = Callable[[Mill, list[Claim]], None]


class Lane(Protocol):
    """How a drain works one stage, in `lanes` threads."""

    @property
    def stage(self) -> Stage:
        """Whose work it claims."""
        ...

    @property
    def limit(self) -> int:
        """Most pieces of work of one task run."""
        ...

    @property
    def lanes(self) -> int:
        """Threads that do the same."""
        ...

    def run(self, mill: Mill, is_over: IsOver, deadline: float) -> None:
        """Work until over, until `deadline` on the monotonic clock, or until the mill is stopped."""
        ...


@dataclass(frozen=True, slots=True)
class Line:
    """Batches of at most `limit` claims, each worked off before the next is claimed.

    Two lanes overlap their batches: while the tail of one is worked off, the next keeps the workers busy.
    """

    stage: Stage
    work: Work
    limit: int
    lanes: int = 1
    first: int = 0
    """Claims of the first batch, when that is to be done soon; batches then grow. 0: at once the limit."""
    gate: Gate | None = None
    """What batches that have grown to its worth wait for."""

    def run(self, mill: Mill, is_over: IsOver, deadline: float) -> None:
        """As Lane says."""
        shift = Shift(self, mill, is_over, deadline)
        with mill.bells.listening(self.stage, shift.wake):
            while shift.goes_on:
                shift.turn(self.work)


class Shift:
    """One lane at work on a line: turn by turn it claims a batch and has it worked off, or waits a little."""

    def __init__(self, line: Line, mill: Mill, is_over: IsOver, deadline: float) -> None:
        self.count = 0
        """Claims that were worked off."""
        self._line, self._mill, self._is_over, self._deadline = line, mill, is_over, deadline
        self._news, self._patience = threading.Event(), Patience(mill, line.stage)
        self._pause_s, self._limit = SHORTEST_PAUSE_S, line.first or line.limit
        self._is_done = False
        self._broken_off: list[Claim] = []

    @property
    def goes_on(self) -> bool:
        """Whether there is, or may soon be, something to do."""
        is_stopped = self._is_done or self._mill.stopping.is_set()
        return not is_stopped and time.monotonic() < self._deadline

    def wake(self) -> None:
        """There may be new work. Called in any thread."""
        self._news.set()

    def turn(self, work: Work) -> None:
        """Claim a batch for `work`; without one, wait for news. `work` may take further turns itself."""
        line, mill = self._line, self._mill
        self._news.clear()
        claims: list[Claim] | None = None
        try:
            self._give_back()
            claims = self._claim()
            if claims:
                work(mill, claims)
                self.count += len(claims)
                mill.bells.worked(line.stage)
            elif claims is not None and self._is_over():
                self._is_done = True
        except (TransientError, DatabaseUnreachable) as error:
            self._broken_off += claims or []
            self._pause_s = self._patience.after(error)
        else:
            self._patience.restore()
            self._pause_s = 0 if claims else longer(self._pause_s)
            if claims is not None:
                self._limit = min(self._limit * _GROWTH, line.limit) if claims else line.first or line.limit
        if not self._is_done:
            _pause(mill, self._news, self._pause_s)

    def _give_back(self) -> None:
        """What broke off is claimed anew: some of it may be done, and leases would be renewed for ever."""
        if self._broken_off:
            self._mill.give_back(self._broken_off)
            self._broken_off = []

    def _claim(self) -> list[Claim] | None:
        """A batch; None while the gate is closed, or enough has been drawn that is not read yet."""
        gate, stage = self._line.gate, self._line.stage
        if stage is Stage.PREPROCESS and self._mill.prefetch.is_full(self._mill):
            return None
        if gate is None or self._limit < gate.worth:
            return self._mill.claim(stage, self._limit)
        with gate.lock:
            return self._mill.claim(stage, self._limit) if gate.opens(self._mill) else None


class Patience:
    """Passing errors of a lane, in a row: it goes on after a while, but not for ever."""

    def __init__(self, mill: Mill, stage: Stage) -> None:
        self._mill, self._stage, self._failures = mill, stage, 0

    def after(self, error: PagemillError) -> float:
        """Seconds to wait; raises `error` when there were too many in a row."""
        self._failures += 1
        if self._failures >= _MOST_FAILURES:
            raise error
        log.warning("%s lane: %s, try %d of %d", self._stage, error.code, self._failures, _MOST_FAILURES)
        delay = self._mill.settings.retry.of(self._stage).delay(self._failures, random.random())  # noqa: S311
        return min(delay, _LONGEST_S) if error.code is Code.STORE_FULL else delay

    def restore(self) -> None:
        """Something went well."""
        self._failures = 0


class Ending:
    """Whether a drain is over, asked by all its lanes when they are idle, and answered for all of them.

    What is over stays over, and every lane is woken to hear it. What goes on is asked about again when this
    process has worked meanwhile, or after some time.
    """

    def __init__(self, bells: Bells, is_over: IsOver) -> None:
        self._bells, self._is_over = bells, is_over
        self._lock = threading.Lock()
        self._is_told, self._asked_at, self._rung = False, -math.inf, 0

    def __call__(self) -> bool:
        """In any thread. Raises what the question raises."""
        with self._lock:
            was_told, now, rung = self._is_told, time.monotonic(), self._bells.rung
            if was_told or (rung == self._rung and now < self._asked_at + _ASK_S):
                return was_told
            self._is_told = self._is_over()
            self._asked_at, self._rung = now, rung
        if self._is_told:
            self._bells.wake_all()
        return self._is_told


def drain(mill: Mill, lines: Sequence[Lane], is_over: IsOver, budget_s: float | None = None) -> bool:
    """Work off all lines, unless the mill is stopped before; says whether. A mill serves one drain.

    Ends when `is_over` says so while every lane is idle, when `budget_s` seconds are spent (after the batches
    in hand), or when the mill is stopped. Raises what a lane raised; the other lanes then stop.
    """
    lanes = [line for line in lines for _ in range(line.lanes)]
    deadline = time.monotonic() + budget_s if budget_s else math.inf
    ending = Ending(mill.bells, is_over)
    with (
        _rare_collections(),
        mill.heartbeat(),
        sampled(mill),
        ThreadPoolExecutor(len(lanes), thread_name_prefix="lane") as pool,
    ):
        # Each lane gets the caller's context, so that its task runs belong to the flow run.
        futures = [
            pool.submit(contextvars.copy_context().run, line.run, mill, ending, deadline) for line in lanes
        ]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
            is_stopped = mill.stopping.is_set()
        finally:
            mill.stopping.set()
    for future in futures:
        future.result()
    return not is_stopped


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Let Python look for cycles of garbage seldom, as there are hardly any.

    A page in hand is a thousand small objects; looking through them again and again took 2 of 6 ms a page.
    What there is before, modules above all, is not looked through at all.
    """
    before = gc.get_threshold()
    gc.set_threshold(50_000, 20, 50)
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


def longer(pause: float) -> float:
    """The pause after a pause that brought nothing."""
    return min(max(pause, SHORTEST_PAUSE_S) * 2, LONGEST_PAUSE_S)


def _pause(mill: Mill, news: threading.Event, seconds: float) -> None:
    """Until there are news, but at most so long; whoever stops the mill is heard soon."""
    until = time.monotonic() + seconds
    while not mill.stopping.is_set() and (left := until - time.monotonic()) > 0:
        if news.wait(min(left, _LOOK_S)):
            return


def lingering(is_idle: Callable[[], bool], linger_s: float) -> IsOver:
    """An `is_over` for a drain of its own: over when there has been no work for `linger_s` seconds."""
    idle_since: list[float] = []

    def is_over() -> bool:
        if not is_idle():
            idle_since.clear()
            return False
        if not idle_since:
            idle_since.append(time.monotonic())
        return time.monotonic() - idle_since[0] >= linger_s

    return is_over
