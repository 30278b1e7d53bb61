"""Pages of print made in code, for tests of what a look at them tells."""

from PIL import Image, ImageDraw, ImageFont

from models.geometry import Box
from tasks.work.pdf_print import Run

WORDS = (
    "Whoever turns a page upside down reads nothing of it, and whoever lays it askew reads less than",
    "there is. The first line of this page says so; the second one, and those that follow it, are only",
    "here to make a paragraph of ordinary print, with capitals, figures such as 1871 or 2026, commas,",
    "and long as well as short words, so that letters with feet and heads stand beside one another.",
)


def page(size_px: int = 20, lines: int = 30, width: int = 1089, height: int = 1540) -> Image.Image:
    """Black print on white; letters without ascenders are about half of `size_px` high."""
    sheet = Image.new("L", (width, height), 255)
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(size_px)
    for number in range(lines):
        pen.text((90, 100 + round(number * 1.5 * size_px)), WORDS[number % len(WORDS)], fill=0, font=font)
    return sheet


def slanted(sheet: Image.Image, degrees: float) -> Image.Image:
    """The sheet with lines that fall to the right by so much."""
    return sheet.rotate(-degrees, Image.Resampling.BICUBIC, expand=True, fillcolor=255)


_A4 = Box(0, 0, 595, 842)


def run(size_pt: float, chars: int, direction: int = 0, box: Box = _A4) -> Run:
    """Characters of a text layer that are set alike, somewhere on an A4 page."""
    return Run(size_pt, chars, direction, box)
