"""A scripted server on a real port, in a thread of its own."""

import asyncio
import logging
import socket
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Self, TypeVar

import uvicorn

from tasks.work.doubles.vllm_server.app import Desk, Mood
from tasks.work.doubles.vllm_server.model import Model
from tasks.work.doubles.vllm_server.record import Counters, Entry
from tasks.work.doubles.vllm_server.script import UNSCRIPTED, Answer, Prompter, Script
from tasks.work.doubles.vllm_server.seats import Seats

log = logging.getLogger(__name__)
T = TypeVar("T")

_START_S = 60.0


class ScriptedVllm:
    """Speaks vLLM's API over HTTP and answers by a script.

        with ScriptedVllm([Said("page 1"), bad_request("torn"), Said("third", seconds=0.2)]) as server:
            ...PAGEMILL_OCR_URL=server.url

    `script`: one answer for everything; a sequence, request by request; a mapping from a picture's SHA-256
    to an answer or to several, given one after the other, the last again and again; or a function of the
    request. `default` answers what a sequence or mapping does not. Requests for at most 16 reply tokens are
    taken for proofs of life: they are answered outside the script and not logged.

    Open requests hold one of `slots` seats, the rest queue. `down_s`: nobody listens for so long at first.
    `host`: the address to listen at.
    Attributes may be read from any thread.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        default: Answer = UNSCRIPTED,
        model: Model | None = None,
        slots: int = 8,
        port: int = 0,
        down_s: float = 0.0,
        host: str = "127.0.0.1",
    ) -> None:
        self.model = model or Model()
        self._prompter, self._slots, self._port, self._down_s = Prompter(script, default), slots, port, down_s
        self._host = host
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="scripted-vllm", daemon=True)
        self._desk = Desk(self.model, self._prompter, Seats(slots), self._die_soon)
        self._server: uvicorn.Server | None = None
        self._serving: asyncio.Task[None] | None = None
        self.deaths = 0

    def __enter__(self) -> Self:
        """Listen; returns when it does, or at once when it is to be down at first."""
        self._held = _bound(self._host, self._port)
        self._port = self._held.getsockname()[1]
        self._thread.start()
        if self._down_s:
            self._soon(self._back_after(self._down_s))
        else:
            self._call(self._up())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop listening, break what is open, end the thread."""
        self._call(self._down())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._held.close()

    @property
    def url(self) -> str:
        """Base URL, without /v1."""
        return f"http://{self._host}:{self._port}"

    @property
    def entries(self) -> list[Entry]:
        """Every request that was understood, in order, proofs left out."""
        return list(self._desk.entries)

    @property
    def proofs(self) -> int:
        """Requests that only wanted a sign of life."""
        return self._desk.proofs

    @property
    def open(self) -> int:
        """Requests in work or queued now."""
        return self._desk.seats.running + self._desk.seats.waiting

    @property
    def most_open(self) -> int:
        """Most requests that were in work or queued at once."""
        return self._desk.seats.most_open

    @property
    def aborted(self) -> int:
        """Requests whose client went away before the answer."""
        return sum(entry.outcome == "aborted" for entry in self._desk.entries)

    def feel(self, mood: Mood) -> None:
        """Let the engine be well, wedged or dead from now on."""
        self._loop.call_soon_threadsafe(self._turn, mood)

    def die(self, down_s: float | None = None) -> None:
        """Break all connections and stop listening: for `down_s` seconds, or until `revive`."""
        self._call(self._down())
        if down_s is not None:
            self._soon(self._back_after(down_s))

    def revive(self) -> None:
        """Listen again on the same port, as a new process: counters from zero."""
        self._call(self._up())

    def _turn(self, mood: Mood) -> None:
        self._desk.mood = mood
        self._desk.wakes.set()

    def _die_soon(self, down_s: float) -> None:
        self._soon(self._fall(down_s))

    async def _fall(self, down_s: float) -> None:
        await self._down()
        await self._back_after(down_s)

    async def _back_after(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await self._up()

    async def _up(self) -> None:
        desk = self._desk
        desk.counters, desk.mood = Counters(), Mood.WELL
        # As vLLM has it: idle connections are kept for 5 s.
        config = uvicorn.Config(
            desk.app(), lifespan="off", log_config=None, access_log=False, ws="none", timeout_keep_alive=5
        )
        self._server = uvicorn.Server(config)
        self._serving = asyncio.ensure_future(self._server.serve(sockets=[self._held]))
        await _until(lambda: self._server is None or self._server.started)

    async def _down(self) -> None:
        server, self._server = self._server, None
        if server is None or self._serving is None:
            return
        self.deaths += 1
        for listener in server.servers:
            listener.close()
        for connection in list(server.server_state.connections):
            connection.transport.abort()
        server.should_exit = server.force_exit = True
        await self._serving
        self._held = _bound(self._host, self._port)

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        return self._soon(work).result(_START_S)

    def _soon(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()


def _bound(host: str, port: int) -> socket.socket:
    """A port that nobody else gets, also while nobody listens; 0: one that is free."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind((host, port))
    return held


async def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _START_S
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError("the scripted server did not start")
        await asyncio.sleep(0.005)
