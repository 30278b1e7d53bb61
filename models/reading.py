"""What OCR returned for one page under one recipe."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from models import notes
from models.geometry import Box
from models.text import clean


class BlockType(StrEnum):
    """What a block of a page is. Parsers of all profiles map to these."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    FORMULA = "formula"
    CODE = "code"
    CAPTION = "caption"
    FOOTNOTE = "footnote"
    HEADER = "header"
    FOOTER = "footer"
    PICTURE = "picture"
    """Its text is a description, not a transcription: kept apart, never searchable as document words."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Block:
    """A passage of a page, in reading order. `box` in page points."""

    type: BlockType
    text: str
    box: Box | None = None
    level: int = 0
    """Heading level from 1; 0 for all else."""
    rows: tuple[tuple[str, ...], ...] = ()
    """Cells of a table, row by row; `text` then holds the same, cells split by tabs, rows by newlines."""
    html: str | None = None
    confidence: float | None = None
    """0 to 1, from the engine, where it gives one."""


class FinishReason(StrEnum):
    """How the engine ended. Only `stop` can be good."""

    STOP = "stop"
    LENGTH = "length"
    REPETITION = "repetition"


class ReadingSource(StrEnum):
    """Where the text came from."""

    OCR = "ocr"
    TEXT_LAYER = "text-layer"
    NONE = "none"
    """The page is blank: there was nothing to read and nothing was asked."""
    HUMAN = "human"
    """A person wrote it."""


@dataclass(frozen=True, slots=True)
class Trial:
    """How a model was asked for one page: one attempt of the retry ladder. `None`: as the profile says."""

    rung: str = "first"
    """What was done differently, e.g. sampling, turn 90, larger."""
    temperature: float | None = None
    top_p: float | None = None
    repetition_penalty: float | None = None
    max_tokens: int | None = None
    turn: int = 0
    """Degrees clockwise that the picture was turned by before it was sent."""
    width_px: int = 0
    """Of the picture sent; 0: not known."""
    height_px: int = 0
    prompt_sha256: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """One page's answer under one recipe. Text is clean: no NUL, no lone surrogate, no control characters."""

    source: ReadingSource
    text: str
    blocks: tuple[Block, ...]
    finish_reason: FinishReason = FinishReason.STOP
    engine: str = ""
    """Engine name and version, e.g. faster-paddle 1.0.4 tiny."""
    seconds: float = 0.0
    """Time the engine spent on this page."""
    tokens_in: int | None = None
    tokens_out: int | None = None
    confidence: float | None = None
    attempts: int = 1
    raw: str | None = None
    """The engine's own answer where it differs from `text`."""
    layer_agreement: float | None = None
    """0 to 1: how well the page's text layer agrees with what was read; None when there is no sane layer."""
    queue_s: float | None = None
    """Part of `seconds` that the page waited at the server, where that is known."""
    server: str = ""
    """Which server read it: URL and version, without secrets."""
    trial: Trial | None = None
    """How the model was asked; None for engines that know only one way."""
    notes: tuple[str, ...] = field(default=())
    """Stable finding codes the engine side wants recorded, e.g. layer-rejected."""


def mean_confidence(parts: Iterable[tuple[float | None, int]]) -> float | None:
    """Mean over characters of parts of a page (confidence and length of each); None where none is known."""
    known = [(confidence, length) for confidence, length in parts if confidence is not None]
    total = sum(length for _, length in known)
    return sum(confidence * length for confidence, length in known) / total if total else None


def cleaned(reading: Reading) -> Reading:
    """`reading` with every text clean; the note `text-cleaned` says that there was need for it."""
    together = "\n".join(_texts(reading))
    if clean(together) == together:
        return reading
    tidy = replace(
        reading,
        text=clean(reading.text),
        blocks=tuple(_cleaned_block(block) for block in reading.blocks),
        engine=clean(reading.engine),
        raw=None if reading.raw is None else clean(reading.raw),
        notes=tuple(clean(note) for note in reading.notes),
    )
    return replace(tidy, notes=(*tidy.notes, notes.TEXT_CLEANED))


def _texts(reading: Reading) -> Iterator[str]:
    """Every text of a reading: looked through together, they take a tenth of the time."""
    yield from (reading.text, reading.engine, reading.raw or "", *reading.notes)
    for block in reading.blocks:
        yield block.text
        yield from (cell for row in block.rows for cell in row)
        yield block.html or ""


def _cleaned_block(block: Block) -> Block:
    return replace(
        block,
        text=clean(block.text),
        rows=tuple(tuple(clean(cell) for cell in row) for row in block.rows),
        html=None if block.html is None else clean(block.html),
    )
