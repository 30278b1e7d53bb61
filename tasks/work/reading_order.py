"""In which order what stands on a page is read: columns one after the other, what crosses them in its place.

As for lines (`columns`): a gutter is an upright strip that no region crosses over some height. Regions that
cross it cut the page into bands; a band with regions on both sides is read left side first. Pages of scripts
that run otherwise are looked at in a mirror, or laid on their side.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from models.geometry import Box
from models.text import CJK_SCRIPTS, RIGHT_TO_LEFT, scripts

_SLACK = 0.01
"""Share of the width by which boxes may reach over a gutter."""


@dataclass(frozen=True, slots=True)
class _Band:
    """Places of boxes beside a gutter, or of one that crosses it."""

    left: tuple[int, ...]
    right: tuple[int, ...] = ()
    overlap: float = 0.0
    """Height over which both sides run side by side."""


class Direction(Enum):
    """Which way lines run, and with them the columns or tiers of a page."""

    RIGHT = auto()
    """From left to right, lines from top to bottom."""
    LEFT = auto()
    """From right to left: Arabic, Hebrew."""
    DOWN = auto()
    """Downwards, lines from right to left: upright Chinese and Japanese."""


def direction_of(text: str, *, runs_down: bool) -> Direction:
    """Which way a page runs, as most letters of its `text` are written; without letters to the right.

    `runs_down`: its signs stand below rather than beside one another; no other script than those of East
    Asia is written so.
    """
    letters = scripts(text)
    half = letters.total() / 2
    if sum(letters[script] for script in RIGHT_TO_LEFT) > half:
        return Direction.LEFT
    if runs_down and sum(letters[script] for script in CJK_SCRIPTS) > half:
        return Direction.DOWN
    return Direction.RIGHT


def seen(box: Box, direction: Direction) -> Box:
    """The box of a page as it lies where the page is turned so that it runs to the right."""
    match direction:
        case Direction.LEFT:
            return Box(-box.x1, box.y0, -box.x0, box.y1)
        case Direction.DOWN:
            # A quarter turn against the clock: down becomes right, and the rightmost column the first line.
            return Box(box.y0, -box.x1, box.y1, -box.x0)
        case Direction.RIGHT:
            return box


def ordered(boxes: Sequence[Box], direction: Direction = Direction.RIGHT) -> list[int]:
    """Places of `boxes` in reading order; y runs downwards."""
    return _ordered([seen(box, direction) for box in boxes], tuple(range(len(boxes))))


def _ordered(boxes: Sequence[Box], places: tuple[int, ...]) -> list[int]:
    best: list[_Band] = []
    best_score = (0.0, 0)
    for x in sorted({boxes[place].x1 for place in places}):
        bands = _bands(boxes, places, x)
        # Of gutters that part as much, that which fewer boxes cross: paragraphs end in no straight line.
        score = sum(band.overlap for band in bands), -len(bands)
        if score > best_score:
            best, best_score = bands, score
    if not best:
        return sorted(places, key=lambda place: (boxes[place].y0, boxes[place].x0))
    found: list[int] = []
    loose: tuple[int, ...] = ()
    for band in best:
        if not band.overlap:
            loose += band.left + band.right
            continue
        found += _ordered(boxes, loose) + _ordered(boxes, band.left) + _ordered(boxes, band.right)
        loose = ()
    return found + _ordered(boxes, loose)


def _bands(boxes: Sequence[Box], places: Sequence[int], x: float) -> list[_Band]:
    """The boxes as bands beside a gutter at `x`, from top to bottom."""
    width = max(boxes[place].x1 for place in places) - min(boxes[place].x0 for place in places)
    slack = _SLACK * width
    bands: list[_Band] = []
    left: tuple[int, ...] = ()
    right: tuple[int, ...] = ()
    for place in sorted(places, key=lambda place: boxes[place].y0 + boxes[place].y1):
        if boxes[place].x1 <= x + slack:
            left += (place,)
        elif boxes[place].x0 >= x - slack:
            right += (place,)
        else:
            bands += [_band(boxes, left, right), _Band((place,))]
            left = right = ()
    return [*bands, _band(boxes, left, right)]


def _band(boxes: Sequence[Box], left: tuple[int, ...], right: tuple[int, ...]) -> _Band:
    if not left or not right:
        return _Band(left, right)
    (top, bottom), (other_top, other_bottom) = _reach(boxes, left), _reach(boxes, right)
    return _Band(left, right, max(0.0, min(bottom, other_bottom) - max(top, other_top)))


def _reach(boxes: Sequence[Box], places: Sequence[int]) -> tuple[float, float]:
    return min(boxes[place].y0 for place in places), max(boxes[place].y1 for place in places)
