"""Lines of one column to paragraphs, list items and headings."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from models.geometry import Box
from models.reading import BlockType
from models.text import CJK_SCRIPTS, script_of
from tasks.work.lines import Placed, Row, frame_of, join, rows_of, typical_height, width_of

_ITEM = re.compile(r"[•●○▪■◦‣·∙*–—-]\s|[•●▪■◦‣]|\(?(\d{1,2}|[a-zA-Z])[.)]\s")
_SENTENCE_END = tuple('.!?:。！？：”’"»')
_NO_HEADING_END = (*".,;:。，；、", "-")
# In narrow letters; a Chinese character is as wide as two.
_LONGEST_HEADING = 80
# How much taller than the page's usual line a line is: certain, and likely when it also stands alone.
_TALL, _TALLER = 1.35, 1.12
# Heights, relative to the page's usual line, from which a heading is of level 1 and of level 2.
_LEVELS = (2.0, 1.5)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Rows that belong together, with what they are."""

    type: BlockType
    level: int
    rows: tuple[Row, ...]

    @property
    def pieces(self) -> tuple[Placed, ...]:
        """All pieces, in reading order."""
        return tuple(piece for row in self.rows for piece in row)

    @property
    def text(self) -> str:
        """Lines as on the page, hyphens too; lines of Chinese or Japanese run on."""
        return join((_text(row) for row in self.rows), "\n")


@dataclass(frozen=True, slots=True)
class _Column:
    """What is usual in a column: edges, line height, and white between lines."""

    left: float
    right: float
    height: float
    gap: float

    @property
    def width(self) -> float:
        return self.right - self.left

    def ends_early(self, frame: Box) -> bool:
        """Whether a line leaves a quarter of the column white at its end."""
        return frame.x1 < self.right - 0.25 * self.width


def paragraphs(items: Sequence[Placed], usual_height: float) -> list[Paragraph]:
    """Paragraphs of one column, top to bottom. `usual_height` is that of the page's running text."""
    rows = rows_of(items)
    column = _column(rows)
    groups: list[tuple[int, list[Row]]] = []
    for row in rows:
        level_above, above = groups[-1] if groups else (0, [])
        level = _heading_level(row, above, column, usual_height, goes_on=level_above > 0)
        if above and level_above == level and not _starts_new(above, row, column):
            above.append(row)
        else:
            groups.append((level, [row]))
    return [_paragraph(level, tuple(group)) for level, group in groups]


def _paragraph(level: int, rows: tuple[Row, ...]) -> Paragraph:
    kind = BlockType.LIST if _ITEM.match(_text(rows[0])) else BlockType.PARAGRAPH
    return Paragraph(BlockType.HEADING if level else kind, level, rows)


def _column(rows: Sequence[Row]) -> _Column:
    frames = [frame_of(row) for row in rows]
    gaps = [below.y0 - above.y1 for above, below in pairwise(frames)]
    height = typical_height([item for row in rows for item in row])
    # Two lines far apart do not make their distance usual.
    gap = min(median(gaps), 0.8 * height) if gaps else 0.0
    return _Column(min(frame.x0 for frame in frames), max(frame.x1 for frame in frames), height, gap)


def _starts_new(group: Sequence[Row], row: Row, column: _Column) -> bool:
    above, below = frame_of(group[-1]), frame_of(row)
    if below.y0 - above.y1 > column.gap + 0.5 * column.height or _ITEM.match(_text(row)):
        return True
    ended = column.ends_early(above) and _text(group[-1]).endswith(_SENTENCE_END)
    return ended or _is_indented(group, below, column)


def _is_indented(group: Sequence[Row], below: Box, column: _Column) -> bool:
    """A first line set in from, or a line set out from the lines above it.

    Lines of a list item stand further in than its bullet, or at the margin while the item fills its lines.
    """
    margin = min(frame_of(row).x0 for row in group[-3:])
    shift = below.x0 - margin
    if _ITEM.match(_text(group[0])):
        return shift < -column.height and column.ends_early(frame_of(group[-1]))
    if len(group) > 1 and shift < -column.height:
        return True
    # Deeper than a quarter of the column is a centred line rather than an indent.
    deepest = max(2 * column.height, column.width / 4)
    return 0.6 * column.height < shift < deepest and margin < column.left + 0.6 * column.height


def _heading_level(
    row: Row, above: Sequence[Row], column: _Column, usual_height: float, *, goes_on: bool
) -> int:
    """1 to 3 when this row is a heading or a line of one (`goes_on`: the row above is one), else 0.

    Much taller than running text is enough; a little taller must also stand alone: white above it, and not
    the width of the column. Boxes of engines vary by a tenth with the letters in them.
    """
    text = _text(row)
    ratio = typical_height(row) / usual_height
    if not _reads_like_a_heading(text, goes_on=goes_on and ratio >= _TALL) or ratio < _TALLER:
        return 0
    frame = frame_of(row)
    if any(item.frame.height > item.frame.width for item in row if len(item.text) > 2):
        # Written up the margin: its height is its length.
        return 0
    white = not above or frame.y0 - frame_of(above[-1]).y1 > column.gap + 0.25 * column.height
    if ratio < _TALL and not (white and column.ends_early(frame)):
        return 0
    return 1 + sum(ratio < least for least in _LEVELS)


def _reads_like_a_heading(text: str, *, goes_on: bool) -> bool:
    if width_of(text) > _LONGEST_HEADING or text.endswith(_NO_HEADING_END) or _ITEM.match(text):
        return False
    opens = text[:1].isupper() or text[:1].isdecimal() or script_of(text[0]) in CJK_SCRIPTS
    return (opens or goes_on) and sum(char.isalpha() for char in text) >= 2


def _text(row: Row) -> str:
    return join((" ".join(piece.text.split()) for piece in row), " ")
