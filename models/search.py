"""What is asked of the knowledge base and what it answers."""

from dataclasses import dataclass

from models.chunk import ChunkBox


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A question's embedding, compared only with vectors of the same `model`."""

    model: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that answers a question."""

    chunk_id: int
    document_id: int
    sha256: str
    title: str
    """As the file has it; often empty."""
    source: str
    """A name the document is seen under, printable."""
    kind: str
    pages: tuple[int, ...]
    boxes: tuple[ChunkBox, ...]
    headings: tuple[str, ...]
    snippet: str
    """A stretch of the passage around what was found, on one line."""
    highlights: tuple[tuple[int, int], ...]
    """Where in the snippet the terms stand: offsets from and to. Empty when only the meaning was near."""
    score: float
    """Sum of 1 / (60 + rank) over the rankings that found it."""
    text_rank: int | None
    """From 1, in the ranking by words; None when the words did not find it."""
    vector_rank: int | None
    """From 1, in the ranking by meaning."""
    similarity: float | None = None
    """Cosine of passage and question, -1 to 1, where the meaning found it."""
