"""A claim: one piece of work leased to one owner for a while."""

import datetime as dt
from dataclasses import dataclass

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
    ready_at: dt.datetime
    leased_at: dt.datetime
    crashes: int = 0
    """Worker deaths this work was in flight at."""
