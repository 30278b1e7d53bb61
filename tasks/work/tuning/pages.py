"""Pages of one's own documents, prepared for a served model at each resolution."""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from models.document import MediaType, ScanProblem
from models.engine import OcrRequest
from models.errors import Code, ConfigurationError, PagemillError
from models.page import PageFacts
from models.profile import Profile
from models.recipe import Recipe
from tasks.work.media import sniff
from tasks.work.pool import WorkerPool
from tasks.work.preprocess import preprocess_page
from tasks.work.sources import find
from tasks.work.split import open_document, split_pages
from tasks.work.store import Store

T = TypeVar("T")

_PAGE_S = 120.0
_MOST_DOCUMENTS = 200
_SPARE = 64
_SEED = 2026


@dataclass(frozen=True, slots=True)
class Found:
    """A page before it is prepared."""

    path: Path
    media_type: MediaType
    facts: PageFacts


@dataclass(slots=True)
class OwnPages:
    """The pages that are measured: the same ones at every resolution."""

    profile: Profile
    store: Path
    jobs: int
    pages: list[Found] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    """What could not be opened or prepared, and why."""
    _made: dict[str, list[OcrRequest]] = field(default_factory=dict)

    @property
    def documents(self) -> int:
        """How many documents the pages are of."""
        return len({page.path for page in self.pages})

    def gather(self, places: Iterable[Path], most: int) -> None:
        """Choose at most `most` pages that are not blank, spread over the documents; the same every time.

        Raises ConfigurationError when there is no page that can be measured.
        """
        with closing(WorkerPool(self.jobs)) as pool:
            known = sorted(self._documents(tuple(places)))[:_MOST_DOCUMENTS]
            opened = self._each(pool, open_document, [(path, kind) for path, kind in known])
            pages = [
                (path, kind, number, number)
                for (path, kind), facts in zip(known, opened, strict=True)
                for number in range(1, (facts.page_count if facts else 0) + 1)
            ]
            random.Random(_SEED).shuffle(pages)  # noqa: S311 (a choice of pages, no secret)
            # Some are blank, some cannot be prepared: more than are wanted.
            chosen = pages[: most + max(_SPARE, most // 4)]
            split = self._each(pool, split_pages, chosen)
        self.pages = [
            Found(path, kind, facts[0])
            for (path, kind, *_), facts in zip(chosen, split, strict=True)
            if facts is not None
        ]
        self._keep(most)

    def keep(self, most: int) -> None:
        """Drop all but the first `most` pages."""
        self.pages = self.pages[:most]
        self._made = {resolution: made[:most] for resolution, made in self._made.items()}

    def at(self, resolution: str) -> list[OcrRequest]:
        """The pages' requests at a resolution, made once. Raises ConfigurationError if one cannot be made."""
        if resolution not in self._made:
            made = [request for request in self._prepared(resolution) if request is not None]
            if len(made) < len(self.pages):
                raise ConfigurationError(f"Not every page can be made so large: {self.faults[-1]}.")
            self._made[resolution] = made
        return self._made[resolution]

    def _keep(self, most: int) -> None:
        first = self._prepared(self.profile.resolution)
        made = [
            (page, request)
            for page, request in zip(self.pages, first, strict=True)
            if request is not None and not request.image.is_blank
        ][:most]
        if not made:
            told = f" The first one: {self.faults[0]}." if self.faults else ""
            raise ConfigurationError(f"There is no page with print on it that can be measured.{told}")
        self.pages = [page for page, _ in made]
        self._made[self.profile.resolution] = [request for _, request in made]

    def _prepared(self, resolution: str) -> list[OcrRequest | None]:
        recipe = self.profile.recipe().with_options([f"resolution={resolution}", "text_layer=ignore"])
        with closing(WorkerPool(self.jobs)) as pool:
            jobs = [
                (page.path, page.media_type, page.facts.page_no, recipe, self.store) for page in self.pages
            ]
            images = self._each(pool, preprocess_page, jobs)
        return [
            self._request(page, recipe, image) if image is not None else None
            for page, image in zip(self.pages, images, strict=True)
        ]

    def _request(self, page: Found, recipe: Recipe, image: Any) -> OcrRequest:
        path = Store(self.store).path(image.sha256, image.suffix)
        return OcrRequest(image, path, page.facts.width_pt, page.facts.height_pt, recipe)

    def _each(
        self, pool: WorkerPool, work: Callable[..., T], jobs: Sequence[tuple[Any, ...]]
    ) -> list[T | None]:
        """What `work` makes of each job in a child; None, and a line among the faults, where it fails."""
        futures = [
            pool.submit(work, *job, timeout_s=_PAGE_S, timeout_code=Code.RENDER_TIMEOUT) for job in jobs
        ]
        made: list[T | None] = []
        for job, future in zip(jobs, futures, strict=True):
            try:
                made.append(future.result())
            except PagemillError as error:
                self.faults.append(f"{job[0].name}: {error.message.rstrip('.')} ({error.code})")
                made.append(None)
        return made

    def _documents(self, places: Sequence[Path]) -> Iterator[tuple[Path, MediaType]]:
        for source in find(places):
            if isinstance(source, ScanProblem):
                # A place that is not there, not a file among others that is passed over.
                if not source.code.startswith("ignored-"):
                    self.faults.append(f"{source.message.rstrip('.')} ({source.code})")
                continue
            try:
                yield Path(source.uri), sniff(Path(source.uri))
            except PagemillError:
                # Folders hold other files too.
                continue
