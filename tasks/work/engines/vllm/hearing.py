"""Servers that others look after read golden pages before they get any of the archive's.

`pagemill serve` does so for its own. The small picture shows that an engine works; whether it reads shows in
characters: a wrong template, too few pixels or spoilt weights answer just as promptly.
"""

import asyncio
import datetime as dt
import logging
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

from models.engine import OcrRequest
from models.errors import ConfigurationError
from models.profile import Profile
from models.reading import Reading
from tasks.work.engines.vllm.dispatch import Read
from tasks.work.engines.vllm.faults import Away, Broken, Busy, Overdue
from tasks.work.engines.vllm.jobs import Job
from tasks.work.engines.vllm.sample import Sample
from tasks.work.engines.vllm.server import Server, without_secrets
from tasks.work.serving.gate import Mark, errors_of, gate_at, request_of
from tasks.work.serving.golden import Golden

log = logging.getLogger(__name__)


class Hearing:
    """Golden pages, and what servers made of them, for one profile. One loop's."""

    def __init__(self, profile: Profile, home: Path, read: Read) -> None:
        self._profile, self._home, self._read = profile, home, read
        self._heard: dict[str, Mark] = {}

    async def hear(self, server: Server, sample: Sample | None) -> None:
        """Returns when the server may get pages; `server.errors` then says how well it reads.

        Each process of a server is heard once, by whatever run, where it says when it was started. Raises
        ConfigurationError for one that misreads, Away for one that breaks off, EnvironmentFault when the
        record of marks is spoilt.
        """
        gate = await asyncio.to_thread(gate_at, self._home)
        started = sample.started if sample else 0.0
        place = f"{server.label} {started:.2f}"
        mark = self._heard.get(place)
        if mark is None and started:
            marks = gate.record.of(self._profile, server.root, gate.pages)
            mark = next((mark for mark in marks if mark.server == place), None)
        if mark is None:
            mark = await self._mark(gate.pages, server, place)
        self._heard[place] = mark
        refused = gate.judge(self._profile, mark)
        if refused:
            raise ConfigurationError(
                f"PAGEMILL_OCR_URL: {without_secrets(server.url)} misreads: {refused}. See how it is served "
                "(weights, template, limits of pixels), or believe it with PAGEMILL_OCR_GOLDEN=false."
            )
        server.errors = mark.errors

    async def _mark(self, pages: Sequence[Golden], server: Server, place: str) -> Mark:
        began = time.monotonic()
        log.info("golden pages=%d url=%s", len(pages), server.label)
        with tempfile.TemporaryDirectory(prefix="pagemill-golden-") as folder:
            requests = [request_of(page, self._profile, Path(folder)) for page in pages]
            seats = asyncio.Semaphore(server.steering.limit)
            asked = (self._answer(request, server, seats) for request in requests)
            answers = await asyncio.gather(*asked)
        for answer in answers:
            # That a server is away, busy or slow says nothing of how it reads.
            if isinstance(error := answer.exception(), (Away, Broken, Busy, Overdue)):
                raise Away(f"it broke off a golden page ({error})") from error
        errors = [errors_of(page, answer) for page, answer in zip(pages, answers, strict=True)]
        return Mark(
            profile=self._profile.name,
            model=server.root,
            vllm=server.version,
            transformers="",
            options=(),
            pages=len(errors),
            errors=sum(errors) / len(errors),
            seconds=time.monotonic() - began,
            at=dt.datetime.now(dt.UTC),
            server=place,
        )

    async def _answer(
        self, request: OcrRequest, server: Server, seats: asyncio.Semaphore
    ) -> "Future[Reading]":
        """The ended future of a page."""
        answer: Future[Reading] = Future()
        async with seats:
            try:
                answer.set_result(await self._read(Job(request, answer), server))
            except Exception as error:
                answer.set_exception(error)
        return answer
