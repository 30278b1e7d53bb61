"""What a check is: its name and weight, what it looks for, and what a person should do about it."""

from collections.abc import Callable
from dataclasses import dataclass

from models.limits import CheckLimits
from models.verdict import Severity
from tasks.work.checks.case import Case, Sighting
from tasks.work.checks.neighbours import Leaves

Rule = Callable[[Case], Sighting | None]
DocumentRule = Callable[[int, Leaves, CheckLimits], Sighting | None]


@dataclass(frozen=True, slots=True)
class Named:
    """What all checks tell of themselves."""

    code: str
    severity: Severity
    """Weight of its findings unless one says otherwise."""
    about: str
    remedy: str
    """What a person should do."""


@dataclass(frozen=True, slots=True)
class Check(Named):
    """A check of one page."""

    rule: Rule
    is_optional: bool = False
    """Made only where a profile's limits enable it."""


@dataclass(frozen=True, slots=True)
class DocumentCheck(Named):
    """A check of a page against the pages around it."""

    rule: DocumentRule
