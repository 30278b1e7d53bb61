"""Drains: lanes that claim work of a stage until nothing is left, the time is up, or someone stops them."""

import contextvars
import logging
import math
import random
import time
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass

from models.claim import Claim
from models.errors import DatabaseUnreachable, TransientError
from models.stage import Stage
from tasks.mill import Mill

log = logging.getLogger(__name__)

# An idle lane asks the ledger again ever more seldom: asking every half second cost 3 % of a core.
_SHORTEST_PAUSE_S, _LONGEST_PAUSE_S = 0.02, 2.0
_MOST_FAILURES = 8


@dataclass(frozen=True, slots=True)
class Line:
    """How a drain works one stage: `lanes` threads, each with a batch of at most `limit` claims at a time.

    Two lanes overlap their batches: while the tail of one is worked off, the next keeps the workers busy.
    """

    stage: Stage
    work: Callable[[Mill, list[Claim]], None]
    limit: int
    lanes: int = 1


def drain(mill: Mill, lines: list[Line], is_over: Callable[[], bool], budget_s: float | None = None) -> None:
    """Work off all lines; a mill serves one drain.

    Ends when `is_over` says so while every lane is idle, when `budget_s` seconds are spent (after the batches
    in hand), or when the mill is stopped. Raises what a lane raised; the other lanes then stop.
    """
    lanes = [line for line in lines for _ in range(line.lanes)]
    deadline = time.monotonic() + budget_s if budget_s else math.inf
    with mill.heartbeat(), ThreadPoolExecutor(len(lanes), thread_name_prefix="lane") as pool:
        # Each lane gets the caller's context, so that its task runs belong to the flow run.
        futures = [
            pool.submit(contextvars.copy_context().run, _lane, mill, line, is_over, deadline)
            for line in lanes
        ]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            mill.stopping.set()
    for future in futures:
        future.result()


def _lane(mill: Mill, line: Line, is_over: Callable[[], bool], deadline: float) -> None:
    failures, pause = 0, _SHORTEST_PAUSE_S
    while not mill.stopping.is_set() and time.monotonic() < deadline:
        try:
            claims = mill.claim(line.stage, line.limit)
            if claims:
                line.work(mill, claims)
            elif is_over():
                return
        except (TransientError, DatabaseUnreachable) as error:
            failures += 1
            if failures >= _MOST_FAILURES:
                raise
            log.warning("%s lane: %s, try %d of %d", line.stage, error.code, failures, _MOST_FAILURES)
            pause = mill.settings.retry.of(line.stage).delay(failures, random.random())  # noqa: S311
        else:
            failures = 0
            pause = 0 if claims else min(max(pause, _SHORTEST_PAUSE_S) * 2, _LONGEST_PAUSE_S)
        mill.stopping.wait(pause)


def lingering(is_idle: Callable[[], bool], linger_s: float) -> Callable[[], bool]:
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
