"""Pages that lie on their side or upside down in their picture, with nothing in the file that says so.

An engine's own answer tells. Lines of a page on its side are higher than wide, and it reads those that run
downwards (it turns tall lines before reading) but not those that run upwards. Upside down it reads rubbish
and is unsure: confidence was 0.47 to 0.62 on such pages, 0.82 and more on the same pages upright, and 0.24
to 0.25 on pages of unknown scripts, which turning does not help. Of pages of figures alone, which look like
others upside down, it was 0.71 to 0.79 and 0.99.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image

from models.geometry import Transform
from models.reading import mean_confidence
from tasks.work.layout import is_vertical
from tasks.work.lines import Line

# Share of characters in tall lines that makes a page lie on its side.
_TALL_SHARE, _TALL = 0.5, 1.5
# Confidence under which a page may be upside down, and under which tall lines are not even upright writing.
_UNSURE, _LOST = 0.82, 0.65
GAIN = 0.1
"""What is turned is read with so much more confidence, or it was not turned."""
_LEAST_CHARS = 8

_TURNS = {
    90: Image.Transpose.ROTATE_90,
    180: Image.Transpose.ROTATE_180,
    270: Image.Transpose.ROTATE_270,
}


@dataclass(frozen=True, slots=True)
class Sheet:
    """A picture to read and where its pixels lie on the page."""

    picture: Image.Image
    transform: Transform
    turned: int = 0
    """Degrees against the clock by which the page image was turned for reading."""

    def turn(self, degrees: int) -> "Sheet":
        """This sheet turned by 90, 180 or 270 degrees against the clock."""
        width, height = self.picture.size
        back = {
            90: Transform(0, 1, -1, 0, width, 0),
            180: Transform(-1, 0, 0, -1, width, height),
            270: Transform(0, -1, 1, 0, 0, height),
        }[degrees]
        turned = self.picture.transpose(_TURNS[degrees])
        return Sheet(turned, self.transform.after(back), (self.turned + degrees) % 360)

    def encoded(self) -> bytes:
        """The picture as an engine takes it. Quality as high as the eye can tell: it was a JPEG before."""
        data = io.BytesIO()
        self.picture.convert("RGB").save(data, "JPEG", quality=95)
        return data.getvalue()


def turns_to_try(lines: Sequence[Line]) -> tuple[int, ...]:
    """Degrees against the clock by which a page with such lines may have to be turned."""
    if sum(len(line.text) for line in lines) < _LEAST_CHARS:
        return ()
    sure = confidence(lines)
    if not _lies(lines):
        return (180,) if sure < _UNSURE else ()
    if sure < _LOST:
        return (270,)
    if is_vertical(lines):
        return ()
    return (90,) if sure >= _UNSURE else (90, 270)


def is_better(turned: Sequence[Line], lines: Sequence[Line], degrees: int) -> bool:
    """Whether turning by `degrees` helped. Lines that run downwards were read already: it must not hurt."""
    gain = confidence(turned) - confidence(lines)
    if degrees == 90:
        return not _lies(turned) and gain > -GAIN / 2
    return gain > GAIN


def is_tall(line: Line) -> bool:
    """Whether a line lies on its side, if it is none of upright writing."""
    return line.box.height > _TALL * line.box.width


def _lies(lines: Sequence[Line]) -> bool:
    tall = sum(len(line.text) for line in lines if is_tall(line))
    return tall > _TALL_SHARE * sum(len(line.text) for line in lines)


def confidence(lines: Sequence[Line]) -> float:
    """Mean confidence over characters; 1.0 where the engine gives none."""
    found = mean_confidence((line.confidence, len(line.text)) for line in lines)
    return 1.0 if found is None else found
