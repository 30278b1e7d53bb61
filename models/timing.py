"""Time spent, one row per document, stage and attempt."""

import datetime as dt
from dataclasses import dataclass

from models.stage import Outcome, Stage


@dataclass(frozen=True, slots=True)
class StageRun:
    """What one batch adds to the timing row of (run, document, stage, attempt).

    A batch may hold pages of several documents: `seconds` is this document's share of the work, so that
    sums over documents are true. `started_at` and `ended_at` are wall-clock and may overlap.
    """

    document_id: int
    stage: Stage
    attempt: int
    ready_at: dt.datetime
    """When the work could have started; waited = started_at - ready_at."""
    started_at: dt.datetime
    ended_at: dt.datetime
    seconds: float
    """Seconds of work, summed over the workers that shared it."""
    pages: int
    cached: int = 0
    """Pages whose result was taken from an earlier run."""
    outcome: Outcome = Outcome.OK
    code: str | None = None
    worker: str = ""
