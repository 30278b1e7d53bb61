"""Documents and the places where they were seen."""

import datetime as dt
from dataclasses import dataclass, field
from enum import StrEnum

MOST_OPEN = 8
"""So many documents a worker process keeps open: their pages come one by one."""


class MediaType(StrEnum):
    """What pagemill reads, decided by content."""

    PDF = "application/pdf"
    JPEG = "image/jpeg"
    PNG = "image/png"
    TIFF = "image/tiff"
    WEBP = "image/webp"
    GIF = "image/gif"
    MPO = "image/mpo"
    BMP = "image/bmp"
    JPEG2000 = "image/jp2"
    HEIC = "image/heic"
    AVIF = "image/avif"


class DocumentStatus(StrEnum):
    """Where a document stands. The last five are final until someone asks again."""

    PENDING = "pending"
    COMPLETE = "complete"
    PARTIAL = "partial"
    """At least one page is bad; the others are in the knowledge base."""
    NEEDS_REVIEW = "needs_review"
    """Every page was read, at least one answer or the file itself is doubtful."""
    REJECTED = "rejected"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file as the scan found it."""

    uri: str
    """Absolute path, lone surrogates of an undecodable name kept as Python has them; or a URL."""
    size: int
    mtime_ns: int
    """0 where the place knows no times: then the file is read at every scan."""


@dataclass(frozen=True, slots=True)
class IntakeFile:
    """A source whose bytes were read once: its content's name and kind, or why it is refused."""

    source: SourceFile
    sha256: str
    media_type: MediaType | None
    rejection: str | None = None
    """Error code when the content is refused at first sight (empty, unsupported-type)."""
    message: str | None = None


@dataclass(frozen=True, slots=True)
class ScanProblem:
    """A path that could not become an intake file: gone, forbidden, busy or ignored on purpose."""

    uri: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """What splitting a document tells about the file as a whole."""

    page_count: int
    is_repaired: bool = False
    """The reader had to rebuild the file's structure: it may be cut off (PDF only)."""
    is_encrypted: bool = False
    permissions: int | None = None
    """PDF permission bits, as in ISO 32000-1 table 22; None when not encrypted."""
    title: str = ""
    notes: tuple[str, ...] = ()
    """Stable finding codes, e.g. xfa-form, javascript, attachments."""


@dataclass(frozen=True, slots=True)
class Document:
    """A row of the ledger: one content."""

    id: int
    sha256: str
    media_type: MediaType | None
    size: int
    status: DocumentStatus
    page_count: int | None = None
    code: str | None = None
    message: str | None = None
    is_repaired: bool = False
    title: str = ""
    edition_id: int | None = None
    created_at: dt.datetime | None = None
    sources: tuple[str, ...] = field(default=())
    """Names it is or was seen under, those still there first."""
    gone: tuple[str, ...] = ()
    """Those of them whose files are not there any more, or hold something else now."""

    @property
    def is_gone(self) -> bool:
        """No file holds it any more; it stays searchable unless a newer content took its place."""
        return bool(self.sources) and len(self.gone) == len(self.sources)
