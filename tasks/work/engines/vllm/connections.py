"""Connections to servers, each kept apart.

httpx's pool looks at all of them, for each of them, whenever one is taken or given back. With two dozen that
is half of what a request costs, and it grows with the square of their number.
"""

from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import cast

import httpx


class Connections(httpx.AsyncBaseTransport):
    """A connection for each request under way at a server; the one that was used last is used next."""

    def __init__(self, idle_s: float) -> None:
        """`idle_s`: a connection that was idle for longer is not used again."""
        limits = httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=idle_s)
        # Making one takes as long as a page.
        verify = httpx.create_ssl_context(trust_env=False)
        self._open = partial(httpx.AsyncHTTPTransport, verify=verify, trust_env=False, limits=limits)
        self._free: dict[bytes, list[httpx.AsyncHTTPTransport]] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Raises as httpx's own transport does."""
        free = self._free.setdefault(request.url.netloc, [])
        one = free.pop() if free else self._open()
        try:
            response = await one.handle_async_request(request)
        except BaseException:
            free.append(one)
            raise
        response.stream = _Reply(cast("httpx.AsyncByteStream", response.stream), lambda: free.append(one))
        return response

    async def aclose(self) -> None:
        """Close what is idle; all is, once nothing is under way."""
        for free in self._free.values():
            while free:
                await free.pop().aclose()


class _Reply(httpx.AsyncByteStream):
    """A reply's bytes; when it has been read or given up its connection is free."""

    def __init__(self, inner: httpx.AsyncByteStream, give_back: Callable[[], None]) -> None:
        self._inner, self._give_back, self._is_closed = inner, give_back, False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._inner:
            yield part

    async def aclose(self) -> None:
        """Once, whoever asks."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            await self._inner.aclose()
        finally:
            self._give_back()
