"""One page: from its picture in the store to a reading."""

import asyncio
import time
from dataclasses import dataclass, replace

from models.engine import OcrRequest
from models.errors import Code, PageFailed
from models.reading import Reading, ReadingSource
from models.vlm import Vlm
from tasks.work.engines.vllm.faults import TooLarge
from tasks.work.engines.vllm.jobs import Job
from tasks.work.engines.vllm.picture import Picture, load, load_other, size_to_send
from tasks.work.engines.vllm.server import Server
from tasks.work.engines.vllm.wire import Answer, Wish, answer_of, body_of, reply_room, wish_of
from tasks.work.parsers import Sent, parse

SHRUNK = "shrunk-to-fit"
"""Note on a reading: the page image was scaled before it was sent: the server could not take it."""

_MARGIN = 0.95


@dataclass(frozen=True, slots=True)
class PageReader:
    """Reads pages with one model, whichever server it is at."""

    vlm: Vlm

    async def __call__(self, job: Job, server: Server) -> Reading:
        """Raises PageFailed, and what `Server.ask` raises."""
        request = job.request
        wish = wish_of(self.vlm, request)
        pictures = await self._pictures(request, server.context)
        room = reply_room(self.vlm, wish, pictures, server.context)
        try:
            return await self._ask(request, wish, pictures, room, server)
        except TooLarge as error:
            if error.shrink < 1:
                share = error.shrink * _MARGIN
                pictures = [await asyncio.to_thread(picture.shrunk, share) for picture in pictures]
            else:
                room //= 2
        try:
            # Once: a request that was refused is never sent again as it was, and not for ever as another.
            return await self._ask(request, wish, pictures, max(1, room), server)
        except TooLarge as error:
            raise PageFailed(f"The page does not fit the model: {error.message}", Code.TOO_LARGE) from error

    async def _pictures(self, request: OcrRequest, context: int) -> list[Picture]:
        pictures = [load(request), *(load_other(path) for path in request.others)]
        share = context // len(pictures)
        fitted = []
        for picture in pictures:
            size = size_to_send(picture, self.vlm, share)
            if size != (picture.width_px, picture.height_px):
                picture = await asyncio.to_thread(picture.resized, *size)  # noqa: PLW2901
            fitted.append(picture)
        return fitted

    async def _ask(
        self, request: OcrRequest, wish: Wish, pictures: list[Picture], room: int, server: Server
    ) -> Reading:
        body = body_of(
            self.vlm, wish, pictures, max_tokens=room, dialect=server.dialect, priority=request.priority
        )
        started = time.perf_counter()
        content = await server.ask(body, self.vlm.first_token_s + room / self.vlm.tokens_per_s)
        seconds = time.perf_counter() - started
        answer = answer_of(content)
        reading = self._reading(request, wish, pictures[0], answer, room)
        waited = server.queue_s if answer.queue_s is None else answer.queue_s
        return replace(
            reading,
            engine=" ".join(filter(None, (server.label.partition(" ")[2], self.vlm.served_name))),
            seconds=seconds,
            queue_s=None if waited is None else min(waited, seconds),
            server=server.label,
        )

    def _reading(
        self, request: OcrRequest, wish: Wish, picture: Picture, answer: Answer, room: int
    ) -> Reading:
        schema = wish.schema
        sent = Sent(picture.width_px, picture.height_px, picture.transform, self.vlm.box_scale, schema)
        parsed = parse(wish.task.parser, answer.text, sent)
        is_shrunk = (picture.width_px, picture.height_px) != (request.image.width_px, request.image.height_px)
        trial = replace(
            request.trial,
            temperature=wish.sampling.temperature,
            top_p=wish.sampling.top_p,
            repetition_penalty=wish.sampling.repetition_penalty,
            max_tokens=room,
            width_px=picture.width_px,
            height_px=picture.height_px,
            prompt_sha256=wish.prompt_sha256,
        )
        return Reading(
            source=ReadingSource.OCR,
            text=parsed.text,
            blocks=parsed.blocks,
            finish_reason=answer.finish,
            tokens_in=answer.tokens_in,
            tokens_out=answer.tokens_out,
            confidence=answer.confidence,
            raw=answer.text if answer.text != parsed.text else None,
            trial=trial,
            notes=(*parsed.notes, SHRUNK) if is_shrunk else parsed.notes,
        )
