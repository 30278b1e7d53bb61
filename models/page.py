"""Pages, their text layer, and the prepared picture of a page."""

from dataclasses import dataclass
from typing import NamedTuple

from models.geometry import Box, Transform


class Word(NamedTuple):
    """A word of a PDF's text layer. `box` in page points; `block` and `line` as the file groups them.

    A tuple, since pages have hundreds, and each goes through a pipe and a database.
    """

    text: str
    box: Box
    block: int = 0
    line: int = 0


@dataclass(frozen=True, slots=True)
class PageFacts:
    """One page as split saw it. Sizes in points of the page as displayed."""

    page_no: int
    """From 1."""
    width_pt: float
    height_pt: float
    rotation: int = 0
    """Degrees clockwise that the file asks for (/Rotate or EXIF), already applied to every size and box."""
    words: tuple[Word, ...] = ()
    notes: tuple[str, ...] = ()
    """Stable finding codes about this page, e.g. box-repaired."""


@dataclass(frozen=True, slots=True)
class PageImage:
    """The prepared picture of a page in the content-addressed store."""

    sha256: str
    suffix: str
    """File suffix with the dot: .jpg or .png."""
    width_px: int
    height_px: int
    transform: Transform
    """Pixels of this image → points of its page."""
    ink: float
    """Share of pixels, 0 to 1, that differ from the paper after noise is taken away."""
    is_blank: bool
    notes: tuple[str, ...] = ()
    """Stable finding codes about the picture, e.g. downscaled."""
    turn: int = 0
    """Degrees clockwise by which the page as displayed was turned to stand upright: 0, 90, 180, 270."""
    skew: float = 0.0
    """Degrees by which its lines fell to the right (negative: rose) before the picture was straightened."""
    x_height_px: float | None = None
    """Height of small letters of the smallest running text in this picture; None: not looked for, or none."""
    reason: str = ""
    """Why it is as large as it is: fixed, max, unknown, or legible, most or least, and what told the height
    of the text: layer or pixels, e.g. legible-layer."""
    tokens_saved: int = 0
    """Image tokens less than at the most pixels allowed, by the recipe's grid."""
