"""Whether a PDF's text layer can be trusted, and what it says.

A layer is believed only after four looks: at its characters (layertext), at the picture under its words
(layerink), at where the words stand, and, before it replaces OCR, at what an engine reads in a few of its
lines. The last look is cheap: the lines are cut out of the page image and read as one small picture.
"""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PIL import Image

from models.engine import OcrRequest
from models.geometry import Box
from models.page import Word
from models.text import script_of
from tasks.work import layerink, layertext
from tasks.work.layerlines import lines_of, printed
from tasks.work.lines import Line
from tasks.work.metrics import agreement

REJECTED = "layer-rejected:"
"""Note on a reading, followed by the fault: unmapped, mojibake, mixed-scripts, invisible, incomplete,
outside-page, differs."""
UNPROVEN = "layer-unproven"
"""Note: the layer was taken and no line of it was read: the engine cannot read its script, or is a served
model, which is asked for whole pages only."""

# More letters than this in scripts the engine cannot read: its own reading says nothing about the layer.
_FOREIGN = 0.2
_OUTSIDE = 0.5
_PROBES, _PROBE_LETTERS, _PROBE_LONGEST = 4, 8, 90
# Two readings of the same line agree to 0.9 and more; a wrong encoding or shifted letters to under 0.3.
_SAME_LINE = 0.7
_MARGIN, _SPACE = 3, 14


@dataclass(frozen=True, slots=True)
class Layer:
    """A page's text layer after a look at it."""

    lines: tuple[Line, ...]
    """Pieces of lines, boxes in pixels of the page image."""
    fault: str | None
    """Why it is not believed; None while nothing speaks against it."""
    is_foreign: bool
    """Written in a script that the engine cannot read."""

    @property
    def text(self) -> str:
        """All lines, in the file's order."""
        return "\n".join(line.text for line in self.lines)


def look(request: OcrRequest, picture: Image.Image, readable: frozenset[str]) -> Layer | None:
    """The text layer of a request's page, looked at beside its picture; None when it has no printed word.

    `picture` is the page image, `readable` the scripts of the engine. Nothing is read.
    """
    words = printed(request.words, request.width_pt, request.height_pt)
    if not words:
        return None
    lines = lines_of(words, request.image.transform)
    is_foreign = layertext.foreign_share(" ".join(word.text for word in words), readable) > _FOREIGN
    fault = _fault(request, words, picture, is_foreign=is_foreign)
    return Layer(tuple(lines), fault, is_foreign)


@dataclass(frozen=True, slots=True)
class Proof:
    """What reading a few lines of a layer said."""

    fault: str | None
    is_read: bool
    """False when there was no line that the engine can read."""


def prove(
    layer: Layer, picture: Image.Image, readable: frozenset[str], read: Callable[[bytes], Sequence[Line]]
) -> Proof:
    """Let `read` (encoded picture in, lines out) see a few lines of a layer and compare.

    A layer with a fault is not read. `differs` is the fault of one that says other words than the picture.
    """
    probes = [] if layer.fault or layer.is_foreign else _probes(layer.lines, readable)
    if not probes:
        return Proof(layer.fault, is_read=False)
    seen = "\n".join(line.text for line in read(_stacked([line.box for line in probes], picture)))
    is_same = agreement("\n".join(line.text for line in probes), seen) >= _SAME_LINE
    return Proof(None if is_same else "differs", is_read=True)


def _fault(
    request: OcrRequest, words: Sequence[Word], picture: Image.Image, *, is_foreign: bool
) -> str | None:
    outside = 1 - len(words) / max(1, sum(not word.text.isspace() for word in request.words))
    if outside > _OUTSIDE:
        return "outside-page"
    to_pixels = request.image.transform.inverse()
    boxes = [(word.text, to_pixels.box(word.box)) for word in words]
    in_text = layertext.fault_in_text((word.text for word in words), is_foreign=is_foreign)
    return in_text or layerink.fault_against_picture(boxes, layerink.grey_of(picture))


def _probes(lines: Sequence[Line], readable: frozenset[str]) -> list[Line]:
    """A few lines from top to bottom; the longest where none is long enough to say much."""
    legible = [line for line in lines if _signs(line, readable) and line.box.height < 2 * line.box.width]
    telling = [line for line in legible if _PROBE_LETTERS <= _signs(line, readable) <= _PROBE_LONGEST]
    if not telling:
        telling = sorted(legible, key=lambda line: -_signs(line, readable))[:_PROBES]
    telling.sort(key=lambda line: (line.box.y0, line.box.x0))
    step = max(1.0, len(telling) / _PROBES)
    return [telling[int(number * step)] for number in range(min(_PROBES, len(telling)))]


def _signs(line: Line, readable: frozenset[str]) -> int:
    """Letters and digits of a line that the engine can read throughout; 0 for any other line."""
    signs = [char for char in line.text if char.isalnum()]
    known = sum(char.isdecimal() or script_of(char) in readable for char in signs)
    return known if known > 0.9 * len(signs) else 0


def _stacked(boxes: Sequence[Box], picture: Image.Image) -> bytes:
    """The lines cut out of the picture, one below the other on white, as PNG."""
    cuts = [
        picture.crop((int(b.x0) - _MARGIN, int(b.y0) - _MARGIN, int(b.x1) + _MARGIN, int(b.y1) + _MARGIN))
        for b in boxes
    ]
    width = max(cut.width for cut in cuts) + 2 * _SPACE
    sheet = Image.new("RGB", (width, sum(cut.height + _SPACE for cut in cuts) + _SPACE), "white")
    top = _SPACE
    for cut in cuts:
        sheet.paste(cut, (_SPACE, top))
        top += cut.height + _SPACE
    data = io.BytesIO()
    sheet.save(data, "PNG", compress_level=1)
    return data.getvalue()
