"""What a check looks at and what it says."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from models.limits import CheckLimits
from models.reading import Block, BlockType, Reading, ReadingSource
from models.verdict import PageUnderCheck, Severity

Evidence = dict[str, float | int | str]


@dataclass(frozen=True)
class Case:
    """A reading, its page and the limits it is held to."""

    reading: Reading
    page: PageUnderCheck
    limits: CheckLimits

    @property
    def has_answer(self) -> bool:
        """Text, or a description of a picture."""
        blocks = self.reading.blocks
        return bool(self.reading.text.strip()) or any(block.text.strip() for block in blocks)

    @property
    def has_layer_words(self) -> bool:
        """The file itself says that there is text: agreement is measured only against a sane layer."""
        is_sane = self.reading.layer_agreement is not None
        return is_sane and self.page.layer_words >= self.limits.layer_words

    @property
    def is_written(self) -> bool:
        """The text was written freely by a model: it can say what stands on no page."""
        return self.reading.source is ReadingSource.OCR and not self.page.finds_lines

    @cached_property
    def words(self) -> str:
        """What is said outside of listings, clipped: a listing may well hold fences, tags and tokens."""
        blocks = self.reading.blocks
        if any(block.type is BlockType.CODE for block in blocks):
            kept = [block.text for block in blocks if block.type is not BlockType.CODE]
            return clipped("\n".join(kept), self.limits.scan_chars)
        return clipped(self.reading.text, self.limits.scan_chars)

    @property
    def tables(self) -> Iterator[Block]:
        """Blocks that hold rows of cells."""
        return (block for block in self.reading.blocks if block.type is BlockType.TABLE and block.rows)


@dataclass(frozen=True, slots=True)
class Sighting:
    """What a check saw. `severity` only where it differs from the check's own."""

    message: str
    evidence: Evidence = field(default_factory=dict)
    severity: Severity | None = None


def clipped(text: str, most: int) -> str:
    """`text`, or its first and last halves of `most` characters: time is bounded, both ends are seen."""
    return text if len(text) <= most else f"{text[: most // 2]}\n{text[-(most // 2) :]}"
