"""The stages a page goes through. The words are the same in code, tables, Prefect keys and docs."""

from enum import StrEnum


class Stage(StrEnum):
    """register → split → preprocess → ocr → validate → load."""

    REGISTER = "register"
    SPLIT = "split"
    PREPROCESS = "preprocess"
    OCR = "ocr"
    VALIDATE = "validate"
    LOAD = "load"


# Part of every cache key: raise a number when the stage's result changes for the same input.
STAGE_VERSION: dict[Stage, int] = dict.fromkeys(Stage, 1)


class ClaimStatus(StrEnum):
    """Where a piece of work stands."""

    READY = "ready"
    LEASED = "leased"
    WAITING = "waiting"
    """A document whose pages are still being read."""
    DONE = "done"
    FAILED = "failed"


BUSY = (ClaimStatus.READY, ClaimStatus.LEASED)
"""Somebody works on it, or is to."""
UNFINISHED = (*BUSY, ClaimStatus.WAITING)
ENDED = (ClaimStatus.DONE, ClaimStatus.FAILED)


class Outcome(StrEnum):
    """How a stage run ended, or a whole run."""

    OK = "ok"
    PARTIAL = "partial"
    RETRY = "retry"
    FAILED = "failed"
    CANCELLED = "cancelled"
    """A run that was stopped before its end, by a person or with its worker."""
