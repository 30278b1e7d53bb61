"""A server gets pages only if it reads: golden pages are read first, by the way that all pages are read.

The same weights can read worse behind another server, or after an update of it: wrong limits of pixels, a
wrong template, quantised layers. Signs of life do not show that, characters do.
"""

import datetime as dt
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from pydantic import BaseModel, ConfigDict, TypeAdapter

from models.engine import OcrRequest
from models.errors import PagemillError
from models.geometry import Transform
from models.page import PageImage
from models.profile import Profile
from models.reading import Reading, Trial
from models.servers import OcrServers
from tasks.work.engines import open_engine
from tasks.work.metrics import cer
from tasks.work.serving.golden import Golden, digest, golden_pages
from tasks.work.serving.plan import Server
from tasks.work.serving.record import Record, key_of

WORSE = 0.02
"""A share of characters wrong so much above the best that was ever seen of these weights is a step back."""
_DEADLINE_S = 1_800.0
_LEAST_TOKENS, _TOKENS_A_CHAR = 1_024, 2
"""Most tokens of a reply: tags and boxes come on top of the text; a model that raves is cut short."""


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
    server: str = ""
    """Of one that others look after: URL, version and start."""


_MARKS = TypeAdapter(dict[str, list[Mark]])


class MarkRecord:
    """All marks in a JSON file, by profile, weights and golden pages.

    Raises EnvironmentFault when the file is spoilt.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._record = Record(
            path,
            _MARKS,
            "how well servers have read cannot be told. Delete the file; "
            "the next server is held against none.",
        )

    def of(self, profile: Profile, model: str, pages: Sequence[Golden]) -> list[Mark]:
        """What was seen of these weights, whatever served them; the latest last."""
        return self._record.get(_key(profile, model, pages)) or []

    def best(self, profile: Profile, model: str, pages: Sequence[Golden]) -> Mark | None:
        """The best that was seen of these weights."""
        return min(self.of(profile, model, pages), key=lambda mark: mark.errors, default=None)

    def keep(self, profile: Profile, mark: Mark, pages: Sequence[Golden]) -> None:
        """Write a mark down."""
        self._record.put(_key(profile, mark.model, pages), [*self.of(profile, mark.model, pages), mark])


def _key(profile: Profile, model: str, pages: Sequence[Golden]) -> str:
    return key_of(profile.name, profile.revision, model, digest(pages))


class Audition:
    """A server reading the golden pages; looked at from time to time, ended with `close`."""

    def __init__(self, server: Server, pages: Sequence[Golden], deadline_s: float = _DEADLINE_S) -> None:
        self._server, self._pages = server, pages
        self._began, self._deadline_s = time.monotonic(), deadline_s
        plan = server.plan
        self._home = tempfile.TemporaryDirectory(prefix="pagemill-golden-")
        servers = OcrServers((server.url,), plan.api_key, wait_s=deadline_s)
        self._engine = open_engine(plan.profile, 1, servers)
        folder = Path(self._home.name)
        self._answers = [self._engine.submit(request_of(page, plan.profile, folder)) for page in pages]

    def mark(self) -> Mark | None:
        """How well it read; None: not done yet. What is not read by the deadline is all wrong."""
        seconds = time.monotonic() - self._began
        if seconds < self._deadline_s and not all(answer.done() for answer in self._answers):
            return None
        errors = [
            errors_of(page, answer) if answer.done() else 1.0
            for page, answer in zip(self._pages, self._answers, strict=True)
        ]
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


def request_of(page: Golden, profile: Profile, folder: Path) -> OcrRequest:
    """The request for a golden page, its picture written into `folder`."""
    path = folder / page.name
    path.write_bytes(page.picture)
    with Image.open(path) as picture:
        width, height = picture.size
    image = PageImage(
        page.sha256, path.suffix, width, height, Transform.scale(1, 1), ink=0.05, is_blank=False
    )
    recipe = profile.recipe().model_copy(update={"text_layer": "ignore"})
    trial = Trial(max_tokens=_LEAST_TOKENS + _TOKENS_A_CHAR * len(page.text))
    return OcrRequest(image, path, width, height, recipe, trial=trial)


def errors_of(page: Golden, answer: "Future[Reading]") -> float:
    """Share of the page's characters that are wrong in an answer that is there; 1.0 for none."""
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

    def judge(self, profile: Profile, mark: Mark) -> str:
        """Why the server may get no pages; empty: it may. The mark is kept: the next has to come up to it."""
        best = self.record.best(profile, mark.model, self.pages)
        limit = profile.vlm.most_errors if profile.vlm else 0.0
        if mark not in self.record.of(profile, mark.model, self.pages):
            self.record.keep(profile, mark, self.pages)
        told = f"{mark.errors:.1%} of the characters of {mark.pages} golden pages are wrong"
        if mark.errors > limit:
            return f"{told}, {limit:.0%} may be"
        if best is not None and mark.errors > best.errors + WORSE:
            return f"{told}, {best.errors:.1%} were with vLLM {best.vllm}, transformers {best.transformers}"
        return ""


def gate_at(home: Path) -> Gate:
    """The gate with the golden pages and the marks of a home."""
    return Gate(golden_pages(home / "golden"), MarkRecord(home / "serve" / "golden.json"))
