"""How far a scan lies askew: lines of print, seen edge-on at the right angle, leave the whitest gaps."""

import math

import numpy as np
import numpy.typing as npt
from PIL import Image

from tasks.work.components import Boxes, Mask

MOST_DEGREES = 5.0
LEAST_DEGREES = 0.2
"""Scans that lie straighter stay as they are: turning would cost sharpness and gain nothing."""

_COARSE, _FINE = 0.25, 0.05
_POINTS = 40_000
"""So many pixels of ink tell the angle as well as all of them."""
_ENOUGH_GLYPHS, _FEW_GLYPHS = 12, 60
_ROW_PX = 1.5
"""Feet of letters on one line lie in so narrow a row."""
_CLEAR_FEET, _CLEAR_INK = 2.0, 1.06
"""How much the best angle must stand out from the median one. Feet of printed lines reached 2.5 to 9, those
of handwriting and photographs 1.1 to 1.8."""
_FAIR_FEET, _FAIR_INK, _AGREED_DEGREES = 1.5, 1.15, 0.2
"""Blurred small print reached 1.6; it is believed where the ink says the same angle."""

Points = npt.NDArray[np.float64]


def skew_of(ink: Mask, letters: Boxes) -> float:
    """Degrees by which lines fall to the right (negative: rise), up to 5 to either side; 0.0 if not clear.

    The feet or heads of `letters` line up at the right angle. Where that is not clear, all ink is looked at:
    it decides for few letters, and has to agree for many. Lines may run across or down, as in vertical
    writing; whichever is clearer decides.
    """
    clear, degrees = _by_letters(letters)
    if clear < _CLEAR_FEET:
        degrees = _with_ink(clear, degrees, len(letters), ink)
    return degrees if abs(degrees) >= LEAST_DEGREES else 0.0


def _with_ink(clear: float, degrees: float, letters: int, ink: Mask) -> float:
    """What letters that were not clear and the ink tell together; 0.0 where that is nothing."""
    ink_clear, ink_degrees = _by_ink(ink)
    if letters < _FEW_GLYPHS:
        return ink_degrees if ink_clear >= _CLEAR_INK else 0.0
    is_fair = clear >= _FAIR_FEET and ink_clear >= _FAIR_INK
    return degrees if is_fair and abs(degrees - ink_degrees) <= _AGREED_DEGREES else 0.0


def _by_letters(letters: Boxes) -> tuple[float, float]:
    """How clear the sharpest angle is, and that angle."""
    if len(letters) < _ENOUGH_GLYPHS:
        return 0.0, 0.0
    left, top, right, bottom = letters.T.astype(np.float64)
    across, down = (left + right) / 2, (top + bottom) / 2
    # Vertical lines lean left going down when horizontal ones fall to the right.
    edges = ((across, bottom), (across, top), (down, -left), (down, -right))
    return max(_best(along, over / _ROW_PX, 1 / _ROW_PX) for along, over in edges)


def _by_ink(ink: Mask) -> tuple[float, float]:
    places = np.flatnonzero(ink)
    if len(places) < 200:
        return 0.0, 0.0
    down, across = np.divmod(places[:: len(places) // _POINTS + 1], ink.shape[1])
    across, down = across.astype(np.float64), down.astype(np.float64)
    return max(_best(across, down, 1.0), _best(down, -across, 1.0))


def _best(along: Points, over: Points, rows: float) -> tuple[float, float]:
    """As `_by_letters`; `rows`: how many rows there are to a pixel."""
    coarse = np.arange(-MOST_DEGREES, MOST_DEGREES + _COARSE / 2, _COARSE)
    scores = np.array([_sharpness(along * rows, over, degrees) for degrees in coarse])
    near = coarse[int(scores.argmax())]
    fine = np.arange(near - _COARSE, near + _COARSE + _FINE / 2, _FINE)
    sharp = np.array([_sharpness(along * rows, over, degrees) for degrees in fine])
    # The middle of a flat top is nearer to the truth than its first point.
    top = sharp >= 0.97 * sharp.max()
    return float(sharp.max() / np.median(scores)), float(np.average(fine[top], weights=sharp[top]))


def _sharpness(along: Points, over: Points, degrees: float) -> float:
    """How unevenly points fall on rows when the page is turned back by so much."""
    rows = (over - along * math.tan(math.radians(degrees))).astype(np.int64)
    counts = np.bincount(rows - rows.min()).astype(np.float64)
    return float((counts**2).sum())


def levelled(letters: Boxes, degrees: float) -> Boxes:
    """Boxes of letters moved up or down to where they stand once their lines, which fall, are level."""
    across = (letters[:, 0] + letters[:, 2]) / 2
    drop = np.rint(across * math.tan(math.radians(degrees))).astype(np.int64)
    moved = letters.copy()
    moved[:, 1] -= drop
    moved[:, 3] -= drop
    return moved


def straightened(picture: Image.Image, size: tuple[int, int], degrees: float) -> Image.Image:
    """`picture`, whose lines fall by `degrees`, made level on a white sheet of `size` that holds it whole."""
    a, b, c, d, e, f = back(picture.size, size, degrees)
    grey = _grey(picture)
    # Pillow takes the rows of the matrix, we its columns.
    level = (grey or picture).transform(
        size, Image.Transform.AFFINE, (a, c, e, b, d, f), Image.Resampling.BICUBIC, fillcolor="white"
    )
    return level.convert(picture.mode) if grey else level


def _grey(picture: Image.Image) -> Image.Image | None:
    """One channel of a colour picture whose channels are equal, as in most scans: a third of the work."""
    if picture.mode != "RGB":
        return None
    red, *others = picture.split()
    return red if all(one.tobytes() == red.tobytes() for one in others) else None


def back(
    drawn: tuple[float, float], size: tuple[float, float], degrees: float
) -> tuple[float, float, float, float, float, float]:
    """From pixels of the straightened picture to those of the drawn one: six numbers of a Transform."""
    width, height = frame(*drawn, degrees)
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    across, down = width / size[0], height / size[1]
    a, b, c, d = cos * across, sin * across, -sin * down, cos * down
    return (
        a,
        b,
        c,
        d,
        drawn[0] / 2 - a * size[0] / 2 - c * size[1] / 2,
        drawn[1] / 2 - b * size[0] / 2 - d * size[1] / 2,
    )


def frame(width: float, height: float, degrees: float) -> tuple[float, float]:
    """The sides of the upright box around a sheet that is turned by `degrees`."""
    cos, sin = abs(math.cos(math.radians(degrees))), abs(math.sin(math.radians(degrees)))
    return width * cos + height * sin, width * sin + height * cos
