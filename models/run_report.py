"""A run for a person to look at: times, findings, and the worst pages."""

from dataclasses import dataclass

from models.outcome import StageOutcome
from models.review import PageToReview
from models.summary import RunSummary
from models.verdict import Severity


@dataclass(frozen=True, slots=True)
class FindingCount:
    """How often something was found."""

    code: str
    severity: Severity
    pages: int
    documents: int


@dataclass(frozen=True, slots=True)
class RunReport:
    """A run, what it took, what was found in its documents, and the pages that need a person most."""

    summary: RunSummary
    profile: str
    """Empty for a run without a recipe."""
    stages: tuple[StageOutcome, ...]
    """In the order of the story."""
    findings: tuple[FindingCount, ...]
    """Errors first, then warnings, then notes; the most frequent first."""
    worst: tuple[PageToReview, ...]
    waiting: int
    """Pages that wait for a person, among `worst` or not."""
