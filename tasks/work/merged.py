"""Take apart what an engine read as one line: two columns, or two cells, with a narrow gutter between.

A detector joins pieces that stand closer than about a line height, as the columns of many papers do. Where
other lines show that there is a gutter, and the picture is white there over the whole height of the line,
the line is two. Its text is cut at the space nearest to the gutter, letters counted by their usual widths.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from models.geometry import Box
from tasks.work.columns import gutters
from tasks.work.layerink import CONTRAST, Grey
from tasks.work.layout import is_vertical
from tasks.work.lines import Line, Placed, is_wide
from tasks.work.skew import slope_of

# White that parts columns, in heights of the line; spaces between words are half of it.
_WHITE = 0.6
# The gutter of other lines tells where to look, give or take a line height.
_REACH = 1.0
# Pieces on both sides are longer than this, or it is a bullet or a number beside its text.
_LEAST_PIECE = 3.0
# A space so far (in letters) from where the gutter should be in the text is not it.
_FARTHEST = 5.0
_NARROW, _BROAD = frozenset("iljtfrI.,;:'’|!()[] "), frozenset("mwMW—…%@")


def take_apart(lines: Sequence[Line], grey: Grey) -> list[Line]:
    """The same lines, those that run over a white gutter cut in two. `grey`: the picture, as layerink has it.

    On skewed pages and in upright writing nothing is cut.
    """
    lines = list(lines)
    if is_vertical(lines) or slope_of([line.box for line in lines]):
        return lines
    for x in gutters([Placed(line, line.box) for line in lines]):
        lines = [piece for line in lines for piece in _pieces(line, x, grey)]
    return lines


def _pieces(line: Line, x: float, grey: Grey) -> list[Line]:
    box, least = line.box, _LEAST_PIECE * line.box.height
    if not box.x0 + least < x < box.x1 - least:
        return [line]
    white = _white_near(box, x, grey)
    place = white and _cut_at(line.text, (sum(white) / 2 - box.x0) / box.width)
    if not white or not place:
        return [line]
    left, right = line.text[:place].strip(), line.text[place:].strip()
    return [
        replace(line, text=left, box=Box(box.x0, box.y0, white[0], box.y1)),
        replace(line, text=right, box=Box(white[1], box.y0, box.x1, box.y1)),
    ]


def _white_near(box: Box, x: float, grey: Grey) -> tuple[float, float] | None:
    """The widest white strip around `x` through the whole height of the box, if it is wide enough."""
    first = max(0, int(x - _REACH * box.height))
    pixels = grey[max(0, int(box.y0)) : int(box.y1), first : int(x + _REACH * box.height)]
    if not pixels.size:
        return None
    inked = np.flatnonzero(pixels.max() - pixels.min(axis=0) > CONTRAST)
    edges = [-1, *inked.tolist(), pixels.shape[1]]
    width, start = max((after - before - 1, before + 1) for before, after in pairwise(edges))
    if width < _WHITE * box.height:
        return None
    return float(first + start), float(first + start + width)


def _cut_at(text: str, share: float) -> int | None:
    """Index of the space nearest to where `share` of the text's printed width ends; None if none is near."""
    ends = [0.0]
    for char in text:
        ends.append(ends[-1] + _printed_width(char))
    target = share * ends[-1]
    spaces = [index for index, char in enumerate(text) if char == " "]
    nearest = min(spaces, key=lambda index: abs(ends[index] - target), default=None)
    if nearest is None or abs(ends[nearest] - target) > _FARTHEST:
        return None
    return nearest


def _printed_width(char: str) -> float:
    if char in _NARROW:
        return 0.55
    if char in _BROAD:
        return 1.5
    return 2.0 if is_wide(char) else 1.15 if char.isupper() else 1.0
