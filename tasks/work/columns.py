"""Reading order: a page cut into regions that are read one after the other.

A gutter is an upright strip that no line crosses over some height. Lines that cross it (headings over both
columns) cut the page into bands; a band with text on both sides is read left side first, each side cut
again in the same way, so three columns, or a table in one of two columns, need no rule of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.work.lines import Placed, frame_of, typical_height
from tasks.work.tables import Grid, dense_runs, grid_of, is_prose

_LEAST_LINES = 2
# Both sides must run side by side for so many line heights: less is two words in one row.
_LEAST_OVERLAP = 2.5
# Where a gutter is looked for, in line heights: narrow ones are a third of one wide in an engine's boxes.
_STEP = 0.25
# Boxes reach so far over a gutter's middle, and gutters are at least so wide, in line heights: engines draw
# boxes a little too wide, and the text of a line never parts by chance on two lines and more.
_SLACK, _GAP = 0.15, 0.15
# White over the whole width that parts groups of labels and values, in line heights.
_WHITE = 1.2

Region = Grid | tuple[Placed, ...]
"""A table, or lines of one column in no particular order."""


@dataclass(frozen=True, slots=True)
class _Band:
    left: tuple[Placed, ...]
    right: tuple[Placed, ...]
    overlap: float
    """Height over which both sides run side by side; 0 when the band is no pair of columns."""
    gap: float

    @property
    def items(self) -> tuple[Placed, ...]:
        return self.left + self.right


def regions(items: Sequence[Placed]) -> list[Region]:
    """Regions in reading order; every line is in exactly one."""
    found: list[Region] = []
    for part, grid in dense_runs(items):
        found += _around(grid) if grid else _by_gutters(part)
    return found


def gutters(items: Sequence[Placed]) -> list[float]:
    """Where columns part, from left to right: the middle of each gutter, as the lines beside it show."""
    found: set[float] = set()
    for band in _best_bands(items) if items else []:
        if band.overlap:
            right_of, left_of = frame_of(band.left).x1, frame_of(band.right).x0
            found |= {(right_of + left_of) / 2, *gutters(band.left), *gutters(band.right)}
    return sorted(found)


def _around(grid: Grid) -> list[Region]:
    return [*_by_gutters(grid.before), grid, *_by_gutters(grid.after)]


def _by_gutters(items: Sequence[Placed]) -> list[Region]:
    if not items:
        return []
    bands = _best_bands(items)
    if not bands:
        return [tuple(items)]
    found: list[Region] = []
    loose: list[Placed] = []
    for band in bands:
        if not band.overlap:
            loose.extend(band.items)
            continue
        found += _by_gutters(loose) + _read(band, typical_height(items))
        loose = []
    return found + _by_gutters(loose)


def _read(band: _Band, height: float) -> list[Region]:
    grid = grid_of(band.items)
    if grid:
        return _around(grid)
    parts = [] if is_prose(band.left) or is_prose(band.right) else _parts(band.items, height)
    if len(parts) > 1:
        return [region for part in parts for region in _by_gutters(part)]
    return regions(band.left) + regions(band.right)


def _parts(items: Sequence[Placed], height: float) -> list[list[Placed]]:
    """Labels and values come in groups with white between them; columns of prose must not be cut so."""
    parts: list[list[Placed]] = []
    bottom = 0.0
    for item in sorted(items, key=lambda item: (item.frame.y0, item.frame, item.text)):
        if not parts or item.frame.y0 - bottom > _WHITE * height:
            parts.append([])
        parts[-1].append(item)
        bottom = max(bottom, item.frame.y1) if len(parts[-1]) > 1 else item.frame.y1
    return parts


def _best_bands(items: Sequence[Placed]) -> list[_Band]:
    """The bands at the gutter with most text side by side; the wider gutter where two are equal."""
    height = typical_height(items)
    around = frame_of(items)
    steps = int(around.width / (_STEP * height))
    places = [around.x0 + step * _STEP * height for step in range(1, steps + 1)]
    best: list[_Band] = []
    best_score = (0.0, 0.0)
    for x in places:
        bands = _bands(items, x, height)
        score = sum(band.overlap for band in bands), max((band.gap for band in bands), default=0.0)
        if score > best_score:
            best, best_score = bands, score
    return best


def _bands(items: Sequence[Placed], x: float, height: float) -> list[_Band]:
    bands: list[_Band] = []
    left: list[Placed] = []
    right: list[Placed] = []
    slack = _SLACK * height
    for item in sorted(items, key=lambda item: (item.middle, item.frame, item.text)):
        if item.frame.x1 <= x + slack:
            left.append(item)
        elif item.frame.x0 >= x - slack:
            right.append(item)
        else:
            bands += [_band(left, right, height), _Band((item,), (), 0.0, 0.0)]
            left, right = [], []
    return [*bands, _band(left, right, height)]


def _band(left: Sequence[Placed], right: Sequence[Placed], height: float) -> _Band:
    overlap = gap = 0.0
    if min(len(left), len(right)) >= _LEAST_LINES:
        a, b = frame_of(left), frame_of(right)
        overlap, gap = min(a.y1, b.y1) - max(a.y0, b.y0), b.x0 - a.x1
    counts = overlap >= _LEAST_OVERLAP * height and gap >= _GAP * height
    return _Band(tuple(left), tuple(right), overlap if counts else 0.0, gap if counts else 0.0)
