"""How high the smallest running text of a page is: what its picture must keep legible.

Running text, not the smallest mark: an exponent or a lone footnote sign is read with its line. Tables, notes
and formulas are set smaller than the rest and count as soon as they are more than a few words.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tasks.work.components import Boxes
from tasks.work.pdf_print import Run

X_HEIGHT = 0.48
"""Height of small letters as a share of the type size: 0.43 (Times-like) to 0.53 (Helvetica-like)."""

_SHARE, _LEAST_CHARS = 0.03, 30
"""Text counts as running when so much of the page, and so many characters, are no larger."""
_LEAST_GLYPHS, _TILE_GLYPHS = 30, 12
_TILES, _TILE_HEIGHTS = 12, 8
"""A picture is looked at in up to 12 x 12 tiles, each set in one size of type, and 8 letters high or more."""
_TILE_RANK = 0.3
"""Of a tile's letters this many are no higher than its small letters: the rest are capitals, ascenders,
figures, and letters that run together. With 0.4, clean print at 200 dpi was taken for a quarter too large or
more on 40 % of pages, now on 26 %; scans of the test corpus become 1.4 % larger for it."""
_DOT = 0.5
"""What is so much lower than most of a tile's letters is a dot or a comma."""
_LINED, _ROW_PX = 1.5, 2
"""Variance by mean of how many feet (or left edges) of letters fall into one row of 2 px: 3 to 6 on printed
lines, 1 for marks in no order, as in photographs and the screens of illustrations."""
_LEAST_LINED = 0.2
"""Some tiles of any photograph have marks in line by chance; of a page of print, so many marks at least."""
_SMALLEST = 0.1
"""A tenth of the letters may stand in tiles of smaller type; those are spots and signs."""


def of_runs(runs: Sequence[Run]) -> float | None:
    """x-height in points of the smallest running text of a text layer; None for a page without text."""
    chars = sum(run.chars for run in runs)
    if not chars:
        return None
    wanted, seen = min(chars, max(_LEAST_CHARS, _SHARE * chars)), 0
    for run in sorted(runs, key=lambda run: run.size_pt):
        seen += run.chars
        if seen >= wanted:
            return X_HEIGHT * run.size_pt
    return None


def of_letters(letters: Boxes, size: tuple[int, int]) -> float | None:
    """x-height in pixels of the smallest running text among the letters found on a picture (width, height).

    None where too few letters were found to tell, or none that stand in lines.
    """
    if len(letters) < _LEAST_GLYPHS:
        return None
    heights = (letters[:, 3] - letters[:, 1]).astype(np.float64)
    count = max(1, min(_TILES, int(min(size) / (_TILE_HEIGHTS * np.median(heights)))))
    middles = (letters[:, :2] + letters[:, 2:]) / 2 / np.array(size) * count
    tiles = np.floor(middles[:, 1]) * count + np.floor(middles[:, 0])
    full = [place for place in _by_tile(tiles) if len(place) >= _TILE_GLYPHS]
    if not full:
        return _small_letters(heights)
    lined = [place for place in full if _stands_in_lines(letters[place])]
    known = [(_small_letters(heights[place]), len(place)) for place in lined]
    is_print = sum(count for _, count in known) >= _LEAST_LINED * sum(map(len, full))
    return _ranked(known, _SMALLEST) if known and is_print else None


def _by_tile(tiles: npt.NDArray[np.float64]) -> list[npt.NDArray[np.int64]]:
    """The places of the letters of each tile."""
    order = np.argsort(tiles, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(tiles[order])) + 1)


def _stands_in_lines(letters: Boxes) -> bool:
    for edges in (letters[:, 3], letters[:, 0]):
        counts = np.bincount((edges - edges.min()) // _ROW_PX)
        # Variance of at least so many means, without the divisions that numpy's own take longest for.
        total, rows = len(edges), len(counts)
        if int(counts @ counts) * rows - total * total >= _LINED * total * rows:
            return True
    return False


def is_disorder(letters: Boxes, x_height: float | None) -> bool:
    """Whether there are many marks like letters, but in no lines, whichever way these ran: a photograph.

    `x_height`: what `of_letters` says of them.
    """
    return len(letters) >= _LEAST_GLYPHS and x_height is None


def _small_letters(heights: npt.NDArray[np.float64]) -> float:
    """As numpy's median and quantile, which take ten times as long for a dozen numbers."""
    ordered = np.sort(heights)
    middle = (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    high = ordered[np.searchsorted(ordered, _DOT * middle) :]
    place = _TILE_RANK * (len(high) - 1)
    below = int(place)
    above = min(below + 1, len(high) - 1)
    return float(high[below] + (high[above] - high[below]) * (place - below))


def _ranked(weighed: Sequence[tuple[float, int]], share: float) -> float:
    """The value that so much of the weight does not exceed."""
    ordered = sorted(weighed)
    weights: npt.NDArray[np.int64] = np.cumsum([weight for _, weight in ordered])
    return ordered[int(np.searchsorted(weights, share * weights[-1]))][0]
