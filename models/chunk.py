"""A passage in the knowledge base."""

from dataclasses import dataclass

from models.geometry import Box


@dataclass(frozen=True, slots=True)
class ChunkBox:
    """Where a part of a chunk stands. `box` in points of page `page_no`."""

    page_no: int
    box: Box


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage: its text, the headings above it, and where on which pages it stands."""

    ordinal: int
    """From 0, in reading order of the document."""
    text: str
    headings: tuple[str, ...]
    """Heading path, outermost first."""
    pages: tuple[int, ...]
    boxes: tuple[ChunkBox, ...]
    kind: str = "text"
    """text, table (rows by newlines, cells by tabs) or margin (headers and footers of one page)."""
