"""Time spent, one row per document, stage and attempt."""

import datetime as dt
from dataclasses import dataclass

from models.stage import Outcome, Stage
from models.telemetry import DeviceUse


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
    prefect_run_id: str | None = None
    """Prefect's task run, where there is one; else the run's own id is kept."""
    tokens_in: int = 0
    """Of prompts and pictures, all tries."""
    tokens_out: int = 0


@dataclass(frozen=True, slots=True)
class TimingRow:
    """Where time went for one stage, document, run or profile."""

    key: str
    """Stage, profile, or the id of a document or run."""
    documents: int
    pages: int
    cached: int
    """Pages of these whose result was taken from an earlier run."""
    seconds: float
    """Work, summed over workers."""
    share: float
    """Of the seconds of all rows, 0 to 1."""
    page_p50_s: float | None
    """Median seconds of work a page; None where no page was worked on."""
    page_p95_s: float | None
    waited_p50_s: float
    """Median seconds between ready and started."""
    wall_s: float
    """From the first start to the last end."""
    workers: int
    retries: int
    """Stage runs that ended with another try."""
    kind: str | None = None
    """Of a run, what it was: ingest, backfill, split, ..."""
    outcome: Outcome | None = None
    """Of a run, how it ended; None while it is under way, and where it was killed."""


@dataclass(frozen=True, slots=True)
class TimingReport:
    """Timing rows, most seconds first, and the stage that limits the whole."""

    by: str
    rows: tuple[TimingRow, ...]
    seconds: float
    wall_s: float
    limiting: Stage | None
    """The stage with the most seconds of work a worker; None without any work."""
    devices: tuple[DeviceUse, ...] = ()
    """GPUs and processes over the newest run that was watched."""
