"""How large a page image becomes: the scale a recipe asks for, and whole sides on the model's grid."""

import math
from typing import NamedTuple

from models.recipe import Recipe

MIN_SIDE_PX = 64
"""OCR models round tiny sides to nothing or refuse them; with long edges up to 8,192 px this also keeps
proportions under 1 to 128."""

_HARDLY_SMALLER = 0.95


class Choice(NamedTuple):
    """`scale` in pixels for each unit of the page, and why it is that."""

    scale: float
    reason: str
    """fixed, max or legible, as asked; most or least where the recipe's pixels decided; unknown where no
    running text was found, so that the long edge decided."""


def choose(width: float, height: float, recipe: Recipe, ceiling: float, x_height: float | None) -> Choice:
    """The scale for a page of `width` x `height` units, at most `ceiling` pixels a unit.

    `x_height`: of the smallest running text, in the same units; None where there is none.
    """
    most = min(_within_area(width, height, recipe.max_pixels), ceiling)
    least = min(math.sqrt(recipe.min_pixels / (width * height)), most)
    fixed = min((recipe.long_edge_px - 0.01) / max(width, height), most)
    if recipe.resolution == "fixed":
        return Choice(fixed, "fixed")
    if recipe.resolution == "max":
        return Choice(most, "max")
    if x_height is None:
        return Choice(max(fixed, least), "unknown")
    legible = recipe.x_height_px / x_height
    if legible >= most:
        return Choice(most, "most")
    return Choice(legible, "legible") if legible >= least else Choice(least, "least")


def on_grid(width: float, height: float, scale: float, recipe: Recipe) -> tuple[int, int]:
    """Sides in whole grid cells nearest to the page at `scale`, within the recipe's pixels."""
    grid = recipe.grid_px
    wanted = (width * scale / grid, height * scale / grid)
    cells = [round(side) for side in wanted]
    is_fixed = recipe.resolution == "fixed"
    is_too_long = is_fixed and max(cells) * grid > recipe.long_edge_px
    if is_too_long or cells[0] * cells[1] * grid**2 > recipe.max_pixels:
        cells = [math.floor(side) for side in wanted]
    elif (
        not is_fixed
        and cells[0] * cells[1] * grid**2 < recipe.min_pixels <= (cells[0] + 1) * (cells[1] + 1) * grid**2
    ):
        cells = [math.ceil(side) for side in wanted]
    return max(1, cells[0]) * grid, max(1, cells[1]) * grid


def is_as_good(size: tuple[int, int], wanted: tuple[int, int], recipe: Recipe) -> bool:
    """Whether a picture of `size` serves where one of `wanted` pixels was to be made.

    It costs no more of the model's grid cells, and is hardly smaller.
    """
    cells = [round(side / recipe.grid_px) for side in size]
    most = [side // recipe.grid_px for side in wanted]
    is_allowed = recipe.min_pixels <= size[0] * size[1] <= recipe.max_pixels
    is_large = all(side >= _HARDLY_SMALLER * other for side, other in zip(size, wanted, strict=True))
    return is_allowed and is_large and cells[0] <= most[0] and cells[1] <= most[1]


def least_side(recipe: Recipe) -> int:
    """The fewest pixels a side may have: whole grid cells."""
    return math.ceil(MIN_SIDE_PX / recipe.grid_px) * recipe.grid_px


def tokens_saved(width: float, height: float, size: tuple[int, int], recipe: Recipe, ceiling: float) -> int:
    """Image tokens less than at the most pixels allowed; 0 for a recipe without a grid."""
    if recipe.grid_px == 1:
        return 0
    most = min(_within_area(width, height, recipe.max_pixels), ceiling)
    full = on_grid(width, height, most, recipe)
    return max(0, (full[0] * full[1] - size[0] * size[1]) // recipe.grid_px**2)


def _within_area(width: float, height: float, pixels: int) -> float:
    """The largest scale that keeps a page of this size within so many pixels, its sides rounded up."""
    both, area = width + height, width * height
    # (width · scale + 1) · (height · scale + 1) = pixels
    return (math.sqrt(both**2 + 4 * area * (pixels - 1)) - both) / (2 * area)
