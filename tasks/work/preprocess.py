"""Make the page image: rendered or decoded once at its target size, kept in the store. Called in children.

A full-page JPEG inside a PDF is rendered like any other page: MuPDF lets the JPEG decoder shrink it, and with
that, passing the picture through would save nothing worth a second way (see bench/pages.py).
"""

import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from models.document import MediaType
from models.errors import Code, DocumentRejected, PageFailed
from models.geometry import Transform
from models.page import PageFacts, PageImage
from models.recipe import Recipe
from tasks.work import blank, pdf, picture
from tasks.work.store import Store

SUFFIX = ".jpg"

MIN_SIDE_PX = 64
"""OCR models round tiny sides to nothing or refuse them; with long edges up to 8,192 px this also keeps
proportions under 1 to 128."""

_MAX_DPI = 400.0
_MAX_ENLARGEMENT = 4.0
# Below this, print of ordinary size is hard to read: the page says so.
_LOW_DPI = 72.0
_LOW_SHARE = 0.25


class _Prepared(NamedTuple):
    image: Image.Image
    points_per_px: tuple[float, float]
    """Across and down."""
    notes: tuple[str, ...]


def preprocess_page(  # noqa: PLR0917 (a pool passes arguments by position)
    path: Path,
    media_type: MediaType,
    page: PageFacts | int,
    recipe: Recipe,
    store_root: Path,
    passwords: Sequence[str] = (),
) -> PageImage:
    """Prepare page `page` (or the page of these facts) as `recipe` says and put it into the store.

    The image is upright, at most `recipe.long_edge_px` long and `recipe.max_pixels` large. Pictures are never
    enlarged, except tiny ones up to 4 times; a side under 64 px is filled up with white. The scale that was
    used is the transform's. Equal pages under equal recipes give equal hashes.

    Raises PageFailed (render-failed, too-large, needs-password); StoreFull; EnvironmentFault; SourceGone.
    """
    page_no = page if isinstance(page, int) else page.page_no
    try:
        if media_type is MediaType.PDF:
            prepared = _from_pdf(path, page_no, recipe, tuple(passwords))
        else:
            prepared = _from_picture(path, media_type, page_no, recipe)
    except DocumentRejected as error:
        code = Code.RENDER_FAILED if error.code is Code.CORRUPT else error.code
        raise PageFailed(error.message, code) from error
    return _keep(prepared, recipe, store_root)


def _from_pdf(path: Path, page_no: int, recipe: Recipe, passwords: tuple[str, ...]) -> _Prepared:
    width, height = pdf.page_size(path, page_no, passwords)
    scale = min(_fitting(width, height, recipe), _MAX_DPI / 72)
    image = pdf.render(path, page_no, scale, passwords, annotations=recipe.annotations)
    return _Prepared(image, (1 / scale, 1 / scale), ("downscaled",) if scale * 72 < _LOW_DPI else ())


def _from_picture(path: Path, media_type: MediaType, page_no: int, recipe: Recipe) -> _Prepared:
    size = picture.frame_size(path, media_type, page_no)
    fitting = _fitting(size.width, size.height, recipe)
    scale = min(fitting, 1.0)
    short = min(size.width, size.height) * scale
    if short < MIN_SIDE_PX:
        scale = min(fitting, scale * min(MIN_SIDE_PX / short, _MAX_ENLARGEMENT))
    target = (max(1, round(size.width * scale)), max(1, round(size.height * scale)))
    image = picture.upright(path, media_type, page_no, target)
    # Whole pixels: a sliver's two scales differ.
    points_per_px = (size.width * 72 / size.dpi / target[0], size.height * 72 / size.dpi / target[1])
    return _Prepared(image, points_per_px, ("downscaled",) if scale < _LOW_SHARE else ())


def _fitting(width: float, height: float, recipe: Recipe) -> float:
    """The largest scale that keeps a page of this size within the recipe's budget, its sides rounded up."""
    both, area = width + height, width * height
    # (width · scale + 1) · (height · scale + 1) = max_pixels
    within_area = (math.sqrt(both**2 + 4 * area * (recipe.max_pixels - 1)) - both) / (2 * area)
    # A hundredth of a pixel must not become one more.
    return min((recipe.long_edge_px - 0.01) / max(width, height), within_area)


def _keep(prepared: _Prepared, recipe: Recipe, store_root: Path) -> PageImage:
    image, left, top = _filled_up(prepared.image)
    ink = blank.measure(image)
    data = io.BytesIO()
    image.save(data, "JPEG", quality=recipe.jpeg_quality)
    across, down = prepared.points_per_px
    return PageImage(
        sha256=Store(store_root).put(data.getvalue(), SUFFIX),
        suffix=SUFFIX,
        width_px=image.width,
        height_px=image.height,
        transform=Transform(across, 0.0, 0.0, down, -left * across, -top * down),
        ink=ink.share,
        is_blank=ink.is_blank,
        notes=prepared.notes,
    )


def _filled_up(image: Image.Image) -> tuple[Image.Image, int, int]:
    """The image on white so that no side is too short, and how far from left and top it lies there."""
    width, height = (max(side, MIN_SIDE_PX) for side in image.size)
    if (width, height) == image.size:
        return image, 0, 0
    left, top = (width - image.width) // 2, (height - image.height) // 2
    sheet = Image.new(image.mode, (width, height), "white")
    sheet.paste(image, (left, top))
    return sheet, left, top
