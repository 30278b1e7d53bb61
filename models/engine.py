"""What goes to an OCR engine and the protocol that every engine speaks."""

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from models.page import PageImage, Word
from models.reading import Reading, Trial
from models.recipe import Recipe
from models.region import Region

FIRST_TRY = Trial()


@dataclass(frozen=True, slots=True)
class OcrRequest:
    """One page to read. Ids and paths only: pixels stay in the store."""

    image: PageImage
    path: Path
    """Where the page image lies."""
    width_pt: float
    height_pt: float
    recipe: Recipe
    words: tuple[Word, ...] = ()
    """Text layer, for recipes that look at it; empty under `ignore`."""
    trial: Trial = FIRST_TRY
    """What is done differently from the profile's first try; engines of our own look at nothing here."""
    question: str = ""
    """Free question, for tasks that take one."""
    schema: str = ""
    """JSON schema that the answer has to keep to; empty: the task's."""
    others: tuple[Path, ...] = ()
    """More pictures for comparisons, after the first."""
    region: Region | None = None
    """Part of the page that the image shows, in page points; None: all of it, or a half."""
    priority: int = 0
    """Lower is more urgent, as in the ledger; servers that know priorities are told."""


class OcrEngine(Protocol):
    """Reads page images. `submit` may be called from one thread, futures end in any.

    A future ends with a Reading, with PageFailed (this page cannot be read) or with EngineUnavailable (not
    the page's fault; it is tried again). A worker's death is EngineUnavailable with code worker-died.
    """

    name: str

    @property
    def slots(self) -> int:
        """Pages it works on at once now; a drain keeps that many and a few more submitted. May change."""
        ...

    def submit(self, request: OcrRequest) -> Future[Reading]:
        """Start reading a page."""
        ...

    def facts(self) -> Mapping[str, str]:
        """Versions of what reads: stored with the run."""
        ...

    def close(self) -> None:
        """Stop workers and give memory back; pages in flight are cancelled. Once more does nothing."""
        ...
