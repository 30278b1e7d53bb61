"""Page pictures of real documents, made as a run would make them, for requests at a server."""

import random
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bench.facts import files
from models.document import MediaType
from models.errors import Code, ConfigurationError, PagemillError
from models.recipe import Recipe
from tasks.work.media import sniff
from tasks.work.pool import WorkerPool
from tasks.work.preprocess import preprocess_page
from tasks.work.split import open_document
from tasks.work.store import Store

__all__ = ["Picture", "files", "make", "repeated"]

_PAGE_S = 60.0


@dataclass(frozen=True, slots=True)
class Picture:
    """One page picture."""

    path: Path
    width_px: int
    height_px: int
    document: str
    page_no: int


def make(documents: Iterable[Path], recipe: Recipe, store: Path, most: int, jobs: int) -> list[Picture]:
    """At most `most` pictures of pages that are not blank, spread over the documents (seeded).

    Documents and pages that cannot be read, or kill the process that reads them, are left out. Raises
    ConfigurationError when nothing remains.
    """
    pages = [page for document in sorted(files(documents)) for page in _pages(document)]
    random.Random(2026).shuffle(pages)
    with closing(WorkerPool(jobs)) as pool:
        begun = [
            pool.submit(_make, *page, recipe, store, timeout_s=_PAGE_S, timeout_code=Code.RENDER_TIMEOUT)
            for page in pages[: most + most // 4]
        ]
        found = [picture for picture in map(_ended, begun) if picture is not None][:most]
    if not found:
        raise ConfigurationError("None of the documents has a page that can be read and is not blank.")
    return found


def repeated(pictures: Sequence[Picture], count: int) -> list[Picture]:
    """`count` pictures: the same again in the same order when there are fewer."""
    return [pictures[n % len(pictures)] for n in range(count)]


def _pages(document: Path) -> list[tuple[Path, MediaType, int]]:
    try:
        kind = sniff(document)
        return [(document, kind, n + 1) for n in range(open_document(document, kind).page_count)]
    except PagemillError:
        return []


def _ended(begun: Future[Picture | None]) -> Picture | None:
    try:
        return begun.result()
    except PagemillError:
        return None


def _make(document: Path, kind: MediaType, page_no: int, recipe: Recipe, store: Path) -> Picture | None:
    image = preprocess_page(document, kind, page_no, recipe, store)
    if image.is_blank:
        return None
    path = Store(store).path(image.sha256, image.suffix)
    return Picture(path, image.width_px, image.height_px, document.name, page_no)
