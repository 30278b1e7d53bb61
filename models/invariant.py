"""What always holds of the ledger, and what keeping house came to."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Invariant:
    """Something that always holds. `broken`: SQL that gives document_id and page_no (0: the document)."""

    name: str
    about: str
    broken: str


@dataclass(frozen=True, slots=True)
class Violation:
    """An invariant that does not hold, and where."""

    invariant: str
    about: str
    count: int
    examples: tuple[str, ...]
    """The first few: `document 7 page 3`, or `document 7`."""


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What one round of keeping house came to."""

    leases: int
    """Pieces of work freed: their owner died or let the lease run out."""
    backfills: tuple[int, ...]
    """Backfills found ended."""
    images: int
    """Page images purged."""
    image_bytes: int
    results: int
    """Files purged that Prefect had kept."""
    violations: tuple[Violation, ...]
    seconds: float
