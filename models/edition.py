"""An edition: which readings the knowledge base shows for a document, and what that makes of it."""

from collections.abc import Sequence

from models.document import DocumentStatus
from models.verdict import UNREADABLE, Verdict
from models.work import PageToLoad


def document_status(verdicts: Sequence[Verdict], *, is_repaired: bool) -> DocumentStatus:
    """Where a document stands once each of its pages has a verdict; a page that failed is bad.

    One bad page makes it partial, never lost. A file that had to be repaired and has blank pages was most
    likely cut off while it was copied: a person has to look.
    """
    bad = sum(verdict in UNREADABLE for verdict in verdicts)
    if bad:
        return DocumentStatus.FAILED if bad == len(verdicts) else DocumentStatus.PARTIAL
    is_cut_off = is_repaired and Verdict.BLANK in verdicts
    if is_cut_off or Verdict.SUSPECT in verdicts:
        return DocumentStatus.NEEDS_REVIEW
    return DocumentStatus.COMPLETE


def status_of(pages: Sequence[PageToLoad], *, is_repaired: bool) -> DocumentStatus:
    """As `document_status`: what a person has decided about needs no review, unread pages stay unread."""
    verdicts = [Verdict.GOOD if _is_decided(page) else page.verdict for page in pages]
    return document_status(verdicts, is_repaired=is_repaired)


def reason(pages: Sequence[PageToLoad], *, is_repaired: bool) -> tuple[str | None, str | None]:
    """Code and message for the document's own line: of its first bad page, or that the file looks cut off."""
    for page in pages:
        if page.verdict in UNREADABLE:
            return page.code, f"Page {page.page_no}: {page.message}" if page.message else None
    blank = sum(page.verdict is Verdict.BLANK and not page.is_settled for page in pages)
    if is_repaired and blank:
        lost = f"{blank} of its {len(pages)} pages {'is' if blank == 1 else 'are'} blank and may be lost"
        return "file-repaired", f"The file is damaged: {lost}. Copy it again from where it came."
    return None, None


def _is_decided(page: PageToLoad) -> bool:
    return page.is_settled and page.verdict not in UNREADABLE
