"""Pages of a PDF with boxes that make sense, whatever the file says of them."""

import re
from typing import Any

from models.geometry import Box

_TREE_DEPTH = 50
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)")


def load(document: Any, page_no: int) -> tuple[Any, bool]:
    """The page, and whether its boxes had to be repaired.

    MuPDF shows a letter-size page in place of impossible boxes, but an empty one where the crop box lies
    outside the media box; then the crop box is set aside (in memory).
    """
    page = document.load_page(page_no - 1)
    media, crop = (_box(document, page.xref, key) for key in ("MediaBox", "CropBox"))
    if media and (crop is None or (crop and meet(media, crop))):
        return page, False
    if crop is not None:
        document.xref_set_key(page.xref, "CropBox", f"[{' '.join(f'{edge:g}' for edge in page.mediabox)}]")
        page = document.load_page(page_no - 1)
    return page, True


def _box(document: Any, xref: int, key: str) -> Box | tuple[()] | None:
    """A box of the page, its own or inherited; None where there is none, () where it is malformed."""
    for _ in range(_TREE_DEPTH):
        kind, value = document.xref_get_key(xref, key)
        if kind == "xref":
            value = document.xref_object(int(value.split()[0]), compressed=True)
        if kind != "null":
            return _parse_box(value)
        kind, value = document.xref_get_key(xref, "Parent")
        if kind != "xref":
            break
        xref = int(value.split()[0])
    return None


def _parse_box(value: str) -> Box | tuple[()]:
    parts = value.strip().strip("[]").split()
    if len(parts) != 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        return ()
    box = Box(*map(float, parts))
    return box if box.width > 0 and box.height > 0 else ()


def meet(one: Box, other: Box) -> bool:
    """Whether two boxes have more than an edge in common."""
    return min(one.x1, other.x1) > max(one.x0, other.x0) and min(one.y1, other.y1) > max(one.y0, other.y0)
