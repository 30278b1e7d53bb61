"""Summing up: findings to a verdict on a page. models.edition sums up the verdicts of a document."""

from collections.abc import Sequence

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
