"""What one run did, stage by stage, and what failed meanwhile."""

from dataclasses import dataclass

from models.stage import Stage


@dataclass(frozen=True, slots=True)
class StageOutcome:
    """One stage of one run."""

    stage: Stage
    documents: int
    pages: int
    """Each once, however often it was tried."""
    cached: int
    """Pages of these whose result was taken from an earlier run."""
    seconds: float
    """Work, summed over workers."""
    wall_s: float
    """From the first start to the last end."""
    retries: int
    """Stage runs that ended with another try."""
    failed: int = 0
    """Documents and pages on which nothing more is tried."""
    failed_pages: int = 0
    page_p50_s: float | None = None
    """Median seconds of work a page; None where no page was worked on."""
    page_p95_s: float | None = None

    @property
    def ok(self) -> int:
        """Pages that the stage did."""
        return max(0, self.pages - self.failed_pages)

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


@dataclass(frozen=True, slots=True)
class Tally:
    """What a run came to, in the few numbers that its name on a screen has room for."""

    documents: int = 0
    """Worked on or refused."""
    lost_documents: int = 0
    """Of these: refused, or nothing more is tried on them."""
    pages: int = 0
    """Read, or prepared where the run read none."""
    lost_pages: int = 0
    cached: int = 0
    """Pages of these that were read before."""
    loaded: int = 0
    """Documents that went into the knowledge base."""
    unread: int = 0
    """Files that could not be taken."""
    listed: int | None = None
    """Files that a scan saw; None without a scan."""

    @property
    def is_whole(self) -> bool:
        """Nothing is missing of what was to be done."""
        return not (self.lost_documents or self.lost_pages or self.unread)

    @property
    def is_lost(self) -> bool:
        """Nothing came of what was to be done."""
        is_whole_loss = self.pages == self.lost_pages if self.pages else not self.loaded
        return bool(self.lost_documents or self.lost_pages) and is_whole_loss


@dataclass(frozen=True, slots=True)
class Headway:
    """How far a run has come."""

    done: int
    """Of its own."""
    left: int
    """Of the profile, in anybody's hands, as far as is known."""

    @property
    def percent(self) -> float:
        """Of what is known so far."""
        total = self.done + self.left
        return 100.0 * self.done / total if total else 100.0
