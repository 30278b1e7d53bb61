"""What the checks say of a reading."""

from dataclasses import dataclass, field
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding weighs."""

    INFO = "info"
    WARNING = "warning"
    """The reading becomes suspect."""
    ERROR = "error"
    """The reading is bad."""


class Verdict(StrEnum):
    """The sum of a page's findings."""

    GOOD = "good"
    REPAIRED = "repaired"
    SUSPECT = "suspect"
    BAD = "bad"
    BLANK = "blank"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing a check saw: stable code, weight and evidence (numbers, spans; never whole texts)."""

    code: str
    severity: Severity
    message: str
    evidence: dict[str, float | int | str] = field(default_factory=dict)
