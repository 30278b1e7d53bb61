"""How far a run has come."""

from dataclasses import dataclass

from models.stage import Stage


@dataclass(frozen=True, slots=True)
class StageProgress:
    """Work of one stage: documents for split and load, pages for preprocess and ocr."""

    stage: Stage
    total: int
    """Known so far: grows while documents are split."""
    done: int
    failed: int

    @property
    def left(self) -> int:
        """Not ended yet."""
        return self.total - self.done - self.failed


@dataclass(frozen=True, slots=True)
class RecentFailure:
    """A document or page that failed."""

    claim_id: int
    document_id: int
    name: str
    """A name the document is seen under, printable."""
    page_no: int
    """0 for the document as a whole."""
    stage: Stage
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Progress:
    """A run at one moment."""

    documents: int
    """Met by the run, refused ones too."""
    refused: int
    """Refused at first sight: they have no work."""
    problems: int
    """Paths that could not be taken."""
    stages: tuple[StageProgress, ...]
    """In their order."""
    failures: tuple[RecentFailure, ...]
    """The last of them first."""

    @property
    def is_done(self) -> bool:
        """Nothing is left of what is known so far."""
        return all(stage.left == 0 for stage in self.stages)
