"""What one run did, stage by stage, and what failed meanwhile."""

from dataclasses import dataclass

from models.stage import Stage


@dataclass(frozen=True, slots=True)
class StageOutcome:
    """One stage of one run."""

    stage: Stage
    documents: int
    pages: int
    cached: int
    """Pages of these whose result was taken from an earlier run."""
    failed: int
    """Rows of timing that ended with a failure."""
    page_p50_s: float | None
    """Median seconds of work a page; None where no page was worked on."""
    page_p95_s: float | None
    wall_s: float
    """From the first start to the last end."""

    @property
    def pages_per_s(self) -> float:
        """Pages that were worked on, over the time between first start and last end."""
        return (self.pages - self.cached) / self.wall_s if self.wall_s else 0.0


@dataclass(frozen=True, slots=True)
class FailedWork:
    """A document (`page_no` 0) or page on which nothing more is tried."""

    document_id: int
    name: str
    page_no: int
    code: str
    message: str
