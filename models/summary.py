"""What a run came to."""

from collections.abc import Mapping
from dataclasses import dataclass

from models.document import DocumentStatus, ScanProblem
from models.run import Run
from models.verdict import Verdict


@dataclass(frozen=True, slots=True)
class DocumentSummary:
    """A document that a run met, and where it stands now."""

    id: int
    sha256: str
    name: str
    """A name it is seen under, printable."""
    title: str
    seen_as: str
    """new, again, known or rejected, as in models.intake."""
    status: DocumentStatus
    page_count: int | None
    verdicts: Mapping[Verdict, int]
    """Pages by verdict under the run's recipe; pages not read yet are in none."""
    seconds: float
    """Work of this run on it, summed over workers."""
    code: str | None
    message: str | None


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run with its documents, by id, and the paths it could not take."""

    run: Run
    documents: tuple[DocumentSummary, ...]
    problems: tuple[ScanProblem, ...]
    pages_read: int
    """Pages that this run read; what it found read is not in it."""
