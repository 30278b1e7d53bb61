"""Pages of a PDF that are one JPEG and nothing else, as most scanners write them."""

import re
from typing import Any

_MOST_BYTES = 500_000
"""A page of recognised words under its scan takes 10 to 100 KB."""
_CLIPS = re.compile(rb"\b[4-7]\s+Tr\b")
_OPERATORS = frozenset({b"q", b"Q", b"cm", b"Do", b"ri"})
"""What a page does that shows one picture. Anything else may cut it, cover it or make it pale."""
_OPERAND = re.compile(rb"/\S+|[-+]?(\d+\.?\d*|\.\d+)")
_PLAIN = {"DeviceGray", "DeviceRGB", "CalGray", "CalRGB", "ICCBased"}
_UNLIKE_ITSELF = ("Mask", "SMask", "Decode", "DecodeParms", "ImageMask", "OC")
"""Keys of a picture that is not shown as it is, or not always."""
_EDGE_PT = 0.5


def whole_jpeg(page: Any) -> bytes | None:
    """The JPEG that is all there is to see of a page, upright and from edge to edge; else None."""
    if page.rotation or page.first_annot or page.first_widget:
        return None
    stored = [image for image in page.get_images(full=True) if image[8] == "DCTDecode" and image[9] == 0]
    # Most pages have none, and their content need not be looked at.
    name = _only_picture(page.read_contents()) if stored else ""
    found = [image for image in stored if image[7] == name]
    if len(found) != 1 or not _is_all(page):
        return None
    xref, _, _, _, _, colours, *_ = found[0]
    keys = (page.parent.xref_get_key(xref, key)[0] for key in _UNLIKE_ITSELF)
    if colours not in _PLAIN or any(key != "null" for key in keys):
        return None
    data: bytes = page.parent.xref_stream_raw(xref)
    return data


def is_upright_picture(page: Any) -> bool:
    """Whether one picture is shown on a page, and its edges are upright as displayed."""
    shown = page.get_image_info()
    if len(shown) != 1:
        return False
    a, b, c, d, *_ = (abs(float(part)) for part in shown[0]["transform"])
    return max(b, c) <= _EDGE_PT or max(a, d) <= _EDGE_PT


def _only_picture(content: bytes) -> str:
    """Name of the first picture that a page shows, if it does nothing before that but write; else empty."""
    words = content.split() if len(content) <= _MOST_BYTES else []
    last, is_text = b"", False
    for word in words:
        if word in {b"BT", b"ET"}:
            is_text = word == b"BT"
        elif word == b"gs" or not (is_text or word in _OPERATORS or _OPERAND.fullmatch(word)):
            return ""
        elif word == b"Do":
            is_cut = is_text or _CLIPS.search(content)
            return "" if is_cut else last.removeprefix(b"/").decode("latin-1")
        last = word
    return ""


def _is_all(page: Any) -> bool:
    """Whether a page shows nothing but one picture, which fills it; type below it cannot be seen."""
    shown, whole = page.get_image_info(), (page.rect.width, 0, 0, page.rect.height, 0, 0)
    *below, last = [kind for kind, _ in page.get_bboxlog() if kind != "ignore-text"] or [""]
    if len(shown) != 1 or last != "fill-image" or set(below) - {"fill-text"}:
        return False
    return all(abs(one - other) <= _EDGE_PT for one, other in zip(shown[0]["transform"], whole, strict=True))
