"""Pages on their way through the client."""

import heapq
import itertools
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from models.engine import OcrRequest
from models.reading import Reading


# Without a repr: anyio names tasks with the arguments of their callbacks, and so all of a page's text layer.
@dataclass(eq=False, slots=True, repr=False, weakref_slot=True)
class Job:
    """A page and the future that waits for it."""

    request: OcrRequest
    outer: Future[Reading]
    deaths: int = 0
    """Server deaths while it was in flight."""
    breaks: int = 0
    """Requests that a living server broke off."""
    sent_at: float = 0.0
    is_over: bool = False

    def succeed(self, reading: Reading) -> None:
        """End well."""
        self._end(lambda: self.outer.set_result(reading))

    def fail(self, error: Exception) -> None:
        """End with an error."""
        self._end(lambda: self.outer.set_exception(error))

    def withdraw(self) -> None:
        """End cancelled; whoever waits in `concurrent.futures.wait` is told only now."""
        self.outer.cancel()
        self._end(lambda: None)

    def _end(self, settle: Callable[[], None]) -> None:
        if self.is_over:
            return
        self.is_over = True
        if self.outer.set_running_or_notify_cancel():
            settle()


@dataclass
class Queue:
    """Pages that wait, the most urgent first, then in order of arrival."""

    _heap: list[tuple[int, int, Job]] = field(default_factory=list)
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    def __len__(self) -> int:
        """Pages that wait."""
        return len(self._heap)

    def put(self, job: Job) -> None:
        """Add a page."""
        heapq.heappush(self._heap, (job.request.priority, next(self._numbers), job))

    def take(self) -> Job | None:
        """The next page that still wants to be read."""
        while self._heap:
            job = heapq.heappop(self._heap)[2]
            if not job.is_over:
                return job
        return None

    def clear(self) -> list[Job]:
        """Take all."""
        jobs = [job for _, _, job in self._heap]
        self._heap.clear()
        return jobs
