"""Straighten lines: boxes of a page that was scanned askew overlap until they are turned back."""

from collections.abc import Sequence
from statistics import median

from models.geometry import Box
from tasks.work.lines import Line, Placed

# Below this slope (a third of a degree) boxes overlap too little to disturb reading order; above the upper
# one (12 degrees) the estimate from upright boxes is worth nothing.
_LEAST, _MOST = 0.006, 0.21
_ENOUGH_LINES = 8
# Pairs grow with the square of lines; so many spread over the page say as much.
_SAMPLE = 120


def straighten(lines: Sequence[Line]) -> list[Placed]:
    """Lines with frames as on a straight page. Without a clear slope a frame is the line's own box."""
    slope = slope_of([line.box for line in lines])
    return [Placed(line, _turned(line.box, slope) if slope else line.box) for line in lines]


def slope_of(boxes: Sequence[Box]) -> float:
    """How much lines fall per pixel to the right (negative: they rise); 0.0 where that is not clear.

    An upright box around a line of slope t is t times its width higher, which gives the size; the left
    edges of lines below one another wander by t per pixel down, which gives the sign. Medians over pairs
    of lines (Theil-Sen) keep headings and indents from deciding.
    """
    if len(boxes) < _ENOUGH_LINES:
        return 0.0
    sample = sorted(boxes, key=lambda box: (box.y0, box.x0))[:: len(boxes) // _SAMPLE + 1]
    size = _growth(sample)
    if not _LEAST <= size <= _MOST:
        return 0.0
    drift = _drift(sample)
    # Edges must agree on the size too: tall ornaments and wide headings make boxes high without any slope.
    if not 0.7 * size <= abs(drift) <= 1.4 * size:
        return 0.0
    return -size if drift > 0 else size


def _growth(boxes: Sequence[Box]) -> float:
    widest = max(box.width for box in boxes)
    slopes = [
        (b.height - a.height) / (b.width - a.width)
        for i, a in enumerate(boxes)
        for b in boxes[i + 1 :]
        if abs(b.width - a.width) > widest / 5
    ]
    return median(slopes) if len(slopes) >= _ENOUGH_LINES else 0.0


def _drift(boxes: Sequence[Box]) -> float:
    slopes = [
        (b.x0 - a.x0) / (b.y0 - a.y0)
        for i, a in enumerate(boxes)
        for b in boxes[i + 1 :]
        if b.y0 - a.y0 > 2 * a.height and abs(b.x0 - a.x0) < 0.3 * (b.y0 - a.y0)
    ]
    return median(slopes) if len(slopes) >= _ENOUGH_LINES else 0.0


def _turned(box: Box, slope: float) -> Box:
    # Small angles: turning is a shear along each axis, and what the slope added to width and height goes.
    x, y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
    x, y = x + slope * y, y - slope * x
    height = max(box.height - abs(slope) * box.width, box.height / 4)
    width = max(box.width - abs(slope) * height, box.width / 2)
    return Box(x - width / 2, y - height / 2, x + width / 2, y + height / 2)
