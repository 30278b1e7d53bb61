"""What a stage takes from the ledger and what it hands back."""

from dataclasses import dataclass

from models.claim import Claim
from models.document import DocumentStatus, MediaType, SourceFile
from models.page import PageFacts, PageImage
from models.reading import Block, Reading, ReadingSource
from models.verdict import Finding, Verdict

SETTLED = frozenset({"accepted", "ignored"})
"""Codes of pages that a person has decided about."""


@dataclass(frozen=True, slots=True)
class DocumentToSplit:
    """A document to open. Each of `sources` held its bytes when it was last seen."""

    claim: Claim
    sha256: str
    media_type: MediaType
    sources: tuple[SourceFile, ...]
    """Those still there first, then the most recently seen."""
    pages_saved: int
    """Pages from 1 on that an earlier, broken-off split has saved."""


@dataclass(frozen=True, slots=True)
class PageToPrepare:
    """A page to make a picture of. `facts` without words."""

    claim: Claim
    sha256: str
    """Of the document."""
    media_type: MediaType
    sources: tuple[SourceFile, ...]
    facts: PageFacts
    image: PageImage | None
    """The picture that an earlier run made under the same options; its file may be gone."""


@dataclass(frozen=True, slots=True)
class PreparedPage:
    """A page and its picture, made under `preprocess_key`."""

    claim: Claim
    preprocess_key: str
    image: PageImage


@dataclass(frozen=True, slots=True)
class PageToRead:
    """A page for an OCR engine."""

    claim: Claim
    image: PageImage
    facts: PageFacts


@dataclass(frozen=True, slots=True)
class CachedReading:
    """What an earlier run read in the same picture under the same recipe."""

    id: int
    reading: Reading


@dataclass(frozen=True, slots=True)
class PageResult:
    """A page that was read and judged."""

    claim: Claim
    reading: Reading
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    image_sha256: str | None = None
    """The picture it was read in; None when a text layer was taken or the page is blank."""
    cached_from: int | None = None
    """The stored reading this is a copy of."""


@dataclass(frozen=True, slots=True)
class PageToLoad:
    """What an edition shows for a page: a reading, or the reason why there is none."""

    page_no: int
    verdict: Verdict
    reading_id: int | None
    blocks: tuple[Block, ...]
    code: str | None = None
    """Why the page is bad, e.g. render-timeout or truncated, or what a person decided about it."""
    message: str | None = None
    text: str = ""
    source: ReadingSource | None = None
    copied_from: int | None = None
    """The earlier reading that this one says the same as."""

    @property
    def is_settled(self) -> bool:
        """A person has looked at it: nothing about it is doubtful any more."""
        return self.code in SETTLED


@dataclass(frozen=True, slots=True)
class ChunkVectors:
    """One vector a chunk, in order, all made by `model`."""

    model: str
    vectors: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Loaded:
    """What loading a document came to."""

    edition_id: int
    status: DocumentStatus
    is_new: bool
    """False when an equal edition was there already."""
    is_shown: bool = True
    """False when it stands beside what the knowledge base goes on to show."""
