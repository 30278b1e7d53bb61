"""The client of served models: pages go out from one thread, answers come back as readings."""

import asyncio
import logging
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import partial

from models.engine import OcrRequest
from models.errors import ConfigurationError, EnvironmentFault
from models.profile import Profile
from models.reading import Reading
from models.servers import OcrServers
from models.vlm import Vlm
from tasks.work.engines.vllm.dispatch import Dispatcher
from tasks.work.engines.vllm.hearing import Hearing
from tasks.work.engines.vllm.jobs import Job
from tasks.work.engines.vllm.keeper import Keeper
from tasks.work.engines.vllm.patience import Patience
from tasks.work.engines.vllm.reader import PageReader
from tasks.work.engines.vllm.server import Server, connect
from tasks.work.engines.vllm.steering import Steering

log = logging.getLogger(__name__)

_FIRST_LOOK_S, _HEARING_S = 8.0, 120.0
"""So long an engine is being opened at most; the second where servers read golden pages meanwhile."""
_PATIENCE_LOOK_S = 0.5


class VllmEngine:
    """Speaks OcrEngine over the network: one thread, one event loop, one pool of connections.

    Pages that no server has room for wait inside; while no server reads at all they go on waiting, up to
    `servers.wait_s`, and then end with EngineUnavailable. Raises ConfigurationError at once when a server
    answers but is the wrong one: other model, key refused, unknown host, no OpenAI API, golden pages misread.
    """

    def __init__(self, profile: Profile, vlm: Vlm, servers: OcrServers) -> None:
        self.name = profile.name
        self._wait_s = servers.wait_s
        self._profile, self._vlm = profile, vlm
        self._home = servers.golden if vlm.most_errors else None
        self._started = threading.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._main(servers)), name=f"ocr-{profile.name}", daemon=True
        )
        self._thread.start()
        self._started.wait()
        try:
            self._first_look()
        except (ConfigurationError, EnvironmentFault):
            self.close()
            raise

    @property
    def slots(self) -> int:
        """Requests that all servers together are given at once; changes as they tell how they do."""
        limits = [server.steering.limit for server in self._servers if server.is_proven]
        return sum(limits) or self._vlm.least_in_flight * len(self._servers)

    @property
    def waiting_for(self) -> str:
        """Why no page is read just now: what is wrong with the servers. Empty while one reads."""
        if any(server.is_proven for server in self._servers):
            return ""
        return "; ".join(f"{server.label}: {server.reason}" for server in self._servers)

    def submit(self, request: OcrRequest) -> Future[Reading]:
        """Have a page read; the future ends as OcrEngine says. Cancelling it closes the connection."""
        outer: Future[Reading] = Future()
        job = Job(request, outer)
        # Weakly: future and job in a circle would keep page and answer until Python looks for garbage.
        outer.add_done_callback(partial(self._ended, weakref.ref(job)))
        self._call(self._dispatcher.put, job)
        return outer

    def _ended(self, job: "weakref.ref[Job]", done: Future[Reading]) -> None:
        if done.cancelled() and (withdrawn := job()) is not None:
            self._call(self._dispatcher.withdraw, withdrawn)

    def facts(self) -> Mapping[str, str]:
        """Versions, models and addresses of the servers, as far as they have answered."""
        told = {
            "server": [server.label for server in self._servers],
            "vllm": [server.version for server in self._servers],
            "model": [server.root for server in self._servers],
            "golden": [
                f"{server.label}: {server.errors:.1%} of characters wrong"
                for server in self._servers
                if server.errors is not None
            ],
        }
        return {name: ", ".join(sorted(set(filter(None, values)))) for name, values in told.items()}

    def close(self) -> None:
        """Cancel what is in hand and close all connections."""
        with suppress(RuntimeError):  # closed before
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _call(self, what: Callable[[Job], None], job: Job) -> None:
        try:
            self._loop.call_soon_threadsafe(what, job)
        except RuntimeError:  # the loop has ended, and with it every page
            job.withdraw()

    def _first_look(self) -> None:
        async def look() -> None:
            await asyncio.gather(*(server.looked.wait() for server in self._servers))

        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(look(), self._loop).result(
                _HEARING_S if self._home else _FIRST_LOOK_S
            )
        for server in self._servers:
            if server.refusal:
                raise server.refusal

    async def _main(self, servers: OcrServers) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        async with connect(servers.api_key) as client:
            self._servers = [
                Server(url, self._vlm, client, _steering(self._vlm, servers)) for url in servers.urls
            ]
            read = PageReader(self._vlm)
            self._dispatcher = Dispatcher(self._servers, read)
            self._started.set()
            hearing = Hearing(self._profile, self._home, read) if self._home else None
            keepers = [
                asyncio.ensure_future(Keeper(one, self._dispatcher, hearing).run()) for one in self._servers
            ]
            keepers.append(asyncio.ensure_future(self._mind_patience()))
            await self._stop.wait()
            self._dispatcher.close()
            for keeper in keepers:
                keeper.cancel()
            await asyncio.gather(*keepers, return_exceptions=True)

    async def _mind_patience(self) -> None:
        patience = Patience(self._wait_s, time.monotonic())
        while True:
            await asyncio.sleep(_PATIENCE_LOOK_S)
            why = self.waiting_for
            if patience.is_over(bool(why), self._dispatcher.waiting, time.monotonic()):
                told = (
                    f"No OCR server reads after {self._wait_s:.0f} s of waiting (PAGEMILL_OCR_WAIT_S): {why}."
                    f" Start it with 'pagemill serve {self.name}' or correct PAGEMILL_OCR_URL, and run the "
                    "same again."
                )
                log.warning("gave up pages=%d: %s", self._dispatcher.give_up(told), why)


def _steering(vlm: Vlm, servers: OcrServers) -> Steering:
    if servers.in_flight:
        return Steering(servers.in_flight, servers.in_flight)
    return Steering(vlm.least_in_flight, vlm.most_in_flight)
