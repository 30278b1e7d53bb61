"""Pictures as they go over the wire: the stored bytes, scaled only where the model could not take them."""

import binascii
import io
import math
from dataclasses import dataclass
from pathlib import Path

from models.engine import OcrRequest
from models.errors import Code, PageFailed, PictureGone
from models.geometry import Transform
from models.vlm import Vlm

_MEDIA = {".jpg": "jpeg", ".jpeg": "jpeg", ".png": "png", ".webp": "webp"}
_LEAST_REPLY = 512
"""Tokens that a page's picture has to leave for the reply; a quarter of a small context."""


@dataclass(frozen=True, slots=True)
class Picture:
    """An encoded picture. `transform`: its pixels → page points."""

    data: bytes
    media: str
    """jpeg, png or webp."""
    width_px: int
    height_px: int
    transform: Transform

    def url(self) -> tuple[bytes, bytes]:
        """A data URL, in two parts."""
        return f"data:image/{self.media};base64,".encode(), binascii.b2a_base64(self.data, newline=False)

    def shrunk(self, share: float) -> "Picture":
        """With `share` of its pixels, in the same format."""
        factor = math.sqrt(share)
        return self.resized(round(self.width_px * factor), round(self.height_px * factor))

    def resized(self, width_px: int, height_px: int) -> "Picture":
        """Resampled to a size. Raises PageFailed (ocr-failed) when it cannot be decoded."""
        from PIL import Image  # noqa: PLC0415 (hardly any page has to be scaled here)

        size = max(1, width_px), max(1, height_px)
        try:
            with Image.open(io.BytesIO(self.data)) as image:
                smaller = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            raise PageFailed(f"The page image cannot be decoded: {error}.", Code.OCR_FAILED) from error
        data = io.BytesIO()
        smaller.save(data, self.media, quality=90)
        back = Transform.scale(self.width_px / size[0], self.height_px / size[1])
        return Picture(data.getvalue(), self.media, *size, self.transform.after(back))


def load(request: OcrRequest) -> Picture:
    """The page image of a request as it lies in the store."""
    image = request.image
    return Picture(
        _read(request.path), _media(request.path), image.width_px, image.height_px, image.transform
    )


def load_other(path: Path) -> Picture:
    """A further picture of a comparison."""
    from PIL import Image  # noqa: PLC0415

    data = _read(path)
    with Image.open(io.BytesIO(data)) as image:
        width, height = image.size
    return Picture(data, _media(path), width, height, Transform.scale(1, 1))


def size_to_send(picture: Picture, vlm: Vlm, context: int) -> tuple[int, int]:
    """Size that the model can take and that leaves room for a reply: the picture's own, nearly always.

    Preparing a page sees to that; this is for page images made for another model and for what `ask` is given.
    """
    pixels, size = vlm.pixels, (picture.width_px, picture.height_px)
    if min(size) < pixels.grid_px or size[0] * size[1] > pixels.max_pixels:
        size = pixels.fitted(*size)
    room = max(1, context - vlm.prompt_tokens - min(_LEAST_REPLY, context // 4))
    tokens = pixels.tokens(*size)
    if tokens > room:
        factor = math.sqrt(room / tokens)
        grid = pixels.grid_px
        return snapped(size[0] * factor, grid), snapped(size[1] * factor, grid)
    return size


def snapped(side: float, grid: int) -> int:
    """The largest multiple of the grid within a side, at least one."""
    return max(grid, int(side // grid) * grid)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise PictureGone("The page image is missing from the store.") from error


def _media(path: Path) -> str:
    try:
        return _MEDIA[path.suffix.lower()]
    except KeyError:
        raise PageFailed(f"Servers take no pictures of type '{path.suffix}'.", Code.OCR_REJECTED) from None
