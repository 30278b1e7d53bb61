"""How much two readings of a document differ."""

from collections.abc import Sequence

from rapidfuzz.distance import LCSseq

from models.compare import DocumentComparison, PageChange, Pair
from models.verdict import Verdict

_RANKS = {
    Verdict.GOOD: 0,
    Verdict.BLANK: 0,
    Verdict.REPAIRED: 1,
    Verdict.SUSPECT: 2,
    Verdict.BAD: 3,
    Verdict.SKIPPED: 3,
    None: 3,
}
"""A page that an edition does not have is as bad as one that could not be read."""


def compare_pages(pair: Pair, pages: Sequence[PageChange]) -> DocumentComparison:
    """Sums over the pages of a document; all are nothing while there are not two editions."""
    changes = [changed_characters(page) for page in pages if page.differs]
    steps = {page.page_no: _RANKS[page.new.verdict] - _RANKS[page.old.verdict] for page in pages}
    return DocumentComparison(
        document_id=pair.document_id,
        name=pair.name,
        old_edition=pair.before_id,
        new_edition=pair.made_id,
        is_shown=pair.made_id is not None and pair.made_id == pair.shown_id,
        pages=len(pages),
        changed=tuple(page.page_no for page in pages if page.differs),
        added=sum(added for added, _ in changes),
        removed=sum(removed for _, removed in changes),
        better=tuple(page_no for page_no, step in steps.items() if step < 0),
        worse=tuple(page_no for page_no, step in steps.items() if step > 0),
        old_seconds=sum(page.old.seconds for page in pages),
        new_seconds=sum(page.new.seconds for page in pages),
        old_tokens=sum(page.old.tokens for page in pages),
        new_tokens=sum(page.new.tokens for page in pages),
    )


def changed_characters(page: PageChange) -> tuple[int, int]:
    """How many characters only the new text of a page has, and how many only the old one."""
    common = LCSseq.similarity(page.old.text, page.new.text)
    return len(page.new.text) - common, len(page.old.text) - common
