"""A document as it is shown and exported: facts and pages in order, bad ones in their place."""

from dataclasses import dataclass

from models.document import Document
from models.reading import Block, ReadingSource
from models.text import printable
from models.verdict import Finding, Verdict

UNREADABLE = frozenset({Verdict.BAD, Verdict.SKIPPED})


@dataclass(frozen=True, slots=True)
class PageView:
    """One page. `blocks` have boxes in page points; `verdict` None means: not read yet."""

    page_no: int
    width_pt: float
    height_pt: float
    rotation: int
    verdict: Verdict | None
    code: str | None
    """Why the page could not be read, as a stable code."""
    reason: str | None
    """The same as a sentence."""
    source: ReadingSource | None
    engine: str
    seconds: float
    confidence: float | None
    text: str
    blocks: tuple[Block, ...]
    findings: tuple[Finding, ...]

    @property
    def is_missing(self) -> bool:
        """There is no text to show for this page, only a reason."""
        return self.verdict is None or self.verdict in UNREADABLE

    @property
    def excuse(self) -> str:
        """What stands in the place of a page without text; empty for a page that has one."""
        if self.verdict is Verdict.BLANK:
            return f"Page {self.page_no} is blank."
        if self.verdict is None and self.code is None:
            return f"Page {self.page_no} has not been read yet."
        if not self.is_missing:
            return ""
        because = (
            self.reason or ", ".join(finding.message for finding in self.findings) or "no reason is known"
        )
        return f"Page {self.page_no} could not be read: {because.rstrip('.')}" + (
            f" ({self.code})." if self.code else "."
        )


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A document with its pages, number 1 to the last without a gap."""

    document: Document
    profile: str
    pages: tuple[PageView, ...]

    @property
    def name(self) -> str:
        """Title, else the file name of its first source, else the start of its hash; printable."""
        return name_of(self.document)


def name_of(document: Document) -> str:
    """What a person calls the document."""
    if document.title.strip():
        return printable(document.title.strip())
    return file_name_of(document)


def file_name_of(document: Document) -> str:
    """The file name of the first source, else the start of the hash; printable."""
    if document.sources:
        return printable(document.sources[0].rstrip("/").rpartition("/")[2])
    return document.sha256[:12]
