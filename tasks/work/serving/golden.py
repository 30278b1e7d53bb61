"""Pages whose text is known, to see how well a server reads: one's own, or twenty that are drawn here."""

import hashlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from PIL import Image, ImageDraw, ImageFont

PAGES = 20
_SIZE, _MARGIN = (900, 520), 50
_SIZES_PX = (16, 20, 24, 30)
_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".webp"})
_WORDS = (  # noqa: SIM905 (words are read as words)
    "water pump valve cellar keeper evening storm ladder window record number street winter market "
    "letter garden bridge signal copper engine harbour journey mirror needle orchard paper quarry river"
).split()


@dataclass(frozen=True, slots=True)
class Golden:
    """A picture of a page and what stands on it."""

    name: str
    picture: bytes
    """As a file: PNG, JPEG or WebP."""
    text: str

    @property
    def sha256(self) -> str:
        """Of the picture."""
        return hashlib.sha256(self.picture).hexdigest()


def golden_pages(folder: Path) -> tuple[Golden, ...]:
    """Pictures of `folder` with NAME.gt.txt beside them; where there are none, twenty drawn pages."""
    return tuple(_own(folder)) or tuple(_drawn(number) for number in range(PAGES))


def digest(pages: Sequence[Golden]) -> str:
    """A name for these pages."""
    told = "\0".join(f"{page.sha256}{page.text}" for page in pages)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def _own(folder: Path) -> Iterator[Golden]:
    for path in sorted(folder.glob("*")):
        text = path.with_name(f"{path.name}.gt.txt")
        if path.suffix.lower() in _SUFFIXES and text.exists():
            yield Golden(path.name, path.read_bytes(), text.read_text(encoding="utf-8"))


def _drawn(number: int) -> Golden:
    """A page of words and numbers that no model knows by heart, in one of four sizes of print."""
    rng, size = Random(number), _SIZES_PX[number % len(_SIZES_PX)]  # noqa: S311 (no secret)
    font = ImageFont.load_default(size)
    sheet = Image.new("L", _SIZE, "white")
    pen = ImageDraw.Draw(sheet)
    lines = [_line(rng, 6 if size < _SIZES_PX[-1] else 4) for _ in range(8)]
    for row, line in enumerate(lines):
        pen.text((_MARGIN, _MARGIN + row * 52), line, fill="black", font=font)
    data = io.BytesIO()
    sheet.save(data, "PNG")
    return Golden(f"drawn-{number:02}.png", data.getvalue(), "\n".join(lines))


def _line(rng: Random, words: int) -> str:
    told = [*rng.choices(_WORDS, k=words), f"{rng.randrange(10_000):,}.{rng.randrange(100):02}"]
    return f"{told[0].capitalize()} {' '.join(told[1:])}"
