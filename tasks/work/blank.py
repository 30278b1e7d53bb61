"""Is there anything to read on a page image? Decided from pixels, before any model sees it.

What counts is ink that could be writing: pixels that differ from the paper around them, minus specks, minus
straight lines (folds, rules, scanner edges) and punched holes. The paper is found locally, so that white,
grey and black sheets and soft shadows are all paper.

The thresholds were measured on pages made in code at 1,540 px: noise on 0.5 % of the pixels leaves at most 3
pixels of ink in any window; the smallest print that must count, one digit of a 6 pt page number, leaves 14 or
more, and grey text of 85 % white 40 or more. See tests/unit/test_blank.py.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageChops

from tasks.work.components import Mask, boxes
from tasks.work.ranks import ranked

Differences = npt.NDArray[np.uint8]
"""How much pixels differ from the paper around them, in grey levels."""

CONTRAST = 20
"""Grey levels between ink and the paper around it."""
_STROKE = 0.35
"""Of the difference of the darkest within 8 to 16 px a stroke has so much. Letters of pages of type, drawn 7
to 14 px high and blurred by 0.7 px, came out 1.3 to 1.6 times as high at the median without this, and 0.9 to
1.1 times with it; with 0.5, thin strokes break and they come out too small."""
CELL_PX = 8
_PAPER_CELLS = 9
"""The paper's grey is looked for in 9 x 9 cells, 72 x 72 px: more than a letter, less than a shadow."""
_PAPER_RANK, _DARK_RANK = 0.8, 0.4
"""Print on light paper fills most cells a little, so the paper is among the lightest. On dark sheets marks
are lighter or darker than the paper, and the middle is safest."""
_INKED_CELL = 26
"""A cell with ink on a tenth of its pixels, in 255ths."""
_SAMPLED = 4
_INKED_SAMPLE = 39
"""The same where a cell is known by 16 pixels: 3 of them, since 2 are noise too often."""
_OBVIOUS_SHARE = 0.1
"""Share of cells that are inked on a page of text; a sheet with four black edges has 0.06."""
_FILLED = 0.9
"""A strip is a line when so much of its length is inked: letters and words leave gaps."""
_INK_IN_WINDOW = 12
"""Pixels of ink in some window of 2 x 2 cells that can be writing on a clean sheet."""
_NOISE_RANK, _NOISE_FACTOR = 0.95, 18
"""On a noisy sheet it takes more: the level that 95 % of the windows have, on average, tells how much."""
_HOLE_PX = (16, 60)
"""Width and height of a punched hole: 6 mm are 31 px on A4, 4 mm on A3 are 15."""
_HOLE_FILLED = 0.65
"""A disc fills 0.79 of its box; letters of this size less than 0.6."""
_HOLE_MARGIN = 0.15
"""Holes lie so near to an edge, as a share of the side."""


class Ink(NamedTuple):
    """`share` of pixels, 0 to 1, that are ink; `is_blank` when none of it can be writing."""

    share: float
    is_blank: bool


def measure(image: Image.Image) -> Ink:
    """How much ink a page image (L or RGB) has, and whether it is blank."""
    return _at_a_glance(image) or ink_and_marks(differences(image.convert("L")))[0]


def ink_and_marks(differs: Differences) -> tuple[Ink, Mask]:
    """Both `measure` and `marks` of a picture whose differences these are."""
    found = differs > CONTRAST
    writing = _without_specks(found)
    return _full(found, CELL_PX, _INKED_CELL) or _measured(writing), writing


def _measured(writing: Mask) -> Ink:
    """As `measure`, of the marks of a page that are no specks."""
    pixels, windows = writing.size, _windows(writing)
    enough = _INK_IN_WINDOW + _noise(windows)
    is_blank = windows.max() < enough
    if not is_blank:
        writing = _without_specks(_without_lines(_inked_part(_without_holes(writing))))
        is_blank = _windows(writing).max() < enough
    return Ink(np.count_nonzero(writing) / pixels, bool(is_blank))


def _at_a_glance(image: Image.Image) -> Ink | None:
    """The ink of a light page with so many marked cells, from each second pixel; None for others.

    Ink is counted in squares of 16 of these; the paper is found by half of the rows and columns of cells.
    """
    grey = image.resize(one_in(2, image.size), Image.Resampling.NEAREST).convert("L")
    cells = grey.reduce(CELL_PX // 2)
    if _is_dark(cells):
        return None
    some = cells.resize(one_in(2, cells.size), Image.Resampling.NEAREST)
    around = _PAPER_CELLS // 2 + 1
    return _full(_against(grey, some, around, _PAPER_RANK) > CONTRAST, _SAMPLED, _INKED_SAMPLE)


def one_in(step: int, size: tuple[int, int]) -> tuple[int, int]:
    """How many there are across and down where each is `step` long; those at the edges may be smaller."""
    return -(-size[0] // step), -(-size[1] // step)


def _full(found: Mask, cell_px: int, inked: int) -> Ink | None:
    """The ink of a page that has marks all over; None for one that must be looked at closely."""
    cells = np.asarray(Image.fromarray(found.view(np.uint8) * np.uint8(255)).reduce(cell_px))
    if (cells > inked).mean() <= _OBVIOUS_SHARE:
        return None
    return Ink(np.count_nonzero(found) / found.size, is_blank=False)


def marks(grey: Image.Image) -> Mask:
    """Which pixels of a picture (L) differ from the paper around them, specks left out."""
    return marks_of(differences(grey))


def marks_of(differs: Differences) -> Mask:
    """The marks of a picture whose differences these are."""
    return _without_specks(differs > CONTRAST)


def strokes(differs: Differences, marked: Mask) -> Mask:
    """Those of the marks that stand out against the paper about as much as the darkest around them.

    A mark is any difference from the paper: letters run together through their blurred edges.
    """
    height, width = differs.shape
    whole = np.pad(differs, ((0, -height % CELL_PX), (0, -width % CELL_PX)))
    rows = whole.reshape(-1, CELL_PX, whole.shape[1]).max(axis=1)
    cells = np.pad(rows.reshape(len(rows), -1, CELL_PX).max(axis=2), 1)
    cells = np.maximum(np.maximum(cells[:-2], cells[1:-1]), cells[2:])
    most = np.maximum(np.maximum(cells[:, :-2], cells[:, 1:-1]), cells[:, 2:])
    least = np.repeat((most * _STROKE).astype(np.uint8), CELL_PX, axis=1)[:, None, :]
    stands_out: Mask = (whole.reshape(len(rows), CELL_PX, -1) > least).reshape(whole.shape)
    return stands_out[:height, :width] & marked


def differences(grey: Image.Image) -> Differences:
    """How much each pixel of a picture (L) differs from the paper around it.

    The paper is a high rank of the greys nearby, or a middle one where most of the sheet is dark.
    """
    cells = grey.reduce(CELL_PX)
    return _against(grey, cells, _PAPER_CELLS, paper_rank(np.asarray(cells)))


def _is_dark(cells: Image.Image) -> bool:
    return paper_rank(np.asarray(cells)) == _DARK_RANK


def paper_rank(cells: npt.NDArray[np.uint8]) -> float:
    """Which of the greys around it, from 0 the darkest to 1, is the paper's; a middle one on dark sheets."""
    return _DARK_RANK if float(np.median(cells)) < 128 else _PAPER_RANK


def _against(grey: Image.Image, cells: Image.Image, around: int, rank: float) -> Differences:
    """Differences from the paper: of so many cells around a pixel the one of this rank."""
    found = ranked(np.asarray(cells), around, round((around**2 - 1) * rank))
    paper = Image.fromarray(found).resize(grey.size, Image.Resampling.BILINEAR)
    return np.asarray(ImageChops.difference(grey, paper))


def _without_specks(ink: Mask) -> Mask:
    """Ink that touches at least two other pixels of ink."""
    padded = np.pad(ink, 1).astype(np.uint8)
    rows = padded[:-2] + padded[1:-1] + padded[2:]
    around = rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]
    kept: Mask = ink & (around >= 3)
    return kept


def _inked_part(ink: Mask) -> Mask:
    """The smallest rectangle that holds all ink."""
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    if not len(rows):
        return ink
    return ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def _without_holes(ink: Mask) -> Mask:
    """Ink that is no solid disc near an edge."""
    left, top, right, bottom = found = boxes(ink).T
    across, down = right - left, bottom - top
    low, high = _HOLE_PX
    is_round = (np.minimum(across, down) >= low) & (np.maximum(across, down) <= high)
    is_round &= np.abs(across - down) <= 0.25 * across
    to_side = np.minimum(left, ink.shape[1] - right) <= _HOLE_MARGIN * ink.shape[1]
    to_end = np.minimum(top, ink.shape[0] - bottom) <= _HOLE_MARGIN * ink.shape[0]
    kept = ink.copy()
    for x0, y0, x1, y1 in found.T[is_round & (to_side | to_end)]:
        if ink[y0:y1, x0:x1].mean() >= _HOLE_FILLED:
            kept[y0:y1, x0:x1] = False
    return kept


def _without_lines(ink: Mask) -> Mask:
    """Ink that is on no straight line, across or down, slanted by up to 3 degrees."""
    return ink & ~_lines_down(ink) & ~_lines_down(np.ascontiguousarray(ink.T)).T


def _lines_down(ink: Mask) -> Mask:
    """Lines of at least 200 px, made of straight pieces: strokes of large letters are shorter."""
    pieces = _runs_down(ink, length=48, side=1)
    return pieces & _runs_down(pieces, length=200, side=4) if pieces.any() else pieces


def _runs_down(mask: Mask, length: int, side: int) -> Mask:
    """Pixels in a strip, `side` px to either side, that is set nearly throughout `length` rows."""
    if mask.shape[0] <= length:
        return np.zeros_like(mask)
    padded = np.pad(mask, ((0, 0), (side, side)))
    width = mask.shape[1]
    strip = padded[:, :width].copy()
    for offset in range(1, 2 * side + 1):
        strip |= padded[:, offset : offset + width]
    filled = _sums(strip, length) >= _FILLED * length
    # A row is part of a run when any of the windows that hold it is filled.
    reach = np.pad(filled, ((length - 1, length - 1), (0, 0)))
    runs: Mask = _sums(reach, length) > 0
    return runs


def _sums(mask: Mask, length: int) -> npt.NDArray[np.uint8]:
    """Set pixels in each window of `length` (at most 255) rows, by its first row.

    Windows are put together from those of 1, 2, 4, … rows: adding whole pictures of bytes is many times
    as fast as running totals down the columns.
    """
    height = len(mask) - length + 1
    sums = np.zeros((height, mask.shape[1]), np.uint8)
    part, rows, summed = mask.view(np.uint8), 1, 0
    while summed < length:
        if length & rows:
            sums += part[summed : summed + height]
            summed += rows
        part, rows = part[:-rows] + part[rows:], 2 * rows
    return sums


def _noise(windows: npt.NDArray[np.int64]) -> float:
    """How much ink above the ordinary noise alone can bring into one of so many windows."""
    low = windows[windows <= np.quantile(windows, _NOISE_RANK)]
    return _NOISE_FACTOR * float(np.sqrt(low.mean()))


def _windows(ink: Mask) -> npt.NDArray[np.int64]:
    """Ink in every window of 2 x 2 cells."""
    height, width = (-(-side // CELL_PX) * CELL_PX for side in ink.shape)
    whole = np.pad(ink, ((0, height - ink.shape[0]), (0, width - ink.shape[1])))
    bands = whole.view(np.uint8).reshape(height // CELL_PX, CELL_PX, width).sum(axis=1, dtype=np.uint8)
    cells = np.pad(bands.reshape(len(bands), -1, CELL_PX).sum(axis=2, dtype=np.int64), 1)
    sums: npt.NDArray[np.int64] = cells[:-1, :-1] + cells[1:, :-1] + cells[:-1, 1:] + cells[1:, 1:]
    return sums
