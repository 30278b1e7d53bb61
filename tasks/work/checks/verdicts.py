"""Summing up: findings to a verdict on a page, verdicts to the status of a document."""

from collections.abc import Sequence

from models.document import DocumentFacts, DocumentStatus
from models.reading import Reading, ReadingSource
from models.verdict import Finding, Severity, Verdict


def verdict(reading: Reading, findings: Sequence[Finding]) -> Verdict:
    """The heaviest finding decides; without one a page that nobody had to read is blank, others are good."""
    severities = {finding.severity for finding in findings}
    if Severity.ERROR in severities:
        return Verdict.BAD
    if Severity.WARNING in severities:
        return Verdict.SUSPECT
    return Verdict.BLANK if reading.source is ReadingSource.NONE else Verdict.GOOD


def document_status(verdicts: Sequence[Verdict | None], facts: DocumentFacts) -> DocumentStatus:
    """Where a document stands once each of its pages has a verdict, or None for a page that failed.

    One bad page makes it partial, never lost. A file that had to be repaired and has blank pages was most
    likely cut off while it was copied: a person has to look.
    """
    bad = sum(verdict in {None, Verdict.BAD} for verdict in verdicts)
    if bad:
        return DocumentStatus.FAILED if bad == len(verdicts) else DocumentStatus.PARTIAL
    is_cut_off = facts.is_repaired and Verdict.BLANK in verdicts
    if is_cut_off or Verdict.SUSPECT in verdicts:
        return DocumentStatus.NEEDS_REVIEW
    return DocumentStatus.COMPLETE
