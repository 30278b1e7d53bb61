"""A page that can be drawn at any size: a PDF's or a picture file's. Called in children."""

import io
import math
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from PIL import ExifTags, Image

from models.document import MediaType
from models.recipe import Recipe
from tasks.work import look, pdf, picture, sizing
from tasks.work.pdf_print import Print
from tasks.work.sizing import MIN_SIDE_PX

_MAX_DPI = 400.0
_MAX_ENLARGEMENT = 4.0
# Below this, print of ordinary size is hard to read: the page says so.
_LOW_DPI = 72.0
_LOW_SHARE = 0.25
_GIANT_PX = 40_000_000
"""Decoding so many pixels takes a third of a second and more."""
_LARGE_PX = 6_000_000
"""A4 at 250 dpi. Drawing so many takes 30 ms and more."""


class Scan(NamedTuple):
    """A page of a PDF that is a JPEG from edge to edge."""

    data: bytes
    grey: Image.Image
    is_colour: bool

    def look(self, size: tuple[int, int]) -> Image.Image:
        """The page at another size in grey, for a third of the price of the whole."""
        return _resized(self.grey, size)

    def drawn(self, bright: Image.Image) -> Image.Image:
        """The whole page as large as it was looked at: L, or YCbCr as it is in the file."""
        if not self.is_colour:
            return bright
        return Image.merge("YCbCr", (bright, *_colours(self.data, bright.size)))

    def print_(self, width: float, height: float) -> Print:
        """What is printed on a page of so many points that shows nothing else."""
        return Print((), 1.0, max(self.grey.width / width, self.grey.height / height))


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
    look: Callable[[float], Image.Image]
    """The same to be looked at only: it may be grey."""
    print_: Print | None = None
    scan: Scan | None = None

    @property
    def is_giant(self) -> bool:
        """Whether every drawing takes long, as there is so much to decode."""
        return self._pixels > _GIANT_PX

    @property
    def is_large(self) -> bool:
        """Whether the source has far more pixels than it is looked at with, and drawing it takes its time."""
        return self._pixels > _LARGE_PX

    @property
    def _pixels(self) -> float:
        """Those of the source; 0 where it is drawn from type and lines."""
        has_pixels = self.print_ is None or self.print_.density is not None
        return self.width * self.height * self.natural**2 if has_pixels else 0.0


def of_pdf(path: Path, page_no: int, recipe: Recipe, passwords: tuple[str, ...]) -> Drawable:
    """A page of a PDF. Raises DocumentRejected (corrupt, needs-password); so does drawing it."""
    width, height = pdf.page_size(path, page_no, passwords)

    def draw(scale: float) -> Image.Image:
        if recipe.grid_px > 1:
            return drawn(sizing.on_grid(width, height, scale, recipe))
        return pdf.render(path, page_no, (scale, scale), passwords, annotations=recipe.annotations)

    def drawn(size: tuple[int, int]) -> Image.Image:
        scales = size[0] / width, size[1] / height
        return pdf.render(path, page_no, scales, passwords, annotations=recipe.annotations)

    scan = _scan(pdf.whole_jpeg(path, page_no, passwords))
    print_: Print | None = None
    if look.is_asked(recipe):
        print_ = scan.print_(width, height) if scan else pdf.printed(path, page_no, passwords)
    natural = ceiling = _MAX_DPI / 72
    if print_ and print_.density:
        natural = min(ceiling, max(print_.density, _wanted(width, height, recipe)))
    page = Drawable(width, height, 1.0, ceiling, natural, _LOW_DPI / 72, draw, draw, print_)
    if scan:
        return _of_scan(page, scan, recipe)
    density = print_.density if print_ else None
    is_drawn_often = recipe.resolution == "legible" and not page.is_large
    if density and is_drawn_often and pdf.is_upright_picture(path, page_no, passwords):
        return _of_picture(page, drawn((round(width * density), round(height * density))), recipe)
    return page


def _of_scan(page: Drawable, scan: Scan, recipe: Recipe) -> Drawable:
    """The same page, drawn by Pillow, whose decoder takes a third of the time of MuPDF's."""
    looked = lru_cache(maxsize=1)(scan.look)

    def at(scale: float) -> Image.Image:
        return looked(_size(page, scale, recipe))

    return page._replace(draw=lambda scale: scan.drawn(at(scale)), look=at, scan=scan)


def _of_picture(page: Drawable, whole: Image.Image, recipe: Recipe) -> Drawable:
    """The same page, which was drawn with as many pixels as its picture has, scaled by Pillow.

    MuPDF decodes the picture anew for each drawing, and takes longer to enlarge it, as softly.
    """

    def draw(scale: float) -> Image.Image:
        return _resized(whole, _size(page, scale, recipe), Image.Resampling.BILINEAR)

    def look_at(scale: float) -> Image.Image:
        return _resized(grey, _size(page, scale, recipe), Image.Resampling.BILINEAR)

    grey = whole.convert("L")
    return page._replace(draw=draw, look=draw if whole.mode == "L" else look_at)


def _size(page: Drawable, scale: float, recipe: Recipe) -> tuple[int, int]:
    if recipe.grid_px > 1:
        return sizing.on_grid(page.width, page.height, scale, recipe)
    return math.ceil(page.width * scale), math.ceil(page.height * scale)


def _scan(data: bytes | None) -> Scan | None:
    """A page's JPEG, unless it is so large or odd that MuPDF is to see to it."""
    if not data:
        return None
    try:
        with Image.open(io.BytesIO(data), formats=("JPEG",)) as image:
            is_upright = image.getexif().get(ExifTags.Base.Orientation, 1) == 1
            is_plain = is_upright and (image.mode == "L" or (image.mode == "RGB" and _is_bright_first(image)))
            if not is_plain or math.prod(image.size) > _GIANT_PX:
                return None
            return Scan(data, _decoded(data, "L"), is_colour=image.mode == "RGB")
    except (OSError, ValueError, SyntaxError):
        # Cut off, say: MuPDF shows what there is of it.
        return None


def _is_bright_first(image: Image.Image) -> bool:
    """Whether a JPEG of three channels holds brightness and two of colour, and not red, green and blue."""
    return "jfif" in image.info or image.info.get("adobe_transform") == 1


def _decoded(data: bytes, mode: str, size: tuple[int, int] | None = None) -> Image.Image:
    with Image.open(io.BytesIO(data)) as image:
        image.draft(mode, size)
        image.load()
        return image


def _colours(data: bytes, size: tuple[int, int]) -> list[Image.Image]:
    """Both channels of colour. They are made in half the size, in which JPEGs hold them before and after."""
    half = (-(-size[0] // 2), -(-size[1] // 2))
    with Image.open(io.BytesIO(data)) as image:
        whole = image.size
    picture = _decoded(data, "YCbCr", (whole[0] // 2, whole[1] // 2))
    return [
        _resized(picture.getchannel(name), half).resize(size, Image.Resampling.NEAREST) for name in (1, 2)
    ]


def _resized(
    picture: Image.Image, size: tuple[int, int], enlarging: Image.Resampling = Image.Resampling.BICUBIC
) -> Image.Image:
    # Of those that keep thin strokes it takes half the time; enlarged they would become steps.
    return picture.resize(size, Image.Resampling.HAMMING if size[0] <= picture.width else enlarging)


def of_picture(path: Path, media_type: MediaType, page_no: int, recipe: Recipe) -> Drawable:
    """A frame of a picture file. Raises DocumentRejected (corrupt, too-large); so does drawing it."""
    size = picture.frame_size(path, media_type, page_no)

    def draw(scale: float) -> Image.Image:
        target = sizing.on_grid(size.width, size.height, scale, recipe)
        return picture.upright(path, media_type, page_no, target)

    ceiling = min(max(1.0, _wanted(size.width, size.height, recipe)), _MAX_ENLARGEMENT)
    return Drawable(size.width, size.height, 72 / size.dpi, ceiling, ceiling, _LOW_SHARE, draw, draw)


def _wanted(width: float, height: float, recipe: Recipe) -> float:
    """The least pixels a unit that a page must be drawn with."""
    return max(MIN_SIDE_PX / min(width, height), math.sqrt(recipe.min_pixels / (width * height)))
