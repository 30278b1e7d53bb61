"""Seats of a scripted server: so many requests run at once, the rest queue by priority."""

import asyncio
import heapq
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass
class Seats:
    """`--max-num-seqs` and the queue before it. One event loop's."""

    count: int
    running: int = 0
    most_open: int = 0
    """Most requests that were running or waiting at once."""
    _queue: list[tuple[int, int, asyncio.Future[None]]] = field(default_factory=list)
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    @property
    def waiting(self) -> int:
        """Requests in the queue."""
        return sum(not place.done() for _, _, place in self._queue)

    @asynccontextmanager
    async def seat(self, priority: int = 0) -> AsyncIterator[None]:
        """Wait for a seat, hold it while the body runs."""
        await self._sit(priority)
        try:
            yield
        finally:
            self.running -= 1
            self._call_next()

    async def _sit(self, priority: int) -> None:
        if self.running < self.count:
            self.running += 1
            self._note()
            return
        place = asyncio.get_running_loop().create_future()
        heapq.heappush(self._queue, (priority, next(self._numbers), place))
        self._note()
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                # It was called in the moment it went away: the seat is the next one's.
                self.running -= 1
                self._call_next()
            raise

    def _call_next(self) -> None:
        while self._queue and self.running < self.count:
            place = heapq.heappop(self._queue)[2]
            if not place.done():
                self.running += 1
                place.set_result(None)

    def _note(self) -> None:
        self.most_open = max(self.most_open, self.running + self.waiting)
