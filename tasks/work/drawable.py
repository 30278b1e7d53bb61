"""A page that can be drawn at any size: a PDF's or a picture file's. Called in children."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from models.document import MediaType
from models.recipe import Recipe
from tasks.work import look, pdf, picture, sizing
from tasks.work.sizing import MIN_SIDE_PX

_MAX_DPI = 400.0
_MAX_ENLARGEMENT = 4.0
# Below this, print of ordinary size is hard to read: the page says so.
_LOW_DPI = 72.0
_LOW_SHARE = 0.25
_GIANT_PX = 40_000_000
"""Decoding so many pixels takes a third of a second and more."""


class Drawable(NamedTuple):
    """A page that can be drawn at any size. Its units: points of a PDF page, pixels of a picture."""

    width: float
    height: float
    points: float
    """A unit in points."""
    ceiling: float
    """Most pixels a unit that are worth drawing."""
    natural: float
    """Pixels a unit that the source itself has; the ceiling where it has no pixels."""
    least_scale: float
    """Under so many pixels a unit, print is hard to read."""
    draw: Callable[[float], Image.Image]
    """By pixels a unit; sides on the recipe's grid."""
    print_: pdf.Print | None = None

    @property
    def is_giant(self) -> bool:
        """Whether every drawing takes long, as there is so much to decode."""
        has_pixels = self.print_ is None or self.print_.density is not None
        return has_pixels and self.width * self.height * self.natural**2 > _GIANT_PX


def of_pdf(path: Path, page_no: int, recipe: Recipe, passwords: tuple[str, ...]) -> Drawable:
    """A page of a PDF. Raises DocumentRejected (corrupt, needs-password); so does drawing it."""
    width, height = pdf.page_size(path, page_no, passwords)

    def draw(scale: float) -> Image.Image:
        scales = (scale, scale)
        if recipe.grid_px > 1:
            size = sizing.on_grid(width, height, scale, recipe)
            scales = size[0] / width, size[1] / height
        return pdf.render(path, page_no, scales, passwords, annotations=recipe.annotations)

    print_ = pdf.printed(path, page_no, passwords) if look.is_asked(recipe) else None
    natural = ceiling = _MAX_DPI / 72
    if print_ and print_.density:
        natural = min(ceiling, max(print_.density, _wanted(width, height, recipe)))
    return Drawable(width, height, 1.0, ceiling, natural, _LOW_DPI / 72, draw, print_)


def of_picture(path: Path, media_type: MediaType, page_no: int, recipe: Recipe) -> Drawable:
    """A frame of a picture file. Raises DocumentRejected (corrupt, too-large); so does drawing it."""
    size = picture.frame_size(path, media_type, page_no)

    def draw(scale: float) -> Image.Image:
        target = sizing.on_grid(size.width, size.height, scale, recipe)
        return picture.upright(path, media_type, page_no, target)

    ceiling = min(max(1.0, _wanted(size.width, size.height, recipe)), _MAX_ENLARGEMENT)
    return Drawable(size.width, size.height, 72 / size.dpi, ceiling, ceiling, _LOW_SHARE, draw)


def _wanted(width: float, height: float, recipe: Recipe) -> float:
    """The least pixels a unit that a page must be drawn with."""
    return max(MIN_SIDE_PX / min(width, height), math.sqrt(recipe.min_pixels / (width * height)))
