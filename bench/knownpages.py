"""Pages whose whole text is known, prepared as in a run."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bench.goodpages import read_as
from bench.truths import ERRATA, requests, truths
from models.engine import OcrRequest
from models.errors import PageFailed
from models.profiles import get
from models.reading import Reading
from models.text import clean
from models.verdict import PageUnderCheck
from tasks.work.engines import open_engine
from tasks.work.metrics import agreement

# An engine's reading that agrees so well with the ground truth is a correct one.
_WELL_READ = 0.9
LEAST_CHARS = 20


@dataclass(frozen=True, slots=True)
class Known:
    """A page with its ground truth."""

    file: str
    page_no: int
    truth: str
    request: OcrRequest

    @property
    def reading(self) -> Reading:
        """The ground truth as a model that writes freely would answer it."""
        return read_as("text", clean(self.truth))

    @property
    def page(self) -> PageUnderCheck:
        """What the checks know of the page when such a model reads it."""
        free = get("ppocr").model_copy(update={"finds_lines": False, "scripts": frozenset()})
        return PageUnderCheck.of(self.request, free)


def known_pages(folder: Path, most: int, home: Path) -> Iterator[Known]:
    """Pages of `folder` whose whole text is known, prepared as in a run."""
    for truth in truths(folder):
        if truth.is_partial or truth.path.name in ERRATA:
            continue
        for number, request in enumerate(requests(truth, get("ppocr"), most, home), 1):
            text = truth.text_of(number)
            if len(text.strip()) >= LEAST_CHARS:
                yield Known(truth.path.name, number, text, request)


def read_well(pages: Sequence[Known], jobs: int) -> Iterator[tuple[Known, Reading]]:
    """What the default engine reads correctly, with its readings; not what it takes too long for."""
    with closing(open_engine(get("ppocr"), jobs)) as engine:
        futures = [engine.submit(one.request) for one in pages]
        errors = [future.exception() for future in futures]
    for one, future, error in zip(pages, futures, errors, strict=True):
        if isinstance(error, PageFailed):
            continue
        reading = future.result()
        if agreement(one.truth, reading.text) >= _WELL_READ:
            yield one, reading
