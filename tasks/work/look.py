"""A look at a page before its picture is made: which way up, how straight, how high its smallest text is."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from PIL import Image

from models.recipe import Recipe
from tasks.work import blank, components, deskew, legibility, orientation
from tasks.work.pdf_print import Print, Run

_COVERED = 0.5
"""A page is a scan, whatever is stamped on it, when pictures cover so much of it."""
_PICTURED = 0.1
"""Pictures that cover so much of a page of type may hold smaller text than the type."""
_ENOUGH_CHARS = 20
_MOST_RUNS_ONE_WAY = 0.8


class Look(NamedTuple):
    """What was seen of a page. Without ink, or unasked: nothing."""

    turn: int = 0
    """Degrees clockwise that make it upright."""
    skew: float = 0.0
    """Degrees by which lines fall to the right once it is turned."""
    x_height: float | None = None
    """Of the smallest running text, in units of what was looked at: points of type, pixels of a picture."""
    ink: blank.Ink | None = None
    """Of the picture that was looked at; None where only type was."""
    letters: int = 0
    """What can be letters on that picture."""


def is_asked(recipe: Recipe) -> bool:
    """Whether the recipe needs to know anything of a page beforehand."""
    return recipe.orient or recipe.deskew or recipe.resolution == "legible"


def at_type(print_: Print, recipe: Recipe) -> Look | None:
    """What the visible type of a page tells, in points; None where only a picture of the page can tell."""
    chars = sum(run.chars for run in print_.runs)
    is_typed = chars >= _ENOUGH_CHARS and print_.pictures < _COVERED
    if not is_typed and not (chars and print_.pictures == 0):
        return None
    turn = _turn_of(print_.runs, chars) if recipe.orient else 0
    return Look(turn, 0.0, legibility.of_runs(print_.runs))


def has_pictures(print_: Print) -> bool:
    """Whether there may be smaller text in pictures than in the type around them."""
    return print_.pictures >= _PICTURED


def at_picture(
    picture: Image.Image, recipe: Recipe, turn: int | None = None, ink: blank.Ink | None = None
) -> Look:
    """What a picture of a page (L or RGB) tells, in its pixels; `turn` and `ink` where others told them."""
    grey = picture.convert("L")
    differs = blank.differences(grey)
    found, marks = (ink, blank.marks_of(differs)) if ink else blank.ink_and_marks(differs)
    if found.is_blank:
        return Look(ink=found)
    pieces = components.boxes(blank.strokes(differs, marks))
    letters = components.glyphs(pieces, grey.height)
    x_height = legibility.of_letters(letters, grey.size)
    if turn is None and recipe.orient:
        turn = orientation.turn_of(grey, marks, is_print=not legibility.is_disorder(letters, x_height))
    if turn:
        marks, pieces = np.rot90(marks, -turn // 90), components.turned(pieces, grey.size, turn)
        letters = components.glyphs(pieces, marks.shape[0])
    skew = deskew.skew_of(marks, letters) if recipe.deskew else 0.0
    if turn or skew:
        x_height = legibility.of_letters(deskew.levelled(letters, skew), (marks.shape[1], marks.shape[0]))
    return Look(turn or 0, skew, x_height, found, len(letters))


def _turn_of(runs: Sequence[Run], chars: int) -> int:
    """The turn that makes nearly all lines run to the right; 0 where they run all ways."""
    for turn in (90, 180, 270):
        along = sum(run.chars for run in runs if run.direction == (360 - turn) % 360)
        if along >= _MOST_RUNS_ONE_WAY * chars:
            return turn
    return 0
