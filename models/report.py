"""A document's pages as they are shown to people."""

import datetime as dt
from dataclasses import dataclass

from models.reading import Block, ReadingSource, Trial
from models.review import ReviewAction
from models.verdict import Finding, Verdict


@dataclass(frozen=True, slots=True)
class PageReport:
    """One page under one recipe: what was read, how it was judged, or why it was not read."""

    page_no: int
    width_pt: float
    height_pt: float
    rotation: int
    verdict: Verdict | None
    """None: not read yet."""
    code: str | None
    """Why the page is bad, or why its last try failed."""
    message: str | None
    """The same as a sentence."""
    reading_id: int | None = None
    source: ReadingSource | None = None
    engine: str = ""
    seconds: float = 0.0
    tokens_out: int | None = None
    confidence: float | None = None
    layer_agreement: float | None = None
    cached_from: int | None = None
    text: str = ""
    blocks: tuple[Block, ...] = ()
    """Boxes in page points."""
    findings: tuple[Finding, ...] = ()
    image_sha256: str | None = None
    """Page image in the store, under the recipe's options."""
    image_suffix: str | None = None
    image_width_px: int = 0
    image_height_px: int = 0
    """0 where there is no page image."""
    image_reason: str = ""
    """Why the page image has that size, e.g. legible-layer."""
    tokens_saved: int = 0
    """Image tokens less than at the most pixels that the model takes."""
    trial: Trial | None = None
    """How the reading was asked for; its picture is another than the page image where that read badly."""
    reviews: tuple[ReviewAction, ...] = ()
    """What people decided about the page, the first one first."""


@dataclass(frozen=True, slots=True)
class Edition:
    """A switch position of the knowledge base."""

    id: int
    document_id: int
    recipe_id: int
    profile: str
    created_at: dt.datetime
    is_shown: bool
