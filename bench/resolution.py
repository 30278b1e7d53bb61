"""What a page image sized by its print saves and costs: pixels, seconds and error rate of `ppocr` by mode.

    python -m bench.resolution FOLDER [--pages 2] [--x-heights 8 10 12] [--write docs/resolution.md]
        [--out FOLDER]

Pages of documents with a ground truth beside them (NAME.gt.txt) are prepared at the most pixels (mode max, 4
million), at the default long edge (fixed), and so that small letters of the smallest running text are so many
pixels high (legible). Reading is the CPU engine's, without text layers; a document's error rate is over those
of its first pages that are read, against the same pages of the truth.
"""

import argparse
import datetime as dt
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean

from bench import arguments
from bench.facts import documents
from bench.result import Result, Row, machine
from bench.truths import Truth, requests, truths
from models.errors import ConfigurationError, PagemillError
from models.profiles import get
from models.recipe import Recipe
from tasks.work.engines.ppocr import FasterPaddle
from tasks.work.engines.reader import read_page
from tasks.work.media import sniff
from tasks.work.metrics import cer_in_any_order, normalise
from tasks.work.preprocess import preprocess_page
from tasks.work.store import Store

MOST = 4_000_000
"""Pixels of mode max: what vision-language models take at most, by and large."""
GRID_PX = 28


@dataclass(frozen=True, slots=True)
class Page:
    """One page in one mode."""

    name: str
    mode: str
    pixels: int
    seconds: float
    """CPU of preprocessing."""
    reading_s: float
    chars: int
    error: float
    """Characters wrong, as a share."""
    reason: str


def modes(x_heights: Sequence[float]) -> dict[str, Recipe]:
    """Recipes by what they are called."""
    plain = get("ppocr").recipe().model_copy(update={"text_layer": "ignore"})
    most = {"max_pixels": MOST, "grid_px": GRID_PX}
    found = {
        "max": plain.model_copy(update=most | {"resolution": "max"}),
        "fixed": plain,
    }
    for height in x_heights:
        changes = most | {"resolution": "legible", "x_height_px": height}
        found[f"legible, {height:g} px"] = plain.model_copy(update=changes)
    return found


def measure(truth: Truth, recipes: Mapping[str, Recipe], most: int, home: Path) -> list[Page]:
    """The first pages of a document in each mode."""
    found: list[Page] = []
    media_type = sniff(truth.path)
    for number, page in enumerate(requests(truth, get("ppocr"), most, home), 1):
        expected = truth.text_of(number)
        for mode, recipe in recipes.items():
            started = time.process_time()
            image = preprocess_page(truth.path, media_type, number, recipe, home, truth.passwords)
            prepared = time.process_time()
            where = Store(home).path(image.sha256, image.suffix)
            asked = replace(page, image=image, path=where, recipe=recipe)
            text = read_page(FasterPaddle, asked, get("ppocr").scripts).text
            found.append(
                Page(
                    name=f"{truth.path.name}:{number}",
                    mode=mode,
                    pixels=image.width_px * image.height_px,
                    seconds=prepared - started,
                    reading_s=time.process_time() - prepared,
                    chars=len(normalise(expected).replace(" ", "")),
                    error=cer_in_any_order(expected, text),
                    reason=image.reason,
                )
            )
    return found


def report(pages: Sequence[Page], command: str) -> str:
    """The figures by mode, and the pages that lost most, as Markdown."""
    found = list(dict.fromkeys(page.mode for page in pages))
    heads = [
        "mode",
        "pixels, mean",
        "against max",
        "preprocess",
        "reading",
        "characters wrong",
        "against max",
    ]
    lines = [
        "# Resolution by legibility",
        "",
        f"`{command}` on {dt.datetime.now(dt.UTC).date()}: {len(pages) // len(found)} pages that",
        f"`ppocr` reads; CPU milliseconds a page, one core. Mode max: {MOST // 1_000_000} million pixels.",
        "Characters wrong: in any order of passages, weighted by length; against max: in percentage points.",
        "",
        f"| {' | '.join(heads)} |",
        "| --- |" + " ---: |" * (len(heads) - 1),
        *map(_line, rows(pages)),
    ]
    return "\n".join(lines) + "\n"


def rows(pages: Sequence[Page]) -> list[Row]:
    """The figures by mode; points: percentage points of wrong characters."""
    return [_figures(mode, pages) for mode in dict.fromkeys(page.mode for page in pages)]


def _figures(mode: str, pages: Sequence[Page]) -> Row:
    these, full = _of(mode, pages), _of("max", pages)
    pixels = mean(page.pixels for page in these)
    return {
        "mode": mode,
        "pages": len(these),
        "megapixels": round(pixels / 1e6, 3),
        "fewer_pixels": round(mean(page.pixels for page in full) / pixels, 2),
        "preprocess_ms": round(1000 * mean(page.seconds for page in these), 1),
        "reading_ms": round(1000 * mean(page.reading_s for page in these), 1),
        "wrong_percent": round(100 * _wrong(these), 3),
        "points_against_max": round(100 * (_wrong(these) - _wrong(full)), 3),
    }


def _line(row: Row) -> str:
    cells = [
        row["mode"],
        f"{row['megapixels']:.2f} M",
        f"1/{row['fewer_pixels']:.1f}",
        f"{row['preprocess_ms']:.0f}",
        f"{row['reading_ms']:.0f}",
        f"{row['wrong_percent']:.2f} %",
        f"{row['points_against_max']:+.2f}",
    ]
    return f"| {' | '.join(map(str, cells))} |"


def _of(mode: str, pages: Sequence[Page]) -> list[Page]:
    return [page for page in pages if page.mode == mode]


def _wrong(pages: Sequence[Page]) -> float:
    return sum(page.error * page.chars for page in pages) / sum(page.chars for page in pages)


def is_read(pages: Sequence[Page]) -> bool:
    """Whether the engine can read this document at all: a third wrong in the best mode is another script."""
    return bool(pages) and min(_wrong(_of(mode, pages)) for mode in {page.mode for page in pages}) < 0.3


def main() -> int:
    """0 when the first x-height asked for is at most 0.2 points worse than the most pixels."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=Path("samples"))
    parser.add_argument("--pages", type=int, default=2, help="at most so many pages of a document")
    parser.add_argument("--x-heights", type=float, nargs="+", default=[10.0, 8.0, 12.0])
    parser.add_argument("--write", type=Path, help="also write the report to this file")
    parser.add_argument("--out", type=Path, default=Path("bench-results"))
    arguments = parser.parse_args()
    about, facts = "pixels and errors by mode", machine() | documents([arguments.folder])
    recipes, pages = modes(arguments.x_heights), list[Page]()
    with tempfile.TemporaryDirectory() as home:
        for truth in truths(arguments.folder):
            try:
                found = measure(truth, recipes, arguments.pages, Path(home))
            except PagemillError as error:
                print(f"{truth.path.name}: {error}", file=sys.stderr)
                continue
            pages += found if is_read(found) and not truth.is_partial else []
            for page in found:
                print(page, file=sys.stderr)
            so_far = Result("resolution", about, tuple(rows(pages)), facts | {"complete": False})
            so_far.save(arguments.out)
    if not pages:
        raise ConfigurationError(
            f"{arguments.folder} has no page with a truth (NAME.gt.txt) that can be read."
        )
    print(Result("resolution", about, tuple(rows(pages)), facts).save(arguments.out), file=sys.stderr)
    text = report(pages, f"python -m bench.resolution {arguments.folder.name} --pages {arguments.pages}")
    print(text)
    if arguments.write:
        arguments.write.write_text(text, encoding="utf-8")
    legible = _wrong(_of(next(mode for mode in recipes if mode.startswith("legible")), pages))
    return int(legible > _wrong(_of("max", pages)) + 0.002)


if __name__ == "__main__":
    arguments.run(main)
