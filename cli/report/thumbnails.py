"""Page images made small enough to stand in an HTML file."""

import base64
import io
import logging
from pathlib import Path

from PIL import Image

log = logging.getLogger(__name__)

_WIDTH_PX, _HEIGHT_PX = 420, 560
_MOST_BYTES = 30_000
"""As a data URL that is 40 kB."""
_QUALITIES = (70, 50, 30)


def data_url(path: Path) -> str:
    """A thumbnail as a data URL of at most 40 kB; empty where there is no picture that can be read."""
    try:
        with Image.open(path) as image:
            image.draft("RGB", (2 * _WIDTH_PX, 2 * _HEIGHT_PX))
            small = image.convert("RGB")
            small.thumbnail((_WIDTH_PX, _HEIGHT_PX))
    except (OSError, Image.DecompressionBombError) as error:
        log.warning("no thumbnail: %s", type(error).__name__)
        return ""
    return f"data:image/jpeg;base64,{base64.b64encode(_jpeg(small)).decode()}"


def _jpeg(image: Image.Image) -> bytes:
    """As good as fits; a picture that does not fit is made smaller."""
    while True:
        for quality in _QUALITIES:
            buffer = io.BytesIO()
            image.save(buffer, "JPEG", quality=quality, optimize=True)
            if buffer.tell() <= _MOST_BYTES:
                return buffer.getvalue()
        image = image.resize((max(1, image.width * 2 // 3), max(1, image.height * 2 // 3)))
