"""A server gets pages only if it reads: golden pages are read first, by the way that all pages are read.

The same weights can read worse behind another server, or after an update of it: wrong limits of pixels, a
wrong template, quantised layers. Signs of life do not show that, characters do.
"""

import datetime as dt
import hashlib
import json
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from models.engine import OcrRequest
from models.errors import EnvironmentFault, PagemillError
from models.geometry import Transform
from models.page import PageImage
from models.reading import Reading
from models.servers import OcrServers
from tasks.work.engines import open_engine
from tasks.work.metrics import cer
from tasks.work.serving.golden import Golden, digest
from tasks.work.serving.plan import Server

WORSE = 0.02
"""A share of characters wrong so much above the best that was ever seen of these weights is a step back."""
_DEADLINE_S = 1_800.0


class Mark(BaseModel):
    """How well a server read the golden pages."""

    model_config = ConfigDict(frozen=True)

    profile: str
    model: str
    vllm: str
    transformers: str
    options: tuple[str, ...]
    pages: int
    errors: float
    """Share of characters wrong, mean over pages; a page that failed is all wrong."""
    seconds: float
    at: dt.datetime


_MARKS = TypeAdapter(dict[str, list[Mark]])


@dataclass(frozen=True, slots=True)
class MarkRecord:
    """All marks in a JSON file, by profile, weights and golden pages.

    Raises EnvironmentFault when the file is spoilt.
    """

    path: Path

    def best(self, server: Server, pages: Sequence[Golden]) -> Mark | None:
        """The best that was seen of these weights, whatever served them."""
        found = self._read().get(_key(server, pages), [])
        return min(found, key=lambda mark: mark.errors, default=None)

    def keep(self, server: Server, pages: Sequence[Golden], mark: Mark) -> None:
        """Write a mark down."""
        rows = self._read()
        rows.setdefault(_key(server, pages), []).append(mark)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        part.write_bytes(_MARKS.dump_json(rows, indent=1))
        part.replace(self.path)

    def _read(self) -> dict[str, list[Mark]]:
        if not self.path.exists():
            return {}
        try:
            return _MARKS.validate_json(self.path.read_bytes())
        except ValidationError as error:
            raise EnvironmentFault(
                f"{self.path} is spoilt: how well servers have read cannot be told. Delete the file; "
                "the next server is held against none."
            ) from error


def _key(server: Server, pages: Sequence[Golden]) -> str:
    profile = server.plan.profile
    told = json.dumps([profile.name, profile.revision, server.plan.model, digest(pages)])
    return hashlib.sha256(told.encode()).hexdigest()[:16]


class Audition:
    """A server reading the golden pages; looked at from time to time, ended with `close`."""

    def __init__(self, server: Server, pages: Sequence[Golden], deadline_s: float = _DEADLINE_S) -> None:
        self._server, self._pages = server, pages
        self._began, self._deadline_s = time.monotonic(), deadline_s
        plan = server.plan
        self._home = tempfile.TemporaryDirectory(prefix="pagemill-golden-")
        servers = OcrServers((server.url,), plan.api_key, wait_s=deadline_s)
        self._engine = open_engine(plan.profile, 1, servers)
        self._answers = [self._engine.submit(self._request(page)) for page in pages]

    def mark(self) -> Mark | None:
        """How well it read; None: not done yet. What is not read by the deadline is all wrong."""
        seconds = time.monotonic() - self._began
        if seconds < self._deadline_s and not all(answer.done() for answer in self._answers):
            return None
        errors = [_errors(page, answer) for page, answer in zip(self._pages, self._answers, strict=True)]
        plan = self._server.plan
        return Mark(
            profile=plan.profile.name,
            model=plan.model,
            vllm=plan.installation.vllm,
            transformers=plan.installation.transformers,
            options=plan.options,
            pages=len(errors),
            errors=sum(errors) / len(errors),
            seconds=seconds,
            at=dt.datetime.now(dt.UTC),
        )

    def close(self) -> None:
        """Let go of the server."""
        self._engine.close()
        self._home.cleanup()

    def _request(self, page: Golden) -> OcrRequest:
        path = Path(self._home.name, page.name)
        path.write_bytes(page.picture)
        with Image.open(path) as picture:
            width, height = picture.size
        image = PageImage(
            page.sha256, path.suffix, width, height, Transform.scale(1, 1), ink=0.05, is_blank=False
        )
        recipe = self._server.plan.profile.recipe().model_copy(update={"text_layer": "ignore"})
        return OcrRequest(image, path, width, height, recipe)


def _errors(page: Golden, answer: "Future[Reading]") -> float:
    if answer.done():
        with suppress(PagemillError):
            return min(1.0, cer(page.text, answer.result().text))
    return 1.0


@dataclass(frozen=True, slots=True)
class Gate:
    """What a server has to pass before it gets pages."""

    pages: tuple[Golden, ...]
    record: MarkRecord

    def begin(self, server: Server) -> Audition | None:
        """Have the golden pages read; None for models that no limit is known of."""
        return Audition(server, self.pages) if server.plan.vlm.most_errors else None

    def judge(self, server: Server, mark: Mark) -> str:
        """Why the server may get no pages; empty: it may. The mark is kept: the next has to come up to it."""
        best, limit = self.record.best(server, self.pages), server.plan.vlm.most_errors
        self.record.keep(server, self.pages, mark)
        told = f"{mark.errors:.1%} of the characters of {mark.pages} golden pages are wrong"
        if mark.errors > limit:
            return f"{told}, {limit:.0%} may be"
        if best is not None and mark.errors > best.errors + WORSE:
            return f"{told}, {best.errors:.1%} were with vLLM {best.vllm}, transformers {best.transformers}"
        return ""
