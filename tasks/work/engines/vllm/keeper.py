"""Watches one server: proves it before it gets work, steers it while it works, tells when it has died."""

import asyncio
import logging
import socket
import time
from contextlib import suppress
from urllib.parse import urlsplit

from models.errors import ConfigurationError, EnvironmentFault
from tasks.work.engines.vllm.dispatch import Dispatcher
from tasks.work.engines.vllm.faults import Away
from tasks.work.engines.vllm.hearing import Hearing
from tasks.work.engines.vllm.sample import Sample
from tasks.work.engines.vllm.server import Server, without_secrets

log = logging.getLogger(__name__)

_BUSY_LOOK_S, _LOOK_S, _IDLE_LOOK_S = 0.25, 1.0, 5.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S, _PAUSE_GROWTH = 0.25, 10.0, 1.6
_TELL_S = 60.0


class Keeper:
    """The one that decides whether its server can be trusted with pages."""

    def __init__(self, server: Server, dispatcher: Dispatcher, hearing: Hearing | None = None) -> None:
        self._server, self._dispatcher, self._hearing = server, dispatcher, hearing
        self._last: Sample | None = None
        self._pause_s = _FIRST_PAUSE_S
        self._away_since = time.monotonic()
        self._told_at = 0.0

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            if self._server.is_proven:
                await self._rest(await self._look())
            else:
                await self._try_to_prove()

    async def _try_to_prove(self) -> None:
        server = self._server
        # Requests were under way when it was last trusted: whether it died is told by who answers now.
        before, self._last = self._last, None
        try:
            await self._resolve()
            await server.introduce()
            if self._hearing is None:
                server.looked.set()
            await server.prove(server.vlm.first_token_s)
            self._last = await server.sample()
            if self._hearing is not None:
                await self._hearing.hear(server, self._last)
        except (Away, ConfigurationError, EnvironmentFault) as error:
            self._still_away(error)
            self._last = before
            server.looked.set()
            await asyncio.sleep(self._pause_s)
            self._pause_s = min(_LONGEST_PAUSE_S, self._pause_s * _PAUSE_GROWTH)
            return
        self._back(before)

    def _back(self, before: Sample | None) -> None:
        server = self._server
        if before and self._last and self._last.is_younger_than(before):
            self._dispatcher.fell(server)
        self._dispatcher.excuse(server, server.failed)
        waited = time.monotonic() - self._away_since
        # Whoever was told that it is away is told that it is back.
        level = logging.WARNING if self._told_at else logging.INFO
        log.log(level, "OCR server ready url=%s after=%.1fs", server.label, waited)
        server.is_proven, server.reason, server.refusal = True, "", None
        server.looked.set()
        self._pause_s, self._told_at = _FIRST_PAUSE_S, 0.0
        self._dispatcher.pump()

    def _still_away(self, error: Away | ConfigurationError | EnvironmentFault) -> None:
        server = self._server
        server.refusal = None if isinstance(error, Away) else error
        server.reason = str(error)
        # What was in its hands goes elsewhere once it is clear that it does not come back by itself.
        self._dispatcher.fell(server)
        now = time.monotonic()
        # What is refused at the first look ends the run with a line of its own.
        if now - self._told_at >= _TELL_S and (server.refusal is None or server.looked.is_set()):
            self._told_at = now
            away = now - self._away_since
            log.warning("waiting for OCR server url=%s away=%.0fs: %s", server.label, away, server.reason)

    async def _look(self) -> float:
        """Look at a server that is trusted; says when to look again."""
        server, failed = self._server, self._server.failed
        try:
            if failed:
                await server.check_health()
            sample = await self._sample()
            if server.overdue or self._is_still(sample):
                await server.prove(server.vlm.first_token_s)
        except Away as error:
            self._fall(error)
            return 0.0
        self._dispatcher.excuse(server, failed)
        if sample is None:
            return _LOOK_S
        if self._last:
            server.queue_s = sample.queueing_since(self._last) or server.queue_s
        self._last = sample
        is_unsettled = server.steering.observe(sample, len(server.open))
        self._dispatcher.pump()
        if is_unsettled:
            return _BUSY_LOOK_S
        return _LOOK_S if server.open else _IDLE_LOOK_S

    def _is_still(self, sample: Sample | None) -> bool:
        """Whether it has work and does nothing, as when a page hangs. Raises Away after a new start."""
        server, now = self._server, time.monotonic()
        if sample and self._last:
            if sample.is_younger_than(self._last):
                raise Away("it was started again")
            if sample.tokens != self._last.tokens:
                server.moved_at = now
        if not server.open:
            server.moved_at = now
        return sample is not None and now - server.moved_at > server.vlm.first_token_s

    async def _sample(self) -> Sample | None:
        try:
            return await self._server.sample()
        except Away:
            # A connection that the server closed at that moment: a new one tells.
            return await self._server.sample()

    def _fall(self, error: Away) -> None:
        server = self._server
        log.warning("OCR server lost url=%s open=%d: %s", server.label, len(server.open), error)
        server.is_proven, server.reason = False, str(error)
        self._away_since = self._told_at = time.monotonic()
        self._last = None
        self._dispatcher.fell(server)

    async def _rest(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._server.alarm.wait()
        self._server.alarm.clear()

    async def _resolve(self) -> None:
        """Raises ConfigurationError when the host of the URL does not exist."""
        parts = urlsplit(self._server.url)
        try:
            await asyncio.get_running_loop().getaddrinfo(parts.hostname, parts.port or parts.scheme)
        except socket.gaierror as error:
            where = without_secrets(self._server.url)
            raise ConfigurationError(
                f"PAGEMILL_OCR_URL: the host of {where} is not known ({error.strerror})."
            ) from error
