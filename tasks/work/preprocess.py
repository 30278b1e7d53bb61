"""Make the page image: rendered or decoded once at its target size, kept in the store. Called in children.

Where the recipe asks for it, the page is looked at first, for which way up it lies, how straight, and how
small its text is: a page of type by its type, any other by a picture of it, 1,820 pixels long, and once more
at the recipe's long edge where its print is small or none was found. At that size it is the page image too,
as is a blank sheet's; for another size the page is drawn again, straight from the source, but for one of half
the size or less, and for any smaller one of a source with far more pixels: drawing a large scan again takes
up to half a second and shows nothing more.

A page of a PDF that is a JPEG from edge to edge is decoded once, by Pillow, and passed on as it came where it
costs no more tokens than the picture that was to be made and is hardly smaller; a turned or slanted one must
be made anew. A larger one is scaled down: that takes the client some 20 ms and saves the server tokens.
"""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from models.document import MediaType
from models.errors import Code, DocumentRejected, PageFailed
from models.geometry import Transform
from models.page import PageImage
from models.recipe import Recipe
from tasks.work import blank, deskew, drawable, look, sizing, type_ink
from tasks.work.drawable import Drawable
from tasks.work.look import Look
from tasks.work.sizing import Choice
from tasks.work.store import Store
from tasks.work.turning import Sheet

SUFFIX = ".jpg"

_HALF = 0.5
_LOOK_PX = 1820
"""Long edge at which a page is looked at first, where a recipe's own is much longer. On scans of 8 to 10 pt
the height of letters comes out as at 3,000 px; at 1,540 it was 15 to 45 % too large."""
_MUCH = 1.2
"""A second look is worth its time only on a picture so much longer."""
_SMALL_PX = 8.0
"""Lower letters run together: they are looked at again on a larger picture."""
_FEW_LETTERS = 20
"""From fewer, nothing can be told; a larger picture shows one or two more."""
_LOOK_ZOOM, _MAX_ZOOM = 3.0, 2.0
"""So much a PDF's scan is enlarged at most to be looked at, which takes letters apart that nearly touch, and
to be read: what is not in it cannot be read out of it."""


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
    page_no: int,
    recipe: Recipe,
    store_root: Path,
    passwords: Sequence[str] = (),
) -> PageImage:
    """Prepare a page as `recipe` says and put it into the store.

    The image is upright, straight where the recipe asks for it, and as large as its resolution, pixels and
    grid say. Pictures are enlarged only to the recipe's fewest pixels or when tiny, up to 4 times, and a
    PDF's scan, where its print decides, to twice its pixels; a side under 64 px is filled up with white. The
    transform leads back to the page as displayed. Equal pages under equal recipes give equal hashes.

    Raises PageFailed (render-failed, too-large, needs-password); StoreFull; EnvironmentFault; SourceGone.
    """
    try:
        if media_type is MediaType.PDF:
            source = drawable.of_pdf(path, page_no, recipe, tuple(passwords))
        else:
            source = drawable.of_picture(path, media_type, page_no, recipe)
        plan = _plan(source, recipe)
        image, scale = _picture(plan, source, recipe)
    except DocumentRejected as error:
        code = Code.RENDER_FAILED if error.code is Code.CORRUPT else error.code
        raise PageFailed(error.message, code) from error
    across, down = source.width * source.points / image.width, source.height * source.points / image.height
    if media_type is MediaType.PDF and recipe.grid_px == 1:
        # MuPDF rounds sides up: the last row and column are not stretched but cut.
        across = down = source.points / scale
    ink = plan.seen.ink or _ink(image, scale, plan, source)
    sheet = _arranged(Sheet(image, Transform.scale(across, down)), plan, source, recipe)
    return _kept(sheet, ink, plan, source, recipe, store_root)


def _picture(plan: _Plan, source: Drawable, recipe: Recipe) -> tuple[Image.Image, float]:
    """The page image and its scale: a scan as it came where that will do, else as drawn."""
    if source.scan and not plan.seen.turn and not plan.seen.skew:
        wanted = sizing.on_grid(source.width, source.height, plan.choice.scale, recipe)
        if sizing.is_as_good(source.scan.grey.size, wanted, recipe):
            return source.scan.grey, source.scan.grey.width / source.width
    return plan.drawn or (source.draw(plan.choice.scale), plan.choice.scale)


def _plan(source: Drawable, recipe: Recipe) -> _Plan:
    if not look.is_asked(recipe):
        return _Plan(_choice(source, recipe, Look()), Look())
    typed = look.at_type(source.print_, recipe) if source.print_ else None
    needs_picture = recipe.resolution == "legible" and source.print_ and look.has_pictures(source.print_)
    if typed and not needs_picture:
        return _Plan(_choice(source, recipe, typed), typed, "layer")
    seen, drawn = _seen(source, recipe, typed.turn if typed else None)
    told_by = "pixels"
    if typed:
        is_smaller = seen.x_height and typed.x_height and seen.x_height < typed.x_height
        told_by = "pixels" if is_smaller else "layer"
        seen = typed._replace(x_height=seen.x_height if is_smaller else typed.x_height)
    choice = _choice(source, recipe, seen)
    return _Plan(choice, seen, told_by, _reused(drawn, source, recipe, choice, seen))


def _seen(source: Drawable, recipe: Recipe, turn: int | None) -> tuple[Look, tuple[Image.Image, float]]:
    """What a picture of the page tells, with x-height in units; the picture and its scale.

    `turn`: where its type tells it.
    """
    fixed = _choice(source, recipe.model_copy(update={"resolution": "fixed"}), Look()).scale
    first = min(fixed, source.natural * _LOOK_ZOOM, _LOOK_PX / max(source.width, source.height))
    full = fixed if recipe.resolution == "fixed" else min(fixed, max(source.natural, first))
    is_two = recipe.resolution == "legible" and full > _MUCH * first and not source.is_giant
    scales = [first, full] if is_two else [full]
    ink: blank.Ink | None = None
    for scale in scales:
        drawn = source.look(scale)
        seen = look.at_picture(drawn, recipe, turn, ink)
        # Where print was seen, a larger picture tells nothing more of its turn; nor of ink, in any case.
        turn, ink = seen.turn if seen.x_height else turn, seen.ink
        is_seen = seen.letters < _FEW_LETTERS or (seen.x_height or 0) >= _SMALL_PX
        if is_seen or recipe.resolution != "legible":
            break
    if seen.x_height:
        seen = seen._replace(x_height=seen.x_height / scale)
    return seen, (drawn, scale)


def _choice(source: Drawable, recipe: Recipe, seen: Look) -> Choice:
    ceiling = source.ceiling
    if recipe.resolution == "legible":
        ceiling = min(ceiling, source.natural * (_MAX_ZOOM if seen.x_height else 1))
    return sizing.choose(*_frame(source, seen), recipe, ceiling, seen.x_height)


def _reused(
    drawn: tuple[Image.Image, float], source: Drawable, recipe: Recipe, choice: Choice, seen: Look
) -> tuple[Image.Image, float] | None:
    """A picture drawn already, for another scale: as it is, scaled down, or not at all."""
    ratio = choice.scale / drawn[1]
    if seen.ink and seen.ink.is_blank:
        return drawn
    if source.look is not source.draw:
        # Looked at in grey.
        return None
    # Straightening resamples it in any case.
    if 0.8 < ratio < 1.02 if seen.skew else 0.999 < ratio < 1.001:
        return drawn
    # Off the grid MuPDF cuts the last row and column: such a picture is of another size by a part of a pixel.
    if ratio > (1.0 if source.is_large else _HALF) or recipe.grid_px == 1:
        return None
    size = sizing.on_grid(source.width, source.height, choice.scale, recipe)
    return drawn[0].resize(size, Image.Resampling.BICUBIC, reducing_gap=3.0), choice.scale


def _arranged(sheet: Sheet, plan: _Plan, source: Drawable, recipe: Recipe) -> Sheet:
    """Upright, straight, and no side too short."""
    if plan.seen.turn:
        sheet = sheet.turn(-plan.seen.turn % 360)
    skew, least = plan.seen.skew, sizing.least_side(recipe)
    if sheet.picture.mode == "YCbCr" and (skew or min(sheet.picture.size) < least):
        # White paper has another value there.
        sheet = Sheet(sheet.picture.convert("RGB"), sheet.transform)
    if skew:
        size = sizing.on_grid(*_frame(source, plan.seen), plan.choice.scale, recipe)
        back = Transform(*deskew.back(sheet.picture.size, size, skew))
        sheet = Sheet(deskew.straightened(sheet.picture, size, skew), sheet.transform.after(back))
    return _filled_up(sheet, least)


def _filled_up(sheet: Sheet, least: int) -> Sheet:
    """The picture in the middle of a white one that has no side too short."""
    width, height = (max(side, least) for side in sheet.picture.size)
    if (width, height) == sheet.picture.size:
        return sheet
    left, top = (width - sheet.picture.width) // 2, (height - sheet.picture.height) // 2
    paper = Image.new(sheet.picture.mode, (width, height), "white")
    paper.paste(sheet.picture, (left, top))
    return Sheet(paper, sheet.transform.after(Transform(1, 0, 0, 1, -left, -top)))


def _ink(image: Image.Image, scale: float, plan: _Plan, source: Drawable) -> blank.Ink:
    runs = source.print_.runs if source.print_ and plan.told_by == "layer" else ()
    return type_ink.of_page(image, runs, scale) or blank.measure(image)


def _kept(  # noqa: PLR0917 (each is another thing)
    sheet: Sheet, ink: blank.Ink, plan: _Plan, source: Drawable, recipe: Recipe, store_root: Path
) -> PageImage:
    choice, seen, size = plan.choice, plan.seen, sheet.picture.size
    # A coarse scan is as it came: nothing of it was lost.
    is_poor = choice.scale < min(source.least_scale, source.natural) and choice.reason != "legible"
    return PageImage(
        sha256=Store(store_root).put(_encoded(sheet.picture, source, recipe), SUFFIX),
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


def _encoded(picture: Image.Image, source: Drawable, recipe: Recipe) -> bytes:
    if source.scan and picture is source.scan.grey:
        return source.scan.data
    data = io.BytesIO()
    picture.save(data, "JPEG", quality=recipe.jpeg_quality)
    return data.getvalue()


def _frame(source: Drawable, seen: Look) -> tuple[float, float]:
    sides = (source.width, source.height) if seen.turn % 180 == 0 else (source.height, source.width)
    return deskew.frame(*sides, seen.skew)


def _reason(choice: Choice, plan: _Plan) -> str:
    is_by_text = choice.reason in {"legible", "most", "least"} and plan.seen.x_height
    return f"{choice.reason}-{plan.told_by}" if is_by_text else choice.reason
