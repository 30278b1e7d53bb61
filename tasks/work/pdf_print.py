"""What is printed on a page of a PDF: its type, and how much pictures cover."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import pymupdf

from models.geometry import Box

# PyMuPDF ships no types for what is used here.
_mu: Any = pymupdf

# Ligatures are taken apart, and glyphs without a character become U+FFFD instead of a made-up one.
TEXT_FLAGS = _mu.TEXT_PRESERVE_WHITESPACE | _mu.TEXT_MEDIABOX_CLIP
_PICTURE_FLAGS = _mu.TEXT_PRESERVE_IMAGES
_DRAWN = 16 | 32
"""MuPDF's flags of characters that are filled or stroked; others cannot be seen."""
_PICTURES = {"fill-image", "fill-imgmask", "ignore-text"}
"""What MuPDF draws on a page of pictures alone, an unseen text layer included."""
_MOSTLY = 0.5
"""A page that pictures cover so far is likely to show nothing else."""
_ASLANT_DEGREES = 10


class Run(NamedTuple):
    """Characters of a text layer that are set alike."""

    size_pt: float
    chars: int
    direction: int | None
    """Degrees clockwise in which lines run on the page as displayed: 0, 90, 180, 270; None for others and
    for vertical writing, which runs downwards on an upright page."""
    box: Box
    """Around them, in points of the page as displayed."""


class Print(NamedTuple):
    """What is printed on a page as type and as pictures."""

    runs: tuple[Run, ...]
    pictures: float
    """Share of the page, 0 to 1, that pictures cover."""
    density: float | None = None
    """Most pixels a point of those pictures, where nothing else can be seen on the page."""


def of_page(page: Any, drawn: Any) -> Print:
    """The visible type of a page whose display list is `drawn`. Raises what MuPDF does on damaged content."""
    text = _text(drawn, TEXT_FLAGS | _PICTURE_FLAGS)
    pictures = text.extractIMGINFO()
    share = min(1.0, sum(abs(_mu.Rect(picture["bbox"]) & page.rect) for picture in pictures) / abs(page.rect))
    # Words that were recognised on a scan may be many, and none of them is seen.
    is_all = share >= _MOSTLY and _shows_pictures_alone(page)
    # With pictures, their pixels would be handed out with the type.
    runs = () if is_all else tuple(_runs(_text(drawn, TEXT_FLAGS) if pictures else text))
    if pictures and not runs and (is_all or _shows_pictures_alone(page)):
        return Print(runs, share, max(map(_density, pictures)))
    return Print(runs, share)


def _shows_pictures_alone(page: Any) -> bool:
    return {kind for kind, _ in page.get_bboxlog()} <= _PICTURES


def _text(drawn: Any, flags: int) -> Any:
    options = _mu.mupdf.FzStextOptions()
    options.flags = flags
    return _mu.TextPage(_mu.mupdf.FzStextPage(drawn.this, options))


def _runs(text: Any) -> Iterator[Run]:
    for block in text.extractDICT()["blocks"]:
        for line in block["lines"]:
            direction = None if line["wmode"] else _quarter(line["dir"])
            for span in line["spans"]:
                chars = len("".join(span["text"].split()))
                if chars and span["char_flags"] & _DRAWN:
                    yield Run(span["size"], chars, direction, Box(*span["bbox"]))


def _density(picture: Any) -> float:
    """Pixels a point of a picture on a page, the more of across and down."""
    a, b, c, d, *_ = picture["transform"]
    across, down = math.hypot(a, b), math.hypot(c, d)
    return float(max(picture["width"] / max(across, 1.0), picture["height"] / max(down, 1.0)))


def _quarter(direction: tuple[float, float]) -> int | None:
    """A direction in degrees clockwise, where it is a quarter turn but for a few degrees."""
    degrees = math.degrees(math.atan2(direction[1], direction[0]))
    nearest = round(degrees / 90) * 90
    return nearest % 360 if abs(degrees - nearest) < _ASLANT_DEGREES else None
