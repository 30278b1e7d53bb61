"""The endpoints of a scripted server."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum

import orjson
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from tasks.work.doubles.vllm_server import replies
from tasks.work.doubles.vllm_server.model import Model, is_proof, understand
from tasks.work.doubles.vllm_server.record import Counters, Entry, exposition
from tasks.work.doubles.vllm_server.script import (
    Answer,
    Asked,
    Drops,
    Hangs,
    Kills,
    Prompter,
    Refused,
    Said,
    bad_request,
    engine_dead,
    overloaded,
)
from tasks.work.doubles.vllm_server.seats import Seats

_PROOF = Said("PAGEMILL 42")


class Mood(StrEnum):
    """How the engine behind the endpoints does."""

    WELL = "well"
    WEDGED = "wedged"
    """/health says 200, counters stand still, completions never come."""
    DEAD = "dead"
    """/health says 503, completions end with 500."""


@dataclass
class Desk:
    """State of one scripted server, and its request handlers. Lives in the server's event loop."""

    model: Model
    prompter: Prompter
    seats: Seats
    kill: Callable[[float], None]
    counters: Counters = field(default_factory=Counters)
    entries: list[Entry] = field(default_factory=list)
    seated: set[Entry] = field(default_factory=set)
    """Replies under way."""
    proofs: int = 0
    mood: Mood = Mood.WELL
    wakes: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the mood changes: what hangs looks again."""

    @property
    def is_dead(self) -> bool:
        """Whether the engine is dead now; a reply looks before and after it was made."""
        return self.mood is Mood.DEAD

    def app(self) -> Starlette:
        """The ASGI application."""
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self.complete, methods=["POST"]),
                Route("/v1/models", self.models),
                Route("/health", self.health),
                Route("/version", self.version),
                Route("/metrics", self.metrics),
            ]
        )

    async def health(self, _: Request) -> Response:
        """200 while the engine lives, or seems to."""
        return Response(status_code=503 if self.is_dead else 200)

    async def version(self, _: Request) -> Response:
        """The version of vLLM it stands for."""
        return replies.as_json({"version": self.model.version})

    async def metrics(self, _: Request) -> Response:
        """Prometheus text."""
        for entry in self.seated:
            self._advance(entry)
        text = exposition(self.counters, self.model.name, self.seats.running, self.seats.waiting)
        return PlainTextResponse(text, media_type="text/plain; version=1.0.0")

    async def models(self, request: Request) -> Response:
        """The one model that is served."""
        if not self._may(request):
            return replies.refusal(Refused(401, "Unauthorized", ""))
        card = {
            "id": self.model.name,
            "object": "model",
            "owned_by": "vllm",
            "root": self.model.root,
            "parent": None,
            "max_model_len": self.model.context,
        }
        return replies.as_json({"object": "list", "data": [card]})

    async def complete(self, request: Request) -> Response:
        """A chat completion."""
        try:
            data = await request.body()
        except ClientDisconnect:
            return Response(status_code=499)
        if not self._may(request):
            return replies.refusal(Refused(401, "Unauthorized", ""))
        if self.model.queue is not None and self.seats.running + self.seats.waiting >= self.model.queue:
            self.counters.rejections += 1
            return replies.refusal(overloaded())
        asked = self._understood(data)
        if isinstance(asked, Refused):
            return replies.refusal(asked)
        entry = Entry(asked)
        if is_proof(asked):
            self.proofs += 1
            return await self._while_there(request, entry, _PROOF)
        self.entries.append(entry)
        return await self._while_there(request, entry, self.prompter.next(asked))

    def _may(self, request: Request) -> bool:
        key = self.model.api_key
        return not key or request.headers.get("authorization") == f"Bearer {key}"

    def _understood(self, data: bytes) -> Asked | Refused:
        try:
            body = orjson.loads(data)
        except orjson.JSONDecodeError as error:
            return bad_request(f"JSON decode error: {error}")
        return understand(self.model, body, len(self.entries) + 1)

    async def _while_there(self, request: Request, entry: Entry, answer: Answer) -> Response:
        """Work on the answer until it is there or the client has gone."""
        if entry.asked.body.get("stream") and isinstance(answer, Said):
            return StreamingResponse(self._streamed(entry, answer), media_type="text/event-stream")
        work = asyncio.ensure_future(self._answered(request, entry, answer))
        gone = asyncio.ensure_future(_gone(request))
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            return work.result() if work.done() else Response(status_code=499)
        finally:
            gone.cancel()
            if not work.done():
                work.cancel()
                self._end(entry, "aborted")
                self.counters.finished["abort"] += 1

    async def _answered(self, request: Request, entry: Entry, answer: Answer) -> Response:
        asked = entry.asked
        async with self.seats.seat(int(asked.body.get("priority") or 0)):
            self._seat(entry)
            await self._while_wedged(forever=isinstance(answer, Hangs))
            if isinstance(answer, Kills):
                self.kill(answer.down_s)
                await asyncio.Event().wait()
            if isinstance(answer, Drops):
                _transport_of(request).abort()
                await asyncio.Event().wait()
            if isinstance(answer, Said) and not self.is_dead:
                said = _within(asked, answer)
                with self._making(entry, said):
                    await asyncio.sleep(entry.seconds)
                await self._while_wedged()
                if not self.is_dead:
                    self._count(entry, said)
                    return replies.as_json(replies.completion(asked, said, self.model.name))
            refused = answer if isinstance(answer, Refused) else engine_dead()
            self._end(entry, str(refused.status))
            return replies.refusal(refused)

    async def _streamed(self, entry: Entry, answer: Said) -> AsyncIterator[bytes]:
        asked, name = entry.asked, self.model.name
        said = _within(asked, answer)
        pieces = [said.text[at : at + 16] for at in range(0, len(said.text), 16)]
        try:
            async with self.seats.seat(int(asked.body.get("priority") or 0)):
                self._seat(entry)
                yield replies.chunk(asked, name, {"role": "assistant", "content": ""})
                with self._making(entry, said):
                    for piece in pieces:
                        await asyncio.sleep(entry.seconds / len(pieces))
                        await self._while_wedged()
                        yield replies.chunk(asked, name, {"content": piece})
                self._count(entry, said)
            yield replies.chunk(asked, name, {"content": ""}, said.finish)
            yield replies.last_chunk(asked, said, name)
        finally:
            if not entry.ended:
                self._end(entry, "aborted")
                self.counters.finished["abort"] += 1

    @contextmanager
    def _making(self, entry: Entry, said: Said) -> Iterator[None]:
        """A reply is under way. What was made of it stays counted, also when its client goes away."""
        entry.tokens, entry.seconds = said.length, self._seconds(said)
        self.seated.add(entry)
        try:
            yield
        finally:
            self.seated.discard(entry)
            self._advance(entry)

    def _advance(self, entry: Entry) -> None:
        # A wedged engine makes no tokens.
        if self.mood is not Mood.WEDGED:
            self.counters.generation_tokens += entry.progress()

    async def _while_wedged(self, *, forever: bool = False) -> None:
        while self.mood is Mood.WEDGED or (forever and not self.is_dead):
            self.wakes.clear()
            await self.wakes.wait()

    def _seconds(self, said: Said) -> float:
        if said.seconds is not None:
            return said.seconds
        return self.model.first_token_s + said.length * self.model.token_s

    def _seat(self, entry: Entry) -> None:
        entry.seated = time.monotonic()
        self.counters.queue_s += entry.seated - entry.started
        self.counters.queued += 1

    def _count(self, entry: Entry, said: Said) -> None:
        self._end(entry, said.finish)
        self.counters.prompt_tokens += entry.asked.tokens_in
        self.counters.generation_tokens += said.length - entry.counted
        self.counters.finished[said.finish] += 1
        self.counters.e2e_s += entry.ended - entry.started

    def _end(self, entry: Entry, outcome: str) -> None:
        entry.ended, entry.outcome = time.monotonic(), outcome


def _within(asked: Asked, said: Said) -> Said:
    """The reply cut at max_tokens, as a server does."""
    limit = asked.max_tokens
    if limit is None or said.length <= limit:
        return said
    return replace(said, text=said.text[: limit * 4], tokens=limit, finish="length")


async def _gone(request: Request) -> None:
    """Returns when the client has closed the connection."""
    with suppress(asyncio.CancelledError):
        while (await request.receive())["type"] != "http.disconnect":
            pass


def _transport_of(request: Request) -> asyncio.Transport:
    """The connection of a request under uvicorn: the receiver is a method of its cycle."""
    transport: asyncio.Transport = request.receive.__self__.transport  # type: ignore[attr-defined]
    return transport
