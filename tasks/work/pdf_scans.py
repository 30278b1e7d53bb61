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
    name = _only_picture(page.read_contents())
    if not name or page.rotation or page.first_annot or page.first_widget:
        return None
    found = [image for image in page.get_images(full=True) if image[7] == name and image[9] == 0]
    if len(found) != 1 or not _is_all(page):
        return None
    xref, _, _, _, _, colours, _, _, coding, _ = found[0]
    keys = (page.parent.xref_get_key(xref, key)[0] for key in _UNLIKE_ITSELF)
    if coding != "DCTDecode" or colours not in _PLAIN or any(key != "null" for key in keys):
        return None
    data: bytes = page.parent.xref_stream_raw(xref)
    return data


def _only_picture(content: bytes) -> str:
    """Name of the one picture that a page shows, if it does nothing else but write; else empty."""
    words = content.split() if len(content) <= _MOST_BYTES else []
    names, last, is_text = list[bytes](), b"", False
    for word in words:
        if word in {b"BT", b"ET"}:
            is_text = word == b"BT"
        elif not is_text and word not in _OPERATORS and not _OPERAND.fullmatch(word):
            return ""
        elif word == b"Do":
            names.append(last)
        last = word
    if len(names) != 1 or is_text or _CLIPS.search(content):
        return ""
    return names[0].removeprefix(b"/").decode("latin-1")


def _is_all(page: Any) -> bool:
    """Whether a page shows nothing but one picture, which fills it."""
    shown, whole = page.get_image_info(), (page.rect.width, 0, 0, page.rect.height, 0, 0)
    if len(shown) != 1 or {kind for kind, _ in page.get_bboxlog()} - {"fill-image", "ignore-text"}:
        return False
    return all(abs(one - other) <= _EDGE_PT for one, other in zip(shown[0]["transform"], whole, strict=True))
