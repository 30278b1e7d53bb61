"""What only the pages around a page tell: judged when a document is loaded, as it is loaded."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import sqlalchemy as sa

from db import readings
from models.limits import CheckLimits
from models.reading import Reading, ReadingSource
from models.verdict import Finding, Verdict
from models.work import PageToLoad
from tasks.work.checks import DOCUMENT_CHECKS, check_document, verdict

CODES = frozenset(check.code for check in DOCUMENT_CHECKS)
_READ = frozenset({Verdict.GOOD, Verdict.REPAIRED, Verdict.SUSPECT})

Findings = Mapping[int, Sequence[Finding]]


@dataclass(frozen=True, slots=True)
class Judged:
    """Pages of a document as they are to be loaded, and which of them have new findings or a new verdict."""

    pages: tuple[PageToLoad, ...]
    changed: tuple[tuple[PageToLoad, tuple[Finding, ...]], ...] = ()

    def save(self, connection: sa.Connection, document_id: int) -> None:
        """Keep what changed; saving it again changes nothing."""
        if self.changed:
            readings.judge(connection, document_id, self.changed, CODES)


def known_findings(connection: sa.Connection, pages: Sequence[PageToLoad]) -> Findings:
    """Findings of the pages by reading id, in one query."""
    return readings.findings_of(connection, [page.reading_id for page in _doubted(pages)])


def judge_together(pages: Sequence[PageToLoad], known: Findings, limits: CheckLimits) -> Judged:
    """Look at the pages of a document side by side. `known`: of `known_findings`.

    A good page that does not fit in becomes suspect, and good again once it does. What was judged bad is no
    neighbour; what a person wrote or decided about is, but is not doubted.
    """
    neighbours = {page.page_no: _reading(page) for page in pages if page.verdict in _READ}
    found = check_document(neighbours, limits) if len(neighbours) > 1 else {}
    changes = {
        page.page_no: (_judged(page, (*own, *seen)), seen)
        for page in _doubted(pages)
        for own, before in [_split(known.get(page.reading_id or 0, ()))]
        if (seen := found.get(page.page_no, ())) != before
    }
    shown = tuple(changes[page.page_no][0] if page.page_no in changes else page for page in pages)
    return Judged(shown, tuple(changes.values()))


def _doubted(pages: Sequence[PageToLoad]) -> Iterator[PageToLoad]:
    for page in pages:
        is_human = page.source is ReadingSource.HUMAN
        if page.reading_id and page.verdict in _READ and not page.is_settled and not is_human:
            yield page


def _split(findings: Collection[Finding]) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Those of the page alone, and those of the pages around it."""
    own = tuple(finding for finding in findings if finding.code not in CODES)
    return own, tuple(finding for finding in findings if finding.code in CODES)


def _judged(page: PageToLoad, findings: Sequence[Finding]) -> PageToLoad:
    return replace(page, verdict=verdict(_reading(page), findings))


def _reading(page: PageToLoad) -> Reading:
    return Reading(page.source or ReadingSource.NONE, page.text, page.blocks)
