"""Connections to a server: one a request under way, used again, closed with what is given up."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx
import pytest

from tasks.work.engines.vllm.connections import Connections


@dataclass
class Desk:
    """A server that answers when it is told to, or at once."""

    url: str = ""
    opened: int = 0
    closed: int = 0
    waiting: int = 0
    goes: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        try:
            while await reader.readline():
                while (await reader.readline()).strip():
                    pass
                self.waiting += 1
                while not self.goes.is_set() and not reader.at_eof():
                    await asyncio.sleep(0.01)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nread")
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            self.closed += 1
            writer.close()

    async def until(self, what: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not what():
                await asyncio.sleep(0.01)


@asynccontextmanager
async def desk() -> AsyncIterator[tuple[Desk, httpx.AsyncClient]]:
    made = Desk()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with httpx.AsyncClient(transport=Connections(idle_s=600), timeout=None) as client:
        yield made, client
    server.close()


def run(test: Callable[[Desk, httpx.AsyncClient], Awaitable[None]]) -> None:
    async def main() -> None:
        async with desk() as (made, client):
            await test(made, client)

    asyncio.run(main())


def test_one_request_after_the_other_takes_one_connection() -> None:
    async def test(made: Desk, client: httpx.AsyncClient) -> None:
        made.goes.set()
        answers = [(await client.get(made.url)).text for _ in range(5)]
        assert answers == ["read"] * 5
        assert made.opened == 1

    run(test)


def test_requests_under_way_have_a_connection_each_and_later_ones_use_these() -> None:
    async def test(made: Desk, client: httpx.AsyncClient) -> None:
        for expected in (4, 8):
            made.goes.clear()
            asked = [asyncio.ensure_future(client.get(made.url)) for _ in range(4)]
            await made.until(lambda most=expected: made.waiting == most)  # type: ignore[misc]
            made.goes.set()
            assert [answer.text for answer in await asyncio.gather(*asked)] == ["read"] * 4
            assert made.opened == 4

    run(test)


def test_a_request_that_is_given_up_closes_its_connection_and_no_other() -> None:
    async def test(made: Desk, client: httpx.AsyncClient) -> None:
        asked = [asyncio.ensure_future(client.get(made.url)) for _ in range(2)]
        await made.until(lambda: made.waiting == 2)
        asked[0].cancel()
        await made.until(lambda: made.closed == 1)
        made.goes.set()
        assert (await asked[1]).text == "read"
        assert (await client.get(made.url)).text == "read"
        assert asked[0].cancelled()

    run(test)


def test_a_reply_that_is_not_read_to_its_end_gives_its_connection_up() -> None:
    async def test(made: Desk, client: httpx.AsyncClient) -> None:
        made.goes.set()
        async with client.stream("GET", made.url) as reply:
            assert reply.status_code == 200
        assert (await client.get(made.url)).text == "read"

    run(test)


def test_where_nobody_listens_the_error_is_that_of_the_client_and_the_next_request_tries_again() -> None:
    async def test(made: Desk, client: httpx.AsyncClient) -> None:
        for _ in range(2):
            with pytest.raises(httpx.ConnectError):
                await client.get("http://127.0.0.1:9/nothing")
        made.goes.set()
        assert (await client.get(made.url)).text == "read"

    run(test)


def test_closing_the_client_closes_all_connections() -> None:
    async def test(made: Desk, client: httpx.AsyncClient) -> None:
        made.goes.set()
        await asyncio.gather(*(client.get(made.url) for _ in range(3)))
        await client.aclose()
        await made.until(lambda: made.closed == made.opened)

    run(test)
