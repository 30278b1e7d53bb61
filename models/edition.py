"""An edition: which readings the knowledge base shows for a document."""

from collections.abc import Sequence

from models.document import DocumentStatus
from models.verdict import Verdict
from models.work import PageToLoad

_UNREADABLE = frozenset({Verdict.BAD, Verdict.SKIPPED})


def status_of(pages: Sequence[PageToLoad], *, is_doubtful: bool) -> DocumentStatus:
    """What a document with these pages is. `is_doubtful`: the file itself may be cut off."""
    bad = sum(page.verdict in _UNREADABLE for page in pages)
    if pages and bad == len(pages):
        return DocumentStatus.FAILED
    if bad:
        return DocumentStatus.PARTIAL
    if is_doubtful or any(page.verdict is Verdict.SUSPECT for page in pages):
        return DocumentStatus.NEEDS_REVIEW
    return DocumentStatus.COMPLETE


def first_reason(pages: Sequence[PageToLoad]) -> tuple[str | None, str | None]:
    """Code and message of the first bad page, for the document's own line; none when no page is bad."""
    for page in pages:
        if page.verdict in _UNREADABLE:
            return page.code, f"Page {page.page_no}: {page.message}" if page.message else None
    return None, None
