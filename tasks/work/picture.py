"""Picture files as pages: frames, sizes, upright 8-bit pixels. Called in child processes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pillow_heif
from PIL import ExifTags, Image, UnidentifiedImageError

from models.document import DocumentFacts, MediaType
from models.errors import Code, DocumentRejected, PagemillError, SourceForbidden, SourceGone
from models.notes import UNREADABLE_PAGE
from models.page import PageFacts
from models.text import clean, printable

pillow_heif.register_heif_opener()

MAX_PIXELS = 300_000_000
"""Larger pictures are refused from their header alone. A0 at 400 dpi has 248 million; decoded, an RGB picture
at the limit takes 0.9 GB. JPEG is decoded at a fraction of its size where the target allows."""

# Pillow's own limit warns where ours lets pass and raises an error of another family.
Image.MAX_IMAGE_PIXELS = None

_PILLOW_NAMES = {MediaType.JPEG: ("JPEG", "MPO"), MediaType.MPO: ("JPEG", "MPO"), MediaType.HEIC: ("HEIF",)}
_MULTI_FRAME = {MediaType.TIFF}
_DEEP_MODES = {"I", "F", "I;16", "I;16L", "I;16B", "I;16N"}

# A picture's own resolution counts only where it can be true of paper.
_PLAUSIBLE_DPI = (50.0, 1300.0)
_DEFAULT_DPI = 72.0

_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_DEGREES = {3: 180, 4: 180, 5: 90, 6: 90, 7: 270, 8: 270}


class Size(NamedTuple):
    """An upright picture's size in pixels, made square where the file's resolution says they are not."""

    width: int
    height: int
    dpi: float
    degrees: int
    """How far clockwise EXIF turns the stored pixels, mirrored or not."""


def document_facts(path: Path, media_type: MediaType) -> DocumentFacts:
    """Number of frames. The first is decoded completely. Raises DocumentRejected (corrupt, too-large)."""
    with _frame(path, media_type, 1) as image:
        frames = getattr(image, "n_frames", 1) if media_type in _MULTI_FRAME else 1
        image.seek(0)
        _draft(image, (1, 1))
        image.load()
    return DocumentFacts(page_count=frames)


def page_facts(path: Path, media_type: MediaType, page_no: int) -> PageFacts:
    """Size in points and rotation of a frame, from its header."""
    try:
        size = frame_size(path, media_type, page_no)
    except DocumentRejected:
        return PageFacts(page_no, 595.0, 842.0, notes=(UNREADABLE_PAGE,))
    width_pt, height_pt = (side * 72 / size.dpi for side in size[:2])
    return PageFacts(page_no, width_pt, height_pt, size.degrees)


def frame_size(path: Path, media_type: MediaType, page_no: int) -> Size:
    """The upright size of a frame, from its header. Raises DocumentRejected (corrupt, too-large)."""
    with _frame(path, media_type, page_no) as image:
        return _size(image, media_type)


def upright(path: Path, media_type: MediaType, page_no: int, size: tuple[int, int]) -> Image.Image:
    """A frame's pixels, L or RGB, 8 bits, upright, `size` (width, height) in pixels.

    All 8 EXIF orientations; transparency lies on white; 16-bit and float greys are rescaled. Raises
    DocumentRejected (corrupt, too-large).
    """
    with _frame(path, media_type, page_no) as image:
        # TIFF is turned by Pillow while it decodes, and then says so by dropping the tag.
        lies_across = _orientation(image) >= 5 and media_type is not MediaType.TIFF
        stored = (size[1], size[0]) if lies_across else size
        _draft(image, stored)
        image.load()
        turn = _TURNS.get(_orientation(image))
        plain = _to_8_bit(image)
        if plain.size != stored:
            plain = plain.resize(stored, Image.Resampling.BICUBIC, reducing_gap=2.0)
        # The enumeration counts from 0: left-right is false by itself.
        return plain if turn is None else plain.transpose(turn)


@contextmanager
def _frame(path: Path, media_type: MediaType, page_no: int) -> Iterator[Image.Image]:
    """The opened file at a frame, nothing decoded. Errors of the decoders inside become ours."""
    try:
        with Image.open(path, formats=_PILLOW_NAMES.get(media_type, (media_type.name,))) as image:
            image.seek(page_no - 1)
            _refuse_giant(image)
            yield image
    except PagemillError:
        raise
    except FileNotFoundError as error:
        raise SourceGone(f"{printable(str(path))} is not there any more.") from error
    except PermissionError as error:
        raise SourceForbidden(f"{printable(str(path))} may not be read: no permission.") from error
    except UnidentifiedImageError as error:
        raise DocumentRejected("The picture is damaged: its header cannot be read.", Code.CORRUPT) from error
    except Exception as error:
        # Decoders raise nearly anything on hostile bytes.
        shown = clean(str(error)).rstrip(".") or type(error).__name__
        raise DocumentRejected(f"The picture is damaged or cut off: {shown}.", Code.CORRUPT) from error


def _refuse_giant(image: Image.Image) -> None:
    if image.width * image.height > MAX_PIXELS:
        raise DocumentRejected(
            f"The picture has {image.width} x {image.height} pixels; "
            f"at most {MAX_PIXELS // 1_000_000} million are read.",
            Code.TOO_LARGE,
        )


def _orientation(image: Image.Image) -> int:
    value = image.getexif().get(ExifTags.Base.Orientation, 1)
    return value if value in _TURNS else 1


def _size(image: Image.Image, media_type: MediaType) -> Size:
    orientation = _orientation(image)
    width, height = image.size
    dpi_x, dpi_y = _dpi(image)
    if orientation >= 5:
        dpi_x, dpi_y = dpi_y, dpi_x
        # Pillow gives a TIFF's size as it will be once decoded, others' as stored.
        if media_type is not MediaType.TIFF:
            width, height = height, width
    # Fax pages have twice as many pixels across as down; letters must not look squeezed.
    return Size(width, round(height * dpi_x / dpi_y), dpi_x, _DEGREES.get(orientation, 0))


def _dpi(image: Image.Image) -> tuple[float, float]:
    given = image.info.get("dpi")
    try:
        dpi_x, dpi_y = (float(value) for value in given or ())
    except (TypeError, ValueError):
        return _DEFAULT_DPI, _DEFAULT_DPI
    low, high = _PLAUSIBLE_DPI
    if low <= dpi_x <= high and low <= dpi_y <= high and 0.4 <= dpi_x / dpi_y <= 2.5:
        # Rounding in the file must not stretch a picture by a pixel.
        return (dpi_x, dpi_x) if abs(dpi_x - dpi_y) < 0.02 * dpi_x else (dpi_x, dpi_y)
    return _DEFAULT_DPI, _DEFAULT_DPI


def _draft(image: Image.Image, size: tuple[int, int]) -> None:
    """Let the JPEG decoder shrink by 2, 4 or 8 for free, to no less than `size`."""
    if image.format in {"JPEG", "MPO"} and image.mode in {"L", "RGB"}:
        image.draft(image.mode, size)


def _to_8_bit(image: Image.Image) -> Image.Image:
    if image.mode in _DEEP_MODES:
        return _stretch(image)
    if image.has_transparency_data:
        paper = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(paper, image.convert("RGBA")).convert("RGB")
    return image.convert("L" if image.mode in {"1", "L"} else "RGB")


def _stretch(image: Image.Image) -> Image.Image:
    """Deep greys to 8 bits. Black is 0 or the darkest value, white the brightest but for 1 pixel in 10,000.

    The darkest value is black only where the range is more than an eighth of white: less is noise on paper,
    which must not become contrast.
    """
    values = np.nan_to_num(np.asarray(image, dtype=np.float32), posinf=0.0, neginf=0.0)
    low, high = (float(edge) for edge in np.percentile(values, (0.01, 99.99)))
    if low > 0 and high - low <= high / 8:
        low = 0.0
    scaled = (values - low) * (255.0 / max(high - low, 1e-12))
    return Image.fromarray(np.clip(scaled, 0, 255).astype(np.uint8), "L")
