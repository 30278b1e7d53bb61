"""What goes into a parser and what comes out, and what parsers of every format share."""

from collections.abc import Iterable
from dataclasses import dataclass

from models.geometry import Transform
from models.reading import Block, BlockType


@dataclass(frozen=True, slots=True)
class Sent:
    """The picture that an answer is about."""

    width_px: int
    height_px: int
    transform: Transform
    """Pixels of the picture as it was sent → page points."""
    box_scale: int = 0
    """Boxes in the answer run from 0 to this along each side; 0: the answer has none."""
    schema: str = ""
    """JSON schema that the answer had to keep to; empty: none."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """An answer as text and blocks, in reading order. `text` holds no descriptions of pictures."""

    text: str
    blocks: tuple[Block, ...]
    notes: tuple[str, ...] = ()
    """Stable codes of what was wrong with the answer, e.g. html-repaired."""


def parsed(blocks: Iterable[Block], notes: Iterable[str] = ()) -> Parsed:
    """Blocks with the text they make; empty ones are left out, notes are told once."""
    kept = tuple(block for block in blocks if block.text.strip() or block.rows)
    said = (block.text for block in kept if block.type is not BlockType.PICTURE)
    return Parsed("\n\n".join(text for text in said if text.strip()), kept, tuple(dict.fromkeys(notes)))
