"""A page is in one place at a time, whatever happens in the same turn of the client's loop."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from pathlib import Path

import httpx
import pytest

from models.reading import Reading
from tasks.work.engines.vllm.dispatch import Dispatcher
from tasks.work.engines.vllm.faults import Broken, Busy
from tasks.work.engines.vllm.jobs import Job
from tasks.work.engines.vllm.server import Server
from tasks.work.engines.vllm.steering import Steering
from tests.served import VLM, page


def in_hand(read: Callable[[Job, Server], Awaitable[Reading]]) -> tuple[Dispatcher, Server]:
    server = Server("http://nowhere", VLM, httpx.AsyncClient(), Steering(1, 1), is_proven=True)
    return Dispatcher([server], read), server


@pytest.mark.parametrize("error", [Broken("500"), Busy(0.0)])
def test_a_page_whose_server_falls_as_its_request_ends_is_lost_once(tmp_path: Path, error: Exception) -> None:
    async def fail(job: Job, server: Server) -> Reading:
        raise error

    async def turn() -> tuple[Job, int]:
        dispatcher, server = in_hand(fail)
        job = Job(page(tmp_path), Future())
        dispatcher.put(job)
        server.is_proven = False
        asyncio.get_running_loop().call_soon(dispatcher.fell, server)
        await asyncio.sleep(0.05)
        return job, dispatcher.waiting

    job, waiting = asyncio.run(turn())
    assert not job.is_over
    assert job.deaths <= 1
    assert waiting == 1


def test_a_request_that_ends_late_takes_nothing_of_the_next_try(tmp_path: Path) -> None:
    tries: list[asyncio.Event] = []

    async def linger(job: Job, server: Server) -> Reading:
        ended = asyncio.Event()
        tries.append(ended)
        try:
            await ended.wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0.01)  # a connection that takes its time to close
        raise Broken("closed")

    async def turn() -> int:
        dispatcher, server = in_hand(linger)
        dispatcher.put(Job(page(tmp_path), Future()))
        await asyncio.sleep(0)
        dispatcher.fell(server)
        dispatcher.pump()
        await asyncio.sleep(0.05)
        assert len(tries) == 2
        return len(server.open) - len(server.broken)

    assert asyncio.run(turn()) == 1


def test_what_broke_after_a_server_was_asked_whether_it_lives_is_not_excused(tmp_path: Path) -> None:
    async def fail(job: Job, server: Server) -> Reading:
        raise Broken("connection lost")

    async def turn() -> tuple[Job, Job]:
        dispatcher, server = in_hand(fail)
        early, late = Job(page(tmp_path, 0), Future()), Job(page(tmp_path, 1), Future())
        dispatcher.put(early)
        await asyncio.sleep(0)
        asked_with = server.failed
        server.broken.append(late)
        dispatcher.excuse(server, asked_with)
        dispatcher.fell(server)
        dispatcher.close()
        return early, late

    early, late = asyncio.run(turn())
    assert (early.breaks, early.deaths) == (1, 0)
    assert (late.breaks, late.deaths) == (0, 1)


def test_closing_ends_what_waits_and_what_is_under_way_and_sends_nothing(tmp_path: Path) -> None:
    sent: list[Job] = []

    async def busy_then_hang(job: Job, server: Server) -> Reading:
        sent.append(job)
        if len(sent) == 1:
            raise Busy(600.0)
        raise await asyncio.sleep(600, Broken("closed"))

    async def turn() -> list[Job]:
        dispatcher, _ = in_hand(busy_then_hang)
        jobs = [Job(page(tmp_path, number), Future()) for number in range(4)]
        for job in jobs:
            dispatcher.put(job)
        await asyncio.sleep(0.01)
        dispatcher.close()
        await asyncio.sleep(0.01)
        return jobs

    jobs = asyncio.run(turn())
    assert sent == jobs[:2], "one that comes again later, one under way"
    assert all(job.outer.cancelled() for job in jobs)


def test_the_name_of_a_request_under_way_tells_nothing_of_its_page(tmp_path: Path) -> None:
    async def wait(job: Job, server: Server) -> Reading:
        raise await asyncio.sleep(1, Broken("closed"))

    async def name() -> str:
        dispatcher, server = in_hand(wait)
        dispatcher.put(Job(page(tmp_path), Future()))
        (task,) = server.open.values()
        task.cancel()
        return repr(task)

    told = asyncio.run(name())
    assert "OcrRequest" not in told
    assert len(told) < 1_000
