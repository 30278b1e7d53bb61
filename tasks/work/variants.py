"""Other pictures of a page, for when its page image read badly: turned, smaller, larger, or in two halves.

Each variant has its own transform to page points, so what is read on it lands where it belongs. A larger
picture is drawn again from the source; all else is made from the stored image, which needs no source.
"""

import io
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from models.document import MediaType
from models.errors import PageFailed
from models.geometry import Transform
from models.page import PageImage
from models.recipe import Recipe
from tasks.work import blank
from tasks.work.preprocess import SUFFIX, preprocess_page
from tasks.work.store import Store
from tasks.work.turning import Sheet

_QUALITY = 95
"""A stored image was a JPEG before; the second time must cost nothing that the eye can tell."""
_OVERLAP = 0.04
"""Share of the height by which halves overlap where no gap between lines is found to cut through."""
_SEARCH = 0.2
"""A gap is looked for in so much of the height around the middle."""
_GAP_PX = 4
_LEAST_SIDE_PX = 64


def retouch(
    store_root: Path,
    image: PageImage,
    *,
    turn: int = 0,
    factor: float = 1.0,
    halves: bool = False,
    grid_px: int = 1,
) -> tuple[PageImage, ...]:
    """Variants of a stored page image, put into the same store: one, or two with `halves` (top, bottom).

    `turn`: 0, 90, 180 or 270 degrees clockwise. `factor` (at most 1): share of the pixels that is kept; sides
    become multiples of `grid_px`. `halves` are cut through a gap between lines near the middle, or overlap a
    little where there is none; both keep the full width. Steps are done in this order.

    Raises FileNotFoundError when the image is not in the store, StoreFull, EnvironmentFault; ValueError for
    another turn or a factor over 1.
    """
    if turn % 90 or not 0 < factor <= 1:
        raise ValueError(f"turn {turn}, factor {factor}")
    with Image.open(Store(store_root).path(image.sha256, image.suffix)) as stored:
        sheet = Sheet(stored.convert("L" if stored.mode == "L" else "RGB"), image.transform)
    if turn % 360:
        sheet = sheet.turn(-turn % 360)
    sheet = _resized(sheet, factor, grid_px) if factor < 1 else sheet
    return tuple(_kept(one, image, store_root) for one in (_halves(sheet) if halves else (sheet,)))


def draw_again(  # noqa: PLR0917 (a pool passes arguments by position)
    path: Path,
    media_type: MediaType,
    page_no: int,
    recipe: Recipe,
    image: PageImage,
    factor: float,
    store_root: Path,
    passwords: Sequence[str] = (),
) -> PageImage:
    """The page drawn anew from its source with `factor` times the pixels of `image`; for render children.

    A factor of 1: as large as may be. Never more than `recipe.max_pixels`, nor more than the source holds; so
    the picture can come out no larger than `image`, and equal if it was at the limit. Raises what
    `preprocess_page` raises.
    """
    wanted = round(image.width_px * image.height_px * factor) if factor > 1 else recipe.max_pixels
    budget = {"max_pixels": max(65_536, min(wanted, recipe.max_pixels)), "min_pixels": 0, "resolution": "max"}
    return preprocess_page(path, media_type, page_no, recipe.model_copy(update=budget), store_root, passwords)


def _resized(sheet: Sheet, factor: float, grid_px: int) -> Sheet:
    width, height = sheet.picture.size
    scale = math.sqrt(factor)
    least = math.ceil(_LEAST_SIDE_PX / grid_px)
    size = tuple(max(least, math.floor(side * scale / grid_px)) * grid_px for side in (width, height))
    picture = sheet.picture.resize((size[0], size[1]), Image.Resampling.LANCZOS)
    back = Transform.scale(width / size[0], height / size[1])
    return Sheet(picture, sheet.transform.after(back), sheet.turned)


def _halves(sheet: Sheet) -> tuple[Sheet, Sheet]:
    """Top and bottom. Raises PageFailed when the picture is too low to be cut."""
    width, height = sheet.picture.size
    if height < 2 * _LEAST_SIDE_PX:
        raise PageFailed("The page image is too low to be halved.")
    cut = _gap(sheet.picture)
    overlap = 0 if cut else round(height * _OVERLAP / 2)
    middle = cut or height // 2
    top = Sheet(sheet.picture.crop((0, 0, width, middle + overlap)), sheet.transform, sheet.turned)
    first = middle - overlap
    below = sheet.transform.after(Transform(1, 0, 0, 1, 0, first))
    return top, Sheet(sheet.picture.crop((0, first, width, height)), below, sheet.turned)


def _gap(picture: Image.Image) -> int | None:
    """The row in the middle of the widest blank strip near the middle of the picture; None without one."""
    height = picture.height
    first, last = (round(height * (0.5 + side * _SEARCH / 2)) for side in (-1, 1))
    inked = np.flatnonzero(blank.marks(picture.convert("L"))[first:last].sum(axis=1))
    edges = np.array([-1, *inked, last - first])
    starts, ends = edges[:-1] + 1, edges[1:]
    if (ends - starts).max() < _GAP_PX:
        return None
    widest = int((ends - starts).argmax())
    return first + int(starts[widest] + ends[widest]) // 2


def _kept(sheet: Sheet, of: PageImage, store_root: Path) -> PageImage:
    ink = blank.measure(sheet.picture)
    data = io.BytesIO()
    sheet.picture.save(data, "JPEG", quality=_QUALITY)
    return PageImage(
        sha256=Store(store_root).put(data.getvalue(), SUFFIX),
        suffix=SUFFIX,
        width_px=sheet.picture.width,
        height_px=sheet.picture.height,
        transform=sheet.transform,
        ink=ink.share,
        is_blank=ink.is_blank,
        notes=of.notes,
    )
