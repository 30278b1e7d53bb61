"""What a check of the installation found."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How it stands."""

    OK = "ok"
    WARN = "warn"
    """Works, but not fully or not as most people want it."""
    FAIL = "fail"
    """Nothing works until this is put right."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One line of the doctor: what was looked at, how it stands, and what to do where it is not well."""

    name: str
    level: Level
    found: str
    advice: str = ""


def ok(name: str, found: str) -> Diagnosis:
    """All well."""
    return Diagnosis(name, Level.OK, found)


def warn(name: str, found: str, advice: str) -> Diagnosis:
    """Usable, with a limit."""
    return Diagnosis(name, Level.WARN, found, advice)


def fail(name: str, found: str, advice: str) -> Diagnosis:
    """Has to be put right first."""
    return Diagnosis(name, Level.FAIL, found, advice)
