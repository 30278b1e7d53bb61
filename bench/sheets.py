"""Sheets as scanners deliver them, made in code: blank ones, and pages of print on the same paper."""

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter

SIZE = (1089, 1540)
"""A4 at the default recipe's long edge."""

Mark = Callable[[Image.Image, np.random.Generator], Image.Image]


def grain(sheet: Image.Image, rng: np.random.Generator) -> Image.Image:
    """The unevenness of paper and sensor."""
    noise = rng.normal(0, rng.uniform(2, 7), (sheet.height, sheet.width))
    return Image.fromarray(np.clip(np.asarray(sheet, float) + noise, 0, 255).astype(np.uint8))


def specks(sheet: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Dust: single pixels and small spots of any grey."""
    pixels = np.asarray(sheet).copy()
    where = rng.random(pixels.shape) < rng.uniform(0.0005, 0.01)
    pixels[where] = rng.integers(0, 256, int(where.sum()))
    return Image.fromarray(pixels)


def fold(sheet: Image.Image, rng: np.random.Generator) -> Image.Image:
    """One to three creases from edge to edge, a little slanted, darker or lighter than the paper."""
    drawn = sheet.copy()
    pen = ImageDraw.Draw(drawn)
    for _ in range(rng.integers(1, 4)):
        grey = int(np.clip(_paper(sheet) + rng.choice([-1, 1]) * rng.integers(30, 120), 0, 255))
        slant, width = int(rng.integers(-30, 31)), int(rng.integers(1, 6))
        if rng.random() < 0.5:
            y = int(rng.uniform(0.1, 0.9) * sheet.height)
            pen.line((0, y, sheet.width, y + slant), fill=grey, width=width)
        else:
            x = int(rng.uniform(0.1, 0.9) * sheet.width)
            pen.line((x, 0, x + slant, sheet.height), fill=grey, width=width)
    return drawn.filter(ImageFilter.GaussianBlur(0.7))


def punch_holes(sheet: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Two or four holes down the left edge, black or grey as the scanner's lid."""
    drawn = sheet.copy()
    pen = ImageDraw.Draw(drawn)
    radius, x = int(rng.integers(12, 20)), int(rng.integers(40, 75))
    lid = int(rng.integers(0, 120)) if _paper(sheet) > 128 else int(rng.integers(160, 256))
    for share in (0.35, 0.65) if rng.random() < 0.5 else (0.12, 0.37, 0.63, 0.88):
        y = int(share * sheet.height)
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=lid)
    return drawn.filter(ImageFilter.GaussianBlur(0.8))


def edge(sheet: Image.Image, rng: np.random.Generator) -> Image.Image:
    """The dark rim beside a page that lay askew on the glass."""
    drawn = sheet.copy()
    width, slant = int(rng.integers(5, 40)), int(rng.integers(-10, 11))
    corners = [(0, 0), (width, 0), (max(1, width + slant), sheet.height), (0, sheet.height)]
    ImageDraw.Draw(drawn).polygon(corners, fill=int(rng.integers(0, 60)))
    return drawn


def shadow(sheet: Image.Image, rng: np.random.Generator) -> Image.Image:
    """The gutter of a book: darker towards one side."""
    ramp = np.exp(-np.arange(sheet.width) / rng.uniform(60, 250)) * rng.uniform(40, 120)
    shaded = np.asarray(sheet, float) - ramp[None, :: int(rng.choice([-1, 1]))]
    return Image.fromarray(np.clip(shaded, 0, 255).astype(np.uint8))


def bleed_through(back: Image.Image) -> Mark:
    """The other side's print, mirrored, faint and blurred by the paper."""

    def mark(sheet: Image.Image, rng: np.random.Generator) -> Image.Image:
        print_ = back.convert("L").resize(sheet.size).transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        soft = print_.filter(ImageFilter.GaussianBlur(rng.uniform(1.5, 3)))
        share = rng.uniform(0.04, 0.12)
        return ImageChops.subtract(sheet, soft.point(lambda level: round((255 - level) * share)))

    return mark


MARKS: Mapping[str, Mark] = {
    "grain": grain,
    "specks": specks,
    "fold": fold,
    "punch holes": punch_holes,
    "dark edge": edge,
    "shadow": shadow,
}
PAPERS: Mapping[str, int] = {"white": 255, "off-white": 238, "grey": 170, "dark grey": 70, "black": 4}


def blank_sheets(back: Image.Image, rounds: int, seed: int = 1) -> Iterator[tuple[str, Image.Image]]:
    """Blank sheets by what is on them: every paper with every mark, and with three of them at once."""
    rng = np.random.default_rng(seed)
    marks = dict(MARKS) | {"bleed-through": bleed_through(back)}
    for paper, grey in PAPERS.items():
        yield f"{paper}, nothing", Image.new("L", SIZE, grey)
        for _ in range(rounds):
            for name, mark in marks.items():
                yield f"{paper}, {name}", scanned(mark(Image.new("L", SIZE, grey), rng), rng)
            yield f"{paper}, three marks", scanned(_several(Image.new("L", SIZE, grey), marks, rng), rng)


def worn(page: Image.Image, rng: np.random.Generator) -> Image.Image:
    """A printed page with two of the same marks, and darker or lighter paper and ink."""
    low, high = rng.uniform(0, 60), rng.uniform(190, 255)
    toned = page.convert("L").point(lambda level: round(low + level * (high - low) / 255))
    return scanned(_several(toned, MARKS, rng, 2), rng)


def scanned(sheet: Image.Image, rng: np.random.Generator) -> Image.Image:
    """The softness of a scanner's optics."""
    return sheet.filter(ImageFilter.GaussianBlur(rng.uniform(0.0, 0.6)))


def _several(
    sheet: Image.Image, marks: Mapping[str, Mark], rng: np.random.Generator, count: int = 3
) -> Image.Image:
    for name in rng.choice(sorted(marks), count, replace=False):
        sheet = marks[str(name)](sheet, rng)
    return sheet


def _paper(sheet: Image.Image) -> int:
    return int(np.median(np.asarray(sheet)))
