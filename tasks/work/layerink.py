"""A text layer against the picture of its page: words without ink, and ink without words."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from models.geometry import Box

Grey = NDArray[np.int16]

# Grey levels between the darkest and the lightest pixel of a word: less is paper and JPEG noise.
CONTRAST = 40
# Grey levels between neighbouring pixels that make an edge. Letters have many, filled areas few.
_EDGE = 48
# Share of characters without ink that makes a layer unbelievable.
_INVISIBLE_SHARE = 0.1
# Share of edges outside of all words, and the least share of the picture's pixels, that make it incomplete.
_OUTSIDE_SHARE, _OUTSIDE_LEAST = 0.35, 0.0015


def grey_of(picture: Image.Image) -> Grey:
    """Grey levels 0 to 255 of a picture, rows by columns."""
    return np.asarray(picture.convert("L"), dtype=np.int16)


def invisible_share(words: Sequence[tuple[str, Box]], grey: Grey) -> float:
    """Share of the characters whose word has no ink in the picture. Boxes in pixels."""
    total = sum(len(text) for text, _ in words)
    hidden = sum(len(text) for text, box in words if not _has_ink(box, grey))
    return hidden / max(1, total)


def outside_share(words: Sequence[tuple[str, Box]], grey: Grey) -> float:
    """Share of the picture's edges that lie in no word's box; 0.0 when there are hardly any such edges."""
    edges = np.abs(np.diff(grey, axis=1)) > _EDGE
    total = int(edges.sum())
    for _, box in words:
        # Glyphs reach a little out of the boxes that fonts declare.
        slack = 2 + 0.15 * box.height
        x0, y0, x1, y1 = _pixels(Box(box.x0 - slack, box.y0 - slack, box.x1 + slack, box.y1 + slack), grey)
        edges[y0:y1, x0:x1] = False
    outside = int(edges.sum())
    return outside / total if outside > _OUTSIDE_LEAST * edges.size else 0.0


def fault_against_picture(words: Sequence[tuple[str, Box]], grey: Grey) -> str | None:
    """Why these words are not what the picture shows: invisible, incomplete; None when they may be."""
    if invisible_share(words, grey) > _INVISIBLE_SHARE:
        return "invisible"
    return "incomplete" if outside_share(words, grey) > _OUTSIDE_SHARE else None


def _has_ink(box: Box, grey: Grey) -> bool:
    x0, y0, x1, y1 = _pixels(box, grey)
    pixels = grey[y0:y1, x0:x1]
    return bool(pixels.size) and int(pixels.max()) - int(pixels.min()) >= CONTRAST


def _pixels(box: Box, grey: Grey) -> tuple[int, int, int, int]:
    height, width = grey.shape
    x0, y0 = max(0, int(box.x0)), max(0, int(box.y0))
    return x0, y0, min(width, int(box.x1) + 1), min(height, int(box.y1) + 1)
