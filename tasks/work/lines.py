"""Lines of text and where they stand: what layout works on.

Every function of layout is pure and deterministic: equal lines give equal blocks, whatever their order.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from models.geometry import Box
from models.text import script_of


@dataclass(frozen=True, slots=True)
class Line:
    """A piece of a line as an engine or a text layer gives it. `box` in pixels of the page image."""

    text: str
    box: Box
    confidence: float | None = None
    """0 to 1, where the engine gives one."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A line with its frame: the box it has once the page is straight and read from left to right.

    Layout compares frames; the line's own box is what is reported.
    """

    line: Line
    frame: Box

    @property
    def text(self) -> str:
        """The line's text."""
        return self.line.text

    @property
    def middle(self) -> float:
        """Vertical centre of the frame."""
        return (self.frame.y0 + self.frame.y1) / 2


Row = tuple[Placed, ...]
"""Pieces that stand side by side, from left to right."""


def typical_height(items: Iterable[Placed]) -> float:
    """Median frame height, at least one pixel."""
    return max(1.0, median([item.frame.height for item in items] or [1.0]))


def rows_of(items: Sequence[Placed]) -> list[Row]:
    """Pieces grouped to rows, top to bottom: a piece joins the last row when their middles are close.

    What stands over or under a piece is not beside it, however close: lines of a bent page have high boxes.
    """
    rows: list[list[Placed]] = []
    for item in sorted(items, key=lambda item: (item.middle, item.frame, item.text)):
        if rows and _beside(item, rows[-1]):
            rows[-1].append(item)
        else:
            rows.append([item])
    return [tuple(sorted(row, key=lambda item: (item.frame, item.text))) for row in rows]


def _beside(item: Placed, row: Sequence[Placed]) -> bool:
    # The lower of the two heights decides, so that a drop cap or a big bracket does not swallow rows.
    height = min(item.frame.height, typical_height(row))
    is_level = abs(item.middle - sum(other.middle for other in row) / len(row)) < height / 2
    return is_level and not any(_stacked(item.frame, other.frame) for other in row)


def _stacked(a: Box, b: Box) -> bool:
    return min(a.x1, b.x1) - max(a.x0, b.x0) > min(a.width, b.width) / 2


def frame_of(items: Iterable[Placed]) -> Box:
    """The frame around all pieces; there must be one."""
    return Box.around(item.frame for item in items)


def join(pieces: Iterable[str], separator: str) -> str:
    """Pieces as one text. Between two characters of Chinese, Japanese or wide punctuation nothing is put."""
    text = ""
    for piece in pieces:
        if text and piece and not (_runs_on(text[-1]) and _runs_on(piece[0])):
            text += separator
        text += piece
    return text


def width_of(text: str) -> int:
    """Length in narrow letters: a wide character counts as two."""
    return len(text) + sum(map(is_wide, text))


def is_wide(char: str) -> bool:
    """Whether the character is printed as wide as two letters."""
    return unicodedata.east_asian_width(char) in "WF"


def _runs_on(char: str) -> bool:
    # Korean is as wide, but parts its words by spaces.
    return is_wide(char) and script_of(char) != "hangul"
