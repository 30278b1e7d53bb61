"""Make the page image: rendered or decoded once at its target size, kept in the store. Called in children.

Where the recipe asks for it, the page is looked at first, for which way up it lies, how straight, and how
small its text is: a page of type by its type, any other by a picture of it at the recipe's long edge. At that
size it is the page image too; for another size the page is drawn again, straight from the source, but for
one of half the size or less: drawing a large scan again takes half a second and shows nothing more.

A full-page JPEG inside a PDF is rendered like any other page. Passing it through would save 40 ms on a third
of scans (bench/encodings.py), but such pictures have a size of their own, off the model's grid and mostly
below what the recipe asks for, and a turned or slanted one must be made anew in any case.
"""

import io
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from models.document import MediaType
from models.errors import Code, DocumentRejected, PageFailed
from models.geometry import Transform
from models.page import PageFacts, PageImage
from models.recipe import Recipe
from tasks.work import blank, deskew, look, pdf, picture, sizing
from tasks.work.look import Look
from tasks.work.sizing import MIN_SIDE_PX, Choice
from tasks.work.store import Store
from tasks.work.turning import Sheet

SUFFIX = ".jpg"

_MAX_DPI = 400.0
_MAX_ENLARGEMENT = 4.0
# Below this, print of ordinary size is hard to read: the page says so.
_LOW_DPI = 72.0
_LOW_SHARE = 0.25
_HALF = 0.5


class _Source(NamedTuple):
    """A page that can be drawn at any size. Its units: points of a PDF page, pixels of a picture."""

    width: float
    height: float
    points: float
    """A unit in points."""
    ceiling: float
    """Most pixels a unit that are worth drawing."""
    least_scale: float
    """Under so many pixels a unit, print is hard to read."""
    draw: Callable[[float], Image.Image]
    """By pixels a unit; sides on the recipe's grid."""
    print_: pdf.Print | None = None


class _Plan(NamedTuple):
    choice: Choice
    seen: Look
    """With x-height in units."""
    told_by: str = ""
    drawn: tuple[Image.Image, float] | None = None
    """The page as drawn for the look, or scaled down from that, and at which scale, where that serves."""


def preprocess_page(  # noqa: PLR0917 (a pool passes arguments by position)
    path: Path,
    media_type: MediaType,
    page: PageFacts | int,
    recipe: Recipe,
    store_root: Path,
    passwords: Sequence[str] = (),
) -> PageImage:
    """Prepare page `page` (or the page of these facts) as `recipe` says and put it into the store.

    The image is upright, straight where the recipe asks for it, and as large as its resolution, pixels and
    grid say. Pictures are enlarged only to the recipe's fewest pixels or when tiny, up to 4 times; a side
    under 64 px is filled up with white. The transform leads back to the page as displayed. Equal pages under
    equal recipes give equal hashes.

    Raises PageFailed (render-failed, too-large, needs-password); StoreFull; EnvironmentFault; SourceGone.
    """
    page_no = page if isinstance(page, int) else page.page_no
    try:
        if media_type is MediaType.PDF:
            source = _pdf(path, page_no, recipe, tuple(passwords))
        else:
            source = _picture(path, media_type, page_no, recipe)
        plan = _plan(source, recipe)
        image, scale = plan.drawn or (source.draw(plan.choice.scale), plan.choice.scale)
    except DocumentRejected as error:
        code = Code.RENDER_FAILED if error.code is Code.CORRUPT else error.code
        raise PageFailed(error.message, code) from error
    across, down = source.width * source.points / image.width, source.height * source.points / image.height
    if media_type is MediaType.PDF and recipe.grid_px == 1:
        # MuPDF rounds sides up: the last row and column are not stretched but cut.
        across = down = source.points / scale
    sheet = _arranged(Sheet(image, Transform.scale(across, down)), plan, source, recipe)
    return _kept(sheet, plan, source, recipe, store_root)


def _pdf(path: Path, page_no: int, recipe: Recipe, passwords: tuple[str, ...]) -> _Source:
    width, height = pdf.page_size(path, page_no, passwords)

    def draw(scale: float) -> Image.Image:
        scales = (scale, scale)
        if recipe.grid_px > 1:
            size = sizing.on_grid(width, height, scale, recipe)
            scales = size[0] / width, size[1] / height
        return pdf.render(path, page_no, scales, passwords, annotations=recipe.annotations)

    print_ = pdf.printed(path, page_no, passwords) if look.is_asked(recipe) else None
    return _Source(width, height, 1.0, _MAX_DPI / 72, _LOW_DPI / 72, draw, print_)


def _picture(path: Path, media_type: MediaType, page_no: int, recipe: Recipe) -> _Source:
    size = picture.frame_size(path, media_type, page_no)

    def draw(scale: float) -> Image.Image:
        target = sizing.on_grid(size.width, size.height, scale, recipe)
        return picture.upright(path, media_type, page_no, target)

    short, area = min(size.width, size.height), size.width * size.height
    wanted = max(1.0, MIN_SIDE_PX / short, math.sqrt(recipe.min_pixels / area))
    ceiling = min(wanted, _MAX_ENLARGEMENT)
    return _Source(size.width, size.height, 72 / size.dpi, ceiling, _LOW_SHARE, draw)


def _plan(source: _Source, recipe: Recipe) -> _Plan:
    if not look.is_asked(recipe):
        return _Plan(_choice(source, recipe, Look()), Look())
    typed = look.at_type(source.print_, recipe) if source.print_ else None
    needs_picture = recipe.resolution == "legible" and source.print_ and look.has_pictures(source.print_)
    if typed and not needs_picture:
        return _Plan(_choice(source, recipe, typed), typed, "layer")
    scale = _choice(source, recipe.model_copy(update={"resolution": "fixed"}), Look()).scale
    drawn = source.draw(scale)
    seen = look.at_picture(drawn, recipe)
    if seen.x_height:
        seen = seen._replace(x_height=seen.x_height / scale)
    told_by = "pixels"
    if typed:
        is_smaller = seen.x_height and typed.x_height and seen.x_height < typed.x_height
        told_by = "pixels" if is_smaller else "layer"
        seen = typed._replace(x_height=seen.x_height if is_smaller else typed.x_height)
    choice = _choice(source, recipe, seen)
    return _Plan(choice, seen, told_by, _reused((drawn, scale), source, recipe, choice, seen))


def _choice(source: _Source, recipe: Recipe, seen: Look) -> Choice:
    return sizing.choose(*_frame(source, seen), recipe, source.ceiling, seen.x_height)


def _reused(
    drawn: tuple[Image.Image, float], source: _Source, recipe: Recipe, choice: Choice, seen: Look
) -> tuple[Image.Image, float] | None:
    """A picture drawn already, for another scale: as it is, scaled down, or not at all."""
    ratio = choice.scale / drawn[1]
    # Straightening resamples it in any case.
    if 0.8 < ratio < 1.02 if seen.skew else 0.999 < ratio < 1.001:
        return drawn
    # Off the grid MuPDF cuts the last row and column: such a picture is of another size by a part of a pixel.
    if ratio > _HALF or recipe.grid_px == 1:
        return None
    size = sizing.on_grid(source.width, source.height, choice.scale, recipe)
    return drawn[0].resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0), choice.scale


def _arranged(sheet: Sheet, plan: _Plan, source: _Source, recipe: Recipe) -> Sheet:
    """Upright, straight, and no side too short."""
    if plan.seen.turn:
        sheet = sheet.turn(-plan.seen.turn % 360)
    skew = plan.seen.skew
    if skew:
        size = sizing.on_grid(*_frame(source, plan.seen), plan.choice.scale, recipe)
        back = Transform(*deskew.back(sheet.picture.size, size, skew))
        sheet = Sheet(deskew.straightened(sheet.picture, size, skew), sheet.transform.after(back))
    return _filled_up(sheet, sizing.least_side(recipe))


def _filled_up(sheet: Sheet, least: int) -> Sheet:
    """The picture in the middle of a white one that has no side too short."""
    width, height = (max(side, least) for side in sheet.picture.size)
    if (width, height) == sheet.picture.size:
        return sheet
    left, top = (width - sheet.picture.width) // 2, (height - sheet.picture.height) // 2
    paper = Image.new(sheet.picture.mode, (width, height), "white")
    paper.paste(sheet.picture, (left, top))
    return Sheet(paper, sheet.transform.after(Transform(1, 0, 0, 1, -left, -top)))


def _kept(sheet: Sheet, plan: _Plan, source: _Source, recipe: Recipe, store_root: Path) -> PageImage:
    choice, seen, size = plan.choice, plan.seen, sheet.picture.size
    # One look tells for every size that the page is drawn in.
    ink = seen.ink or blank.measure(sheet.picture)
    data = io.BytesIO()
    sheet.picture.save(data, "JPEG", quality=recipe.jpeg_quality)
    is_poor = choice.scale < source.least_scale and choice.reason != "legible"
    return PageImage(
        sha256=Store(store_root).put(data.getvalue(), SUFFIX),
        suffix=SUFFIX,
        width_px=size[0],
        height_px=size[1],
        transform=sheet.transform,
        ink=ink.share,
        is_blank=ink.is_blank,
        notes=("downscaled",) if is_poor else (),
        turn=seen.turn,
        skew=seen.skew,
        x_height_px=seen.x_height * choice.scale if seen.x_height else None,
        reason=_reason(choice, plan),
        tokens_saved=sizing.tokens_saved(*_frame(source, seen), size, recipe, source.ceiling),
    )


def _frame(source: _Source, seen: Look) -> tuple[float, float]:
    sides = (source.width, source.height) if seen.turn % 180 == 0 else (source.height, source.width)
    return deskew.frame(*sides, seen.skew)


def _reason(choice: Choice, plan: _Plan) -> str:
    is_by_text = choice.reason in {"legible", "most", "least"} and plan.seen.x_height
    return f"{choice.reason}-{plan.told_by}" if is_by_text else choice.reason
