"""Hand-made lines for tests of layout: text with a box that a print of that size would have."""

import math
from collections.abc import Sequence

from models.geometry import Box, Transform
from tasks.work.layout import blocks_of
from tasks.work.lines import Line

HEIGHT = 20.0
PITCH = 26.0
SAME = Transform.scale(1.0, 1.0)


def line(text: str, x: float, y: float, *, width: float | None = None, height: float = HEIGHT) -> Line:
    """A line with its top left corner at (x, y); as wide as its letters unless told."""
    return Line(text, Box(x, y, x + (len(text) * height / 2 if width is None else width), y + height), 0.9)


def column(texts: Sequence[str], x: float, y: float, *, width: float | None = None) -> list[Line]:
    """Lines one below the other."""
    return [line(text, x, y + number * PITCH, width=width) for number, text in enumerate(texts)]


def turned(lines: list[Line], degrees: float) -> list[Line]:
    """The same lines on a page turned clockwise, in the upright boxes that an engine gives."""
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    found = []
    for each in lines:
        box = each.box
        corners = [(x * cos - y * sin, x * sin + y * cos) for x in (box.x0, box.x1) for y in (box.y0, box.y1)]
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        found.append(Line(each.text, Box(min(xs), min(ys), max(xs), max(ys)), each.confidence))
    return found


def texts_of(lines: Sequence[Line]) -> list[str]:
    """The texts of the blocks made of these lines."""
    return [block.text for block in blocks_of(lines, SAME)]


def words_of(lines: Sequence[Line]) -> list[str]:
    """All words in reading order."""
    return " ".join(texts_of(lines)).split()
