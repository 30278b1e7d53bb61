"""Pages that were read well: what faults are injected into."""

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from random import Random
from typing import Any

from models.geometry import Transform
from models.reading import Block, BlockType, Reading, ReadingSource
from models.verdict import PageUnderCheck
from models.vlm import Parser
from tasks.work.parsers import Sent, parse
from tasks.work.repair import repair

_SENT = Sent(1000, 1414, Transform.scale(0.595, 0.595), 1000)


@dataclass(frozen=True, slots=True)
class Good:
    """A page that was read well, and words of other pages."""

    reading: Reading
    page: PageUnderCheck
    others: Sequence[str]

    def with_text(self, text: str, **changes: Any) -> tuple[Reading, PageUnderCheck]:
        """The page as if `text` had been read."""
        return dataclasses.replace(read_as("text", text), **changes), self.page


Wrong = tuple[Reading, PageUnderCheck]
Fault = Callable[[Good, Random], Wrong]


def read_as(parser: Parser, answer: str) -> Reading:
    """An answer as the client reads it: mended, parsed, the raw one kept."""
    mended = repair(answer)
    found = parse(parser, mended.text, _SENT)
    notes = (*mended.notes, *found.notes)
    return Reading(ReadingSource.OCR, found.text, found.blocks, raw=answer, notes=notes)


def div(label: str, html: str) -> str:
    """A block of a page in Chandra's form."""
    return f'<div data-bbox="50 50 900 900" data-label="{label}">{html}</div>'


def as_table(rows: list[list[str]]) -> Reading:
    """A page that is a table of these rows."""
    return read_as("chandra", div("Table", _table(rows)))


def as_html(reading: Reading) -> str:
    """A reading as a model would have answered it: divs with boxes, tables in HTML."""
    return "".join(div(*_told(block)) for block in reading.blocks)


def _told(block: Block) -> tuple[str, str]:
    if block.type is BlockType.TABLE and block.rows:
        return "Table", _table(block.rows)
    return "Text", f"<p>{escape(block.text)}</p>"


def _table(rows: Iterable[Iterable[str]]) -> str:
    cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
