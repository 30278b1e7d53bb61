"""Lines that run upwards on an upright page, as the labels of axes and the heads of narrow columns do.

An engine turns tall lines before it reads them, so that those that run downwards stand upright. Those that
run upwards stand on their head then and become rubbish that looks like text: "Sales in thousands" was read as
"spuesnoų u! sejes" with a confidence of 0.79, and turned back as it is, with 1.0.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from PIL import Image

from models.geometry import Transform
from tasks.work.layout import is_vertical
from tasks.work.lines import Line
from tasks.work.turning import GAIN, Sheet, confidence, is_tall

_LEAST_CHARS = 3
_SURE = 0.9
"""Lines that run downwards are read with more."""
_MOST = 30
"""A page has few labels; each takes some 60 ms."""
_MARGIN_PX = 6
"""With less a detector misses the ends, with more it sees what stands beside."""

ReadPicture = Callable[[bytes], list[Line]]


def read_rising(lines: Sequence[Line], picture: Image.Image, read: ReadPicture) -> list[Line]:
    """The same lines in their places, with the words of those that are read better from the other side."""
    doubtful = [line for line in lines if _may_rise(line)][:_MOST]
    found = {id(line): _better(line, picture, read) for line in doubtful}
    return [found.get(id(line), line) for line in lines]


def _may_rise(line: Line) -> bool:
    is_unsure = line.confidence is not None and line.confidence < _SURE
    # Chinese and Japanese stand upright in columns: those are no lines on their side.
    return is_unsure and is_tall(line) and len(line.text) >= _LEAST_CHARS and not is_vertical([line])


def _better(line: Line, picture: Image.Image, read: ReadPicture) -> Line:
    box = line.box
    place = (box.x0 - _MARGIN_PX, box.y0 - _MARGIN_PX, box.x1 + _MARGIN_PX, box.y1 + _MARGIN_PX)
    label = Sheet(picture.convert("RGB").crop(place), Transform.scale(1.0, 1.0)).turn(270)
    pieces = sorted(read(label.encoded()), key=lambda piece: piece.box.x0)
    sure = confidence(pieces)
    if not pieces or sure <= confidence([line]) + GAIN:
        return line
    return replace(line, text=" ".join(piece.text for piece in pieces), confidence=sure)
