"""What another reading of a document changed."""

from dataclasses import dataclass

from models.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Pair:
    """A document of a backfill with two of its editions."""

    document_id: int
    name: str
    """A name it stands under, printable; empty where it stands under none."""
    shown_id: int | None
    before_id: int | None
    """Shown when the backfill took the document up."""
    made_id: int | None
    """None: not loaded yet."""


@dataclass(frozen=True, slots=True)
class Side:
    """A page in one of two editions."""

    verdict: Verdict | None
    """None: the edition has no such page."""
    text: str
    """Empty where both say the same."""
    characters: int
    """Of the whole text."""
    seconds: float
    tokens: int
    """Of the answer; 0 for engines that count none."""


@dataclass(frozen=True, slots=True)
class PageChange:
    """A page as it was and as it is in the new edition."""

    page_no: int
    differs: bool
    """The texts are not the same."""
    old: Side
    new: Side


@dataclass(frozen=True, slots=True)
class DocumentComparison:
    """What a backfill made of a document, against what was shown when it began."""

    document_id: int
    name: str
    old_edition: int | None
    new_edition: int | None
    """None: not loaded yet."""
    is_shown: bool
    """The new one is what the knowledge base shows."""
    pages: int
    changed: tuple[int, ...]
    """Numbers of pages whose text differs."""
    added: int
    """Characters that only the new edition has."""
    removed: int
    better: tuple[int, ...]
    """Numbers of pages whose verdict got better: from unreadable to doubtful to well read."""
    worse: tuple[int, ...]
    old_seconds: float
    new_seconds: float
    old_tokens: int
    new_tokens: int
