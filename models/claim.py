"""A claim: one piece of work leased to one owner for a while."""

import datetime as dt
from dataclasses import dataclass

from models.errors import PagemillError
from models.stage import Stage


@dataclass(frozen=True, slots=True)
class Claim:
    """Work on a document (`page_no` 0) or on one page of it, under one recipe."""

    id: int
    document_id: int
    recipe_id: int
    page_no: int
    stage: Stage
    attempt: int
    """From 1: which try this is."""
    owner: str
    """host:pid:start time:suffix of the process that holds it."""
    ready_at: dt.datetime
    leased_at: dt.datetime
    crashes: int = 0
    """Worker deaths this work was in flight at."""
    priority: int = 0
    """Lower is more urgent."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why the work on a claim failed."""

    claim: Claim
    error: PagemillError


@dataclass(frozen=True, slots=True)
class Outstanding:
    """Work not ended yet in some stages."""

    ready: int
    """Free to be claimed now."""
    delayed: int
    """Free later: waiting after a failed try."""
    leased: int
    """In somebody's hands."""

    @property
    def total(self) -> int:
        """All of it."""
        return self.ready + self.delayed + self.leased
