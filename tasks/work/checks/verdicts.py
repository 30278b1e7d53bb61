"""Summing up: findings to a verdict on a page. models.edition sums up the verdicts of a document."""

from collections.abc import Sequence

from models.notes import REPAIRS
from models.reading import Reading, ReadingSource
from models.verdict import Finding, Severity, Verdict

# Nothing of such an answer can be used; a cut or looping one still holds the start of the page.
_HOPELESS = frozenset({"answer-too-long", "chat-text", "empty-with-ink", "layout-invalid", "text-on-blank"})


def verdict(reading: Reading, findings: Sequence[Finding]) -> Verdict:
    """The heaviest finding decides; without one a page that nobody had to read is blank, others are good.

    A good answer that had to be mended first is repaired.
    """
    severities = {finding.severity for finding in findings}
    if Severity.ERROR in severities:
        return Verdict.BAD
    if Severity.WARNING in severities:
        return Verdict.SUSPECT
    if reading.source is ReadingSource.NONE:
        return Verdict.BLANK
    is_mended = reading.source is ReadingSource.OCR and any(one.code in REPAIRS for one in findings)
    return Verdict.REPAIRED if is_mended else Verdict.GOOD


def badness(findings: Sequence[Finding]) -> tuple[int, int, int, int]:
    """A key that orders readings of one page, best first: the least bad attempt wins, not the last.

    Hopeless errors weigh most, then errors, warnings and repairs; attempts with equal keys are equally good.
    """
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    return (
        sum(finding.code in _HOPELESS for finding in errors),
        len(errors),
        sum(finding.severity is Severity.WARNING for finding in findings),
        sum(finding.code in REPAIRS for finding in findings),
    )
