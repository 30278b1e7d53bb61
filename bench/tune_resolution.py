"""Error rate of a served model by resolution mode: is a picture just legible read as well as the largest?

    pagemill serve PROFILE
    python -m bench.tune_resolution PROFILE --url http://127.0.0.1:8000 [FOLDER] [--pages 30] [--scans]
        [--x-heights 10 12 14] [--out FOLDER]

PROFILE is a profile's name or its file. FOLDER holds documents with what is printed on them (NAME.gt.txt);
without one, pages of clean print are made: three fonts, 9 to 14 points, a few lines each of words, amounts,
dates and codes, which no model can guess. A PDF tells the size of its type; --scans makes pictures, of 150
dpi, on which it is measured. Every page is prepared at the profile's most pixels (max), its fixed size, and
so that small letters are so many pixels high (legible). Pages with a third or more wrong in every mode cannot
be read by the model and are left out.
"""

import argparse
import random
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean

import pymupdf

from bench import arguments
from bench.result import Result, Row, machine
from bench.truths import Truth, requests, truths
from models import profiles
from models.engine import OcrEngine, OcrRequest
from models.errors import PagemillError
from models.profile import Profile
from models.recipe import Recipe
from models.servers import OcrServers
from tasks.work import custom
from tasks.work.engines import open_engine
from tasks.work.media import sniff
from tasks.work.metrics import cer_in_any_order, normalise
from tasks.work.preprocess import preprocess_page
from tasks.work.store import Store

_FONTS = ("helv", "tiro", "cour")
_SIZES_PT = (9, 10, 11, 12, 14)
_PAGE_PT = (300.0, 220.0)
_SCAN_DPI = 150
_WORDS = (
    *("the", "main", "pump", "is", "behind", "a", "boiler", "in", "room", "seven", "call", "before", "noon"),
    *(
        "open",
        "valve",
        "slowly",
        "then",
        "wait",
        "until",
        "water",
        "runs",
        "clear",
        "note",
        "each",
        "reading",
    ),
    *("north", "garden", "window", "letter", "market", "silver", "bridge", "autumn", "paper", "number"),
)
_READABLE = 1 / 3


@dataclass(frozen=True, slots=True)
class Page:
    """One page in one mode."""

    name: str
    mode: str
    pixels: int
    tokens: int
    chars: int
    error: float
    """Characters wrong, as a share; 1 where the model gave nothing."""


def print_pages(count: int, folder: Path, *, are_scans: bool = False, seed: int = 2026) -> None:
    """Documents of one page of clean print each, PDFs or pictures, with their ground truth."""
    chance = random.Random(seed)
    for number in range(count):
        size = _SIZES_PT[number % len(_SIZES_PT)]
        lines = [" ".join(_word(chance) for _ in range(3)) for _ in range(chance.randint(3, 8))]
        with pymupdf.open() as document:
            page = document.new_page(width=_PAGE_PT[0], height=_PAGE_PT[1])
            page.insert_text((24, 36), lines, fontname=_FONTS[number % len(_FONTS)], fontsize=size)
            name = f"print-{number:03}{'.png' if are_scans else '.pdf'}"
            (folder / name).write_bytes(
                page.get_pixmap(dpi=_SCAN_DPI).tobytes("png") if are_scans else document.tobytes()
            )
        (folder / f"{name}.gt.txt").write_text("\n".join(lines), encoding="utf-8")


def _word(chance: random.Random) -> str:
    """A word, or in one case of three something that must be read sign by sign."""
    number = chance.randrange(100, 100_000)
    others = (
        f"{number / 100:,.2f}",
        f"{chance.randint(1, 28):02}/{chance.randint(1, 12):02}/{chance.randint(1980, 2030)}",
        f"{chance.choice('ABCDEFGHKLMNPQRSTUVWXYZ')}{number}",
    )
    return chance.choice(others) if chance.random() < 1 / 3 else chance.choice(_WORDS)


def modes(profile: Profile, x_heights: Iterable[float]) -> dict[str, Recipe]:
    """Recipes by what they are called; max first."""
    plain = profile.recipe().with_options(["text_layer=ignore"])
    found = {mode: plain.with_options([f"resolution={mode}"]) for mode in ("max", "fixed")}
    for height in x_heights:
        options = ["resolution=legible", f"x_height_px={height}"]
        found[f"legible, {height:g} px"] = plain.with_options(options)
    return found


def measure(
    profile: Profile, engine: OcrEngine, known: Iterable[Truth], recipes: Mapping[str, Recipe], home: Path
) -> Iterator[Page]:
    """The first page of each document in each mode."""
    for truth in known:
        (page, *_) = requests(truth, profile, 1, home)
        expected = truth.text_of(1)
        asked = {mode: _sized(page, truth.path, recipe, home) for mode, recipe in recipes.items()}
        futures = {mode: engine.submit(request) for mode, request in asked.items()}
        for mode, future in futures.items():
            try:
                reading = future.result()
            except PagemillError as error:
                print(f"{truth.path.name}, {mode}: {error}", flush=True)
                reading = None
            image = asked[mode].image
            yield Page(
                name=truth.path.name,
                mode=mode,
                pixels=image.width_px * image.height_px,
                tokens=(reading.tokens_in or 0) if reading else 0,
                chars=len(normalise(expected).replace(" ", "")),
                error=min(1.0, cer_in_any_order(expected, reading.text)) if reading else 1.0,
            )


def _sized(page: OcrRequest, path: Path, recipe: Recipe, home: Path) -> OcrRequest:
    image = preprocess_page(path, sniff(path), 1, recipe, home)
    return replace(page, image=image, path=Store(home).path(image.sha256, image.suffix), recipe=recipe)


def rows(pages: Sequence[Page]) -> list[Row]:
    """By mode, over the pages that the model can read in one mode at least; errors weighted by length."""
    best: dict[str, float] = {}
    for page in pages:
        best[page.name] = min(page.error, best.get(page.name, 1.0))
    kept = [page for page in pages if best[page.name] < _READABLE]
    found = {
        mode: [page for page in kept if page.mode == mode] for mode in dict.fromkeys(p.mode for p in kept)
    }
    return [_row(mode, these, found["max"]) for mode, these in found.items()]


def _row(mode: str, these: Sequence[Page], full: Sequence[Page]) -> Row:
    pixels, most = (mean(page.pixels for page in pages) for pages in (these, full))
    return {
        "mode": mode,
        "pages": len(these),
        "megapixels": round(pixels / 1e6, 3),
        "tokens_in": round(mean(page.tokens for page in these), 1),
        "times_fewer_pixels": round(most / pixels, 2),
        "wrong_percent": round(100 * _wrong(these), 3),
        "points_worse": round(100 * (_wrong(these) - _wrong(full)), 3),
        "pages_with_errors": sum(page.error > 0 for page in these),
    }


def _wrong(pages: Sequence[Page]) -> float:
    return sum(page.error * page.chars for page in pages) / sum(page.chars for page in pages)


def main() -> None:
    """Measure, print, save."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("profile")
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--url", required=True)
    parser.add_argument("--api-key", default="")
    parser.add_argument("--pages", type=int, default=30)
    parser.add_argument("--scans", action="store_true", help="print pages as pictures")
    parser.add_argument("--x-heights", type=float, nargs="+", default=[10.0, 12.0, 14.0])
    parser.add_argument("--out", type=Path, default=Path("bench-results"))
    wish = parser.parse_args()
    is_file = wish.profile.endswith(custom.SUFFIX)
    profile = custom.load_profile(Path(wish.profile)) if is_file else profiles.get(wish.profile)
    servers = OcrServers((wish.url,), wish.api_key)
    with tempfile.TemporaryDirectory() as name, closing(open_engine(profile, 1, servers)) as engine:
        home = Path(name)
        folder = wish.folder or home / "print"
        if wish.folder is None:
            folder.mkdir()
            print_pages(wish.pages, folder, are_scans=wish.scans)
        recipes = modes(profile, wish.x_heights)
        known = list(truths(folder))[: wish.pages]
        pages = list(measure(profile, engine, known, recipes, home))
        facts = machine() | {"profile": profile.name, **engine.facts()}
    result = Result("tune-resolution", "error rate by resolution mode", tuple(rows(pages)), facts)
    print(result.table())
    print(result.save(wish.out))


if __name__ == "__main__":
    arguments.run(main)
