"""Who reads which page when: the queue of the client and what becomes of requests that fail."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from models.errors import Code, EngineUnavailable, PageFailed
from models.reading import Reading
from tasks.work.engines.vllm.faults import Away, Broken, Busy, Overdue
from tasks.work.engines.vllm.jobs import Job, Queue
from tasks.work.engines.vllm.server import Server

log = logging.getLogger(__name__)

MOST_DEATHS = 2
_MOST_BREAKS = 4
_BREAK_PAUSE_S = 0.25

Read = Callable[[Job, Server], Awaitable[Reading]]


class Dispatcher:
    """Sends pages to the servers that have room, the one with the least outstanding first.

    A page that was in flight when a server died is a suspect: it may be what killed it. Each server gets one
    suspect at a time besides other pages, so that a page that kills servers takes no other suspect along.
    One loop's; nothing here waits.
    """

    def __init__(self, servers: Sequence[Server], read: Read) -> None:
        self._servers = servers
        self._read = read
        self._queue, self._suspects = Queue(), Queue()
        self._later: dict[asyncio.TimerHandle, Job] = {}

    @property
    def waiting(self) -> int:
        """Pages that no server works on."""
        return len(self._queue) + len(self._suspects)

    def put(self, job: Job) -> None:
        """Take a page in, or back."""
        (self._suspects if job.deaths else self._queue).put(job)
        self.pump()

    def pump(self) -> None:
        """Send what there is room for."""
        while self.waiting:
            server = max(self._servers, key=lambda one: (one.room > 0, -len(one.open)))
            job = self._next(server) if server.room > 0 else None
            if job is None:
                return
            job.sent_at = time.monotonic()
            task = asyncio.ensure_future(self._work(job, server))
            server.open[job] = task
            # Not in the task's own words: one that is cancelled before it began has none.
            task.add_done_callback(partial(self._done, job, server))

    def withdraw(self, job: Job) -> None:
        """Nobody wants this page any more: its connection is closed, so that the server stops as well."""
        job.withdraw()
        for server in self._servers:
            if job in server.open:
                server.open[job].cancel()

    def fell(self, server: Server) -> None:
        """A server died or is wedged: what it had in hand goes to others, or back into the queue."""
        lost = [*server.open, *server.broken, *server.overdue]
        for task in server.open.values():
            task.cancel()
        server.open.clear()
        server.broken.clear()
        server.overdue.clear()
        for job in lost:
            self._survive(job)

    def excuse(self, server: Server, failed: Sequence[Job]) -> None:
        """The server lives and works: what it broke off is sent again a few times, what was late is over.

        `failed`: what had failed before it was asked whether it lives. What failed since may be its death.
        """
        broken = [job for job in server.broken if job in failed]
        overdue = [job for job in server.overdue if job in failed]
        server.broken = [job for job in server.broken if job not in failed]
        server.overdue = [job for job in server.overdue if job not in failed]
        for job in broken:
            job.breaks += 1
            if job.breaks >= _MOST_BREAKS:
                job.fail(EngineUnavailable(f"The OCR server broke off this page {job.breaks} times."))
            else:
                self._put_later(job, _BREAK_PAUSE_S * 2**job.breaks)
        for job in overdue:
            job.fail(_too_late())
        self.pump()

    def give_up(self, reason: str) -> int:
        """End all that waits; says how many."""
        jobs = [*self._queue.clear(), *self._suspects.clear()]
        for job in jobs:
            job.fail(EngineUnavailable(reason))
        return len(jobs)

    def close(self) -> None:
        """Cancel all that is in hand, that which waits first: nothing is sent any more."""
        for handle in self._later:
            handle.cancel()
        in_hand = [job for server in self._servers for job in (*server.open, *server.broken, *server.overdue)]
        for job in [*self._queue.clear(), *self._suspects.clear(), *self._later.values(), *in_hand]:
            self.withdraw(job)

    def _next(self, server: Server) -> Job | None:
        has_suspect = len(self._suspects) > 0 and any(job.deaths for job in server.open)
        return (None if has_suspect else self._suspects.take()) or self._queue.take()

    async def _work(self, job: Job, server: Server) -> None:
        try:
            job.succeed(await self._read(job, server))
        except Exception as error:
            if self._is_returned(job, server, asyncio.current_task()):
                self._take(error, job, server)

    def _done(self, job: Job, server: Server, task: "asyncio.Task[None]") -> None:
        self._is_returned(job, server, task)
        self.pump()

    @staticmethod
    def _is_returned(job: Job, server: Server, task: "asyncio.Task[None] | None") -> bool:
        """Whether the page was in the server's hand by this task, which it is no more.

        A page is in one place at a time: else a server that falls at that moment would lose it twice over.
        """
        if server.open.get(job) is not task:
            return False
        del server.open[job]
        return True

    def _take(self, error: Exception, job: Job, server: Server) -> None:
        match error:
            case Away():
                self._put_later(job, _BREAK_PAUSE_S)
                server.is_proven, server.reason = False, str(error)
            case Broken():
                server.broken.append(job)
            case Busy(after_s=pause):
                server.steering.refused()
                self._put_later(job, pause)
                return
            case Overdue() if server.moved_at < job.sent_at:
                server.overdue.append(job)
            case Overdue():
                job.fail(_too_late())
                return
            case _:
                job.fail(error)
                return
        log.info("request failed server=%s: %s", server.label, error)
        server.alarm.set()

    def _survive(self, job: Job) -> None:
        if job.is_over:
            return
        job.deaths += 1
        if job.deaths >= MOST_DEATHS:
            job.fail(
                PageFailed(
                    f"The OCR server died {job.deaths} times while it read this page; it is not tried again.",
                    Code.QUARANTINED,
                )
            )
        else:
            self._suspects.put(job)

    def _put_later(self, job: Job, seconds: float) -> None:
        def put() -> None:
            del self._later[handle]
            self.put(job)

        handle = asyncio.get_running_loop().call_later(seconds, put)
        self._later[handle] = job


def _too_late() -> PageFailed:
    return PageFailed("The OCR server did not read the page by its deadline.", Code.OCR_TIMEOUT)
