"""Made pages whose lines and their order are known: columns, tables, formulas, notes, bars at the side."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from models.geometry import Box

SIZE = (1_240, 1_754)
"""A4 at 150 dpi."""
SMALL = (784, 560)
"""What a model that takes 0.45 megapixels gets as it is."""
_FONT_PX, _LINE_PX, _WIDTH = 24, 36, 440
_WORDS = Path(__file__).parents[1] / "samples" / "truth"


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page and what is printed on it, in reading order."""

    picture: Image.Image
    passages: tuple[tuple[str, ...], ...]
    """Lines of each."""
    boxes: tuple[Box, ...]
    """Where the ink of each line is, in pixels."""

    @property
    def text(self) -> str:
        """All of it."""
        return "\n\n".join("\n".join(lines) for lines in self.passages)


class _Pen:
    """Prints words at random, always the same for a seed, and remembers what it printed."""

    def __init__(self, seed: int, size: tuple[int, int] = SIZE) -> None:
        self.picture = Image.new("RGB", size, "white")
        self.draw = ImageDraw.Draw(self.picture)
        self._rng = random.Random(seed)
        words = [word for path in sorted(_WORDS.glob("*.txt")) for word in path.read_text("utf-8").split()]
        self._words = sorted(
            {one.lower() for one in words if one.isascii() and one.isalpha() and len(one) > 2}
        )
        self._passages: list[tuple[str, ...]] = []
        self._boxes: list[Box] = []

    def passage(
        self, left: int, top: int, lines: int, width: int = _WIDTH, *, font_px: int = _FONT_PX, lead: str = ""
    ) -> int:
        """Lines of words one below the other; where the next passage may begin. `lead` begins the first."""
        font, pitch, made = ImageFont.load_default(font_px), font_px * 3 // 2, []
        for line in range(lines):
            text = f"{lead} {self._word()}" if lead and not line else self._word()
            while self.draw.textlength(f"{text} {(word := self._word())}", font=font) < width:
                text += f" {word}"
            made.append(self._print(left, top + line * pitch, text, font_px))
        self._passages.append(tuple(made))
        return top + lines * pitch

    def row(self, top: int, cells: Mapping[int, str], font_px: int = _FONT_PX) -> None:
        """Texts side by side, by their left ends: one line to be read."""
        start = len(self._boxes)
        made = [self._print(left, top, text, font_px) for left, text in cells.items()]
        self._boxes[start:] = [Box.around(self._boxes[start:])]
        self._passages.append((" ".join(made),))

    def cell(self) -> str:
        """A word or a number."""
        return self._word() if self._rng.random() < 0.5 else f"{self._rng.randrange(10_000):,}"

    def sheet(self) -> Sheet:
        """What was printed."""
        return Sheet(self.picture, tuple(self._passages), tuple(self._boxes))

    def _word(self) -> str:
        return self._rng.choice(self._words)

    def _print(self, left: int, top: int, text: str, font_px: int) -> str:
        font = ImageFont.load_default(font_px)
        self.draw.text((left, top), text, fill="black", font=font)
        self._boxes.append(Box(*self.draw.textbbox((left, top), text, font=font)))
        return text


def columns(seed: int, lefts: tuple[int, ...] = (120, 660), width: int = _WIDTH) -> Sheet:
    """A title over columns of three passages each."""
    pen = _Pen(seed)
    pen.passage(120, 100, 1)
    for left in lefts:
        for place in range(3):
            pen.passage(left, 220 + place * (6 * _LINE_PX + 60), 6, width)
    return pen.sheet()


def single(seed: int, size: tuple[int, int] = SIZE) -> Sheet:
    """A title and passages over the whole width."""
    pen, margin = _Pen(seed, size), size[0] // 12
    top = pen.passage(margin, margin, 1) + 30
    while top < size[1] - margin - 4 * _LINE_PX:
        top = pen.passage(margin, top, 3, size[0] - 2 * margin) + 30
    return pen.sheet()


def table(seed: int, *, is_ruled: bool = True) -> Sheet:
    """A table of five columns between passages, with rules or without."""
    pen = _Pen(seed)
    top = pen.passage(120, 120, 5, 1_000) + 60
    lefts = [140 + 200 * column for column in range(5)]
    for row in range(8):
        pen.row(top + row * 48 + 10, {left: pen.cell() for left in lefts})
    for row in range(9 * is_ruled):
        pen.draw.line((120, top + row * 48, 1_120, top + row * 48), fill="black", width=2)
    for left in [left - 20 for left in (*lefts, 1_140)][: 6 * is_ruled]:
        pen.draw.line((left, top, left, top + 8 * 48), fill="black", width=2)
    pen.passage(120, top + 8 * 48 + 60, 5, 1_000)
    return pen.sheet()


def formula(seed: int) -> Sheet:
    """Formulas with their numbers between passages."""
    pen, top = _Pen(seed), 120
    for number in range(1, 4):
        top = pen.passage(120, top, 4, 1_000) + 50
        for left, text in ((460, "f(x) = ax² + bx + c"), (1_060, f"({number})")):
            pen.row(top, {left: text}, 30)
        top += 90
    pen.passage(120, top, 4, 1_000)
    return pen.sheet()


def sidebar(seed: int) -> Sheet:
    """Text, and a framed box beside it that is read after it."""
    pen, top = _Pen(seed), 120
    for _ in range(5):
        top = pen.passage(120, top, 6, 640) + 40
    pen.draw.rectangle((810, 200, 1_140, 800), outline="black", width=3)
    for place in range(3):
        pen.passage(830, 230 + place * 190, 5, 270, font_px=20)
    return pen.sheet()


def notes(seed: int) -> Sheet:
    """Header, text, footnotes under a short rule, page number."""
    pen = _Pen(seed)
    pen.passage(120, 60, 1, 300, font_px=18)
    top = 150
    for _ in range(4):
        top = pen.passage(120, top, 6, 1_000) + 40
    pen.draw.line((120, 1_420, 400, 1_420), fill="black", width=2)
    for number in "123":
        pen.passage(120, 1_380 + 60 * int(number), 2, 1_000, font_px=17, lead=number)
    pen.row(1_680, {610: "17"}, 18)
    return pen.sheet()


KINDS: Mapping[str, Callable[[int], Sheet]] = {
    "one column": single,
    "two columns": columns,
    "two, narrow gutter": lambda seed: columns(seed, (120, 632), 480),
    "three columns": lambda seed: columns(seed, (100, 460, 820), 310),
    "ruled table": table,
    "open table": lambda seed: table(seed, is_ruled=False),
    "formulas": formula,
    "box at the side": sidebar,
    "footnotes": notes,
}
