"""Are turned pages turned back, and slanted ones straightened? Page pictures of a folder, turned and slanted.

    python -m bench.orientation FOLDER [--pages 6] [--write docs/orientation.md]

Every page with text becomes a picture; turned by 0, 90, 180 and 270 degrees it goes through preprocess as a
file that says nothing of its turn. The first two pages of born-digital documents, whose lines are straight
for certain, are slanted by angles up to 5 degrees as well, clean and as a poor scan (blurred, noisy, JPEG
quality 60). CPU seconds are those of preprocess beyond what the same file takes without orientation and
deskewing; as in a run, numpy should have one thread (OPENBLAS_NUM_THREADS=1).
"""

import argparse
import datetime as dt
import io
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

import numpy as np
from PIL import Image, ImageFilter

from bench import arguments
from bench.pages import Case, cases
from models.document import MediaType
from models.errors import PagemillError
from models.page import PageImage
from models.recipe import Recipe
from tasks.work.preprocess import preprocess_page
from tasks.work.split import split_pages
from tasks.work.store import Store

PLAIN = Recipe()
ASKED = Recipe(orient=True, deskew=True)
SLANTS = (-4.6, -2.2, -0.7, 0.0, 0.9, 2.5, 4.3)
_STRAIGHT_CHARS = 200
_SOME_CHARS = 12
_SLANTED_PAGES = 2

LIES_TURNED: Mapping[tuple[str, int], int] = {
    ("digital-ar-rotated-pages.pdf", 1): 270,
    ("digital-ar-rotated-pages.pdf", 2): 180,
    ("digital-ar-rotated-pages.pdf", 3): 90,
    ("scan-en-linn-cardinal.pdf", 2): 270,
    ("scan-en-linn-cardinal.pdf", 3): 180,
    ("scan-en-linn-cardinal.pdf", 4): 90,
    ("scan-en-rotate90.pdf", 1): 90,
}
"""Pages of the test corpus that are not upright as displayed, and what turns them upright."""
NO_TEXT = frozenset({"img-interlaced.png", "not-a-pdf-png.pdf"})
"""Files of the test corpus that show no text."""


@dataclass(frozen=True, slots=True)
class Turned:
    """One page turned by `degrees` clockwise: was it turned back?"""

    page: str
    degrees: int
    is_right: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class Slanted:
    """One page whose lines fall by `degrees`, and by how much they still do afterwards."""

    page: str
    degrees: float
    left: float
    is_poor: bool


def pictures(paths: Sequence[Path], pages: int, store: Path) -> Iterator[tuple[Case, Image.Image, int]]:
    """Each page with text as a picture, upright, with the characters of its text layer."""
    for case in cases(paths, pages):
        try:
            made = preprocess_page(case.path, case.media_type, case.page_no, PLAIN, store)
            (facts,) = split_pages(case.path, case.media_type, case.page_no, case.page_no)
        except PagemillError:
            continue
        if made.is_blank or case.path.name in NO_TEXT:
            continue
        with Image.open(Store(store).path(made.sha256, made.suffix)) as stored:
            upright = stored.rotate(-LIES_TURNED.get((case.path.name, case.page_no), 0), expand=True)
        is_typed = case.kind == "text" and sum(len(word.text) for word in facts.words) >= _STRAIGHT_CHARS
        yield case, upright, _STRAIGHT_CHARS if is_typed else _SOME_CHARS


def turned(name: str, picture: Image.Image, store: Path) -> Iterator[Turned]:
    """The four turns of a page."""
    for degrees in (0, 90, 180, 270):
        page = picture.rotate(-degrees, expand=True)
        _, plain = _prepared(page, PLAIN, store)
        made, asked = _prepared(page, ASKED, store)
        yield Turned(name, degrees, made.turn == -degrees % 360, asked - plain)


def slanted(name: str, picture: Image.Image, store: Path) -> Iterator[Slanted]:
    """The slants of a page, clean and as a poor scan."""
    for degrees in SLANTS:
        sheet = picture.convert("L").rotate(-degrees, Image.Resampling.BICUBIC, expand=True, fillcolor=255)
        for is_poor in (False, True):
            made, _ = _prepared(poorly_scanned(sheet) if is_poor else sheet, ASKED, store)
            yield Slanted(name, degrees, degrees - made.skew, is_poor)


def poorly_scanned(sheet: Image.Image) -> Image.Image:
    """Blurred, noisy, and a JPEG of low quality."""
    rng = np.random.default_rng(sheet.width)
    pixels = np.asarray(sheet.filter(ImageFilter.GaussianBlur(0.8)), float)
    noisy = np.clip(pixels * 0.85 + 20 + rng.normal(0, 8, pixels.shape), 0, 255).astype(np.uint8)
    data = io.BytesIO()
    Image.fromarray(noisy).save(data, "JPEG", quality=60)
    return Image.open(data)


def _prepared(picture: Image.Image, recipe: Recipe, store: Path) -> tuple[PageImage, float]:
    """The page image of a picture file, and the CPU seconds it took."""
    path = store / "page.png"
    picture.save(path, compress_level=1)
    started = time.process_time()
    made = preprocess_page(path, MediaType.PNG, 1, recipe, store)
    return made, time.process_time() - started


def report(turns: Sequence[Turned], slants: Sequence[Slanted], command: str) -> str:
    """The figures as Markdown."""
    pages = len(turns) // 4
    lines = [
        "# Orientation and skew",
        "",
        f"`{command}` on {dt.datetime.now(dt.UTC).date()}: {pages} pages with text.",
        "",
        "| turned clockwise by | right | wrong |",
        "| ---: | ---: | --- |",
        *(_turn_row(degrees, turns) for degrees in (0, 90, 180, 270)),
        "",
        f"All turns: {_right(turns):.2f} % right; turned pages alone: {_right(_moved(turns)):.2f} %.",
        f"Looking for turn and skew took {1000 * mean(one.seconds for one in turns):.0f} ms of CPU a page.",
        "",
        "| straightened | pages x angles | error, median | p95 | within 0.3 degrees |",
        "| --- | ---: | ---: | ---: | ---: |",
        *(_slant_row(is_poor, slants) for is_poor in (False, True)),
        "",
        "Off by more: "
        + (_list(f"{s.page} at {s.degrees:+} by {s.left:+.1f}" for s in slants if _off(s)) or "none"),
    ]
    return "\n".join(lines) + "\n"


def _turn_row(degrees: int, turns: Sequence[Turned]) -> str:
    these = [one for one in turns if one.degrees == degrees]
    return f"| {degrees} | {_right(these):.2f} % | {_list(one.page for one in these if not one.is_right)} |"


def _slant_row(is_poor: bool, slants: Sequence[Slanted]) -> str:
    these = [abs(one.left) for one in slants if one.is_poor == is_poor]
    if not these:
        return "| none | 0 |  |  |  |"
    within = 100 * mean(left <= 0.3 for left in these)
    kind = "poor scans" if is_poor else "clean"
    return (
        f"| {kind} | {len(these)} | {median(these):.2f} | {np.quantile(these, 0.95):.2f} | {within:.1f} % |"
    )


def _off(one: Slanted) -> bool:
    return abs(one.left) > 0.3


def _moved(turns: Sequence[Turned]) -> list[Turned]:
    return [one for one in turns if one.degrees]


def _right(turns: Sequence[Turned]) -> float:
    return 100 * mean(one.is_right for one in turns) if turns else 100.0


def _list(names: Iterator[str]) -> str:
    return ", ".join(names)


def main() -> int:
    """0 when at least 99 % of turned pages come out right and 99 % of slants are within 0.3 degrees."""
    parser = argparse.ArgumentParser(prog="python -m bench.orientation", description=__doc__.split("\n")[0])
    parser.add_argument("paths", type=Path, nargs="*", default=[Path("samples/documents")])
    parser.add_argument("--pages", type=int, default=6, help="at most so many pages of a document")
    parser.add_argument("--write", type=Path, help="also write the report to this file")
    arguments = parser.parse_args()
    turns: list[Turned] = []
    slants: list[Slanted] = []
    with tempfile.TemporaryDirectory() as folder:
        for case, picture, chars in pictures(arguments.paths, arguments.pages, Path(folder)):
            name = f"{case.path.name}:{case.page_no}"
            turns += turned(name, picture, Path(folder))
            if chars >= _STRAIGHT_CHARS and case.page_no <= _SLANTED_PAGES:
                slants += slanted(name, picture, Path(folder))
    shown = " ".join(path.name for path in arguments.paths)
    text = report(turns, slants, f"python -m bench.orientation {shown} --pages {arguments.pages}")
    print(text)
    if arguments.write:
        arguments.write.write_text(text, encoding="utf-8")
    straight = mean(not _off(one) for one in slants) if slants else 1.0
    return int(_right(_moved(turns)) < 99 or straight < 0.99)


if __name__ == "__main__":
    arguments.run(main)
