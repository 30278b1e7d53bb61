"""How to store a page image: time and bytes by format, and what is saved on pages that are a stored JPEG.

    python -m bench.encodings [FILE_OR_FOLDER …] [--pages 4] [--write docs/encodings.md]

Every page is drawn as by the default recipe, then encoded in each format; the best of three counts, in CPU
time. For PDF pages of which one stored JPEG is all there is to see, MuPDF's drawing and encoding are set
against taking the stored bytes out and decoding them with Pillow, as is done.
"""

import argparse
import datetime as dt
import io
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import pymupdf
from PIL import Image

from bench import arguments
from bench.pages import Case, cases
from models.document import MediaType
from models.errors import PagemillError
from models.recipe import Recipe
from tasks.work import pdf
from tasks.work.preprocess import preprocess_page
from tasks.work.store import Store

Encode = Callable[[Image.Image], bytes]

# PyMuPDF ships no types for what is used here.
_mu: Any = pymupdf

RECIPE = Recipe()
_ROUNDS = 3


def _encoder(kind: str, **options: Any) -> Encode:
    def encode(picture: Image.Image) -> bytes:
        data = io.BytesIO()
        picture.save(data, kind, **options)
        return data.getvalue()

    return encode


FORMATS: Mapping[str, Encode] = {
    "JPEG, quality 90": _encoder("JPEG", quality=90),
    "JPEG, quality 80": _encoder("JPEG", quality=80),
    "PNG, level 1": _encoder("PNG", compress_level=1),
    "WebP, quality 90, fastest": _encoder("WEBP", quality=90, method=0),
    "WebP, lossless, fastest": _encoder("WEBP", lossless=True, quality=0, method=0),
}


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one page in one format."""

    kind: str
    name: str
    seconds: float
    size: int


@dataclass(frozen=True, slots=True)
class Passed:
    """A page of which one stored JPEG is all there is to see."""

    drawn_s: float
    """Drawing and encoding it."""
    taken_s: float
    """Taking the stored bytes out and decoding them."""
    drawn_bytes: int
    taken_bytes: int
    taken_pixels: int


def costs(case: Case, store: Path) -> Iterator[Cost]:
    """What each format takes for a page."""
    made = preprocess_page(case.path, case.media_type, case.page_no, RECIPE, store)
    with Image.open(Store(store).path(made.sha256, made.suffix)) as stored:
        stored.load()
    for name, encode in FORMATS.items():
        seconds, data = _best(lambda encode=encode: encode(stored))  # type: ignore[misc]
        yield Cost(case.kind, name, seconds, len(data))


def passed(case: Case) -> Passed | None:
    """Both ways for a page of which one stored JPEG is all there is to see; None for other pages."""
    if case.media_type is not MediaType.PDF:
        return None
    data = pdf.whole_jpeg(case.path, case.page_no, ())
    if data is None:
        return None
    width, height = pdf.page_size(case.path, case.page_no, ())
    scale = RECIPE.long_edge_px / max(width, height)

    def draw() -> bytes:
        _mu.TOOLS.store_shrink(100)
        return FORMATS["JPEG, quality 90"](
            pdf.render(case.path, case.page_no, (scale, scale), (), annotations=True)
        )

    drawn_s, drawn = _best(draw)
    with Image.open(io.BytesIO(data)) as picture:
        pixels = picture.width * picture.height
    taken_s, _ = _best(lambda: Image.open(io.BytesIO(data)).convert("L").tobytes())
    return Passed(drawn_s, taken_s, len(drawn), len(data), pixels)


def _best(work: Callable[[], bytes]) -> tuple[float, bytes]:
    spent = []
    for _ in range(_ROUNDS):
        started = time.process_time()
        data = work()
        spent.append(time.process_time() - started)
    return min(spent), data


def report(found: Sequence[Cost], through: Sequence[Passed], scans: int, command: str) -> str:
    """The figures as Markdown."""
    kinds = list(dict.fromkeys(cost.kind for cost in found))
    heads = ["format", *(f"{kind}: ms" for kind in kinds), *(f"{kind}: KB" for kind in kinds)]
    lines = [
        "# Formats of page images",
        "",
        f"`{command}` on {dt.datetime.now(dt.UTC).date()}; long edge {RECIPE.long_edge_px} px;",
        "CPU on one core.",
        "",
        f"| {' | '.join(heads)} |",
        "| --- |" + " ---: |" * (len(heads) - 1),
        *(_row(name, kinds, found) for name in FORMATS),
        "",
        "JPEG of quality 90 is what recipes store: the fastest by far, and the smallest but for WebP.",
        "",
        "## Pages that are a stored JPEG",
        "",
        f"One stored JPEG is all there is to see of {len(through)} of {scans} scanned pages. Pillow decodes",
        "such a page once. It is passed on as it came where it costs no more tokens than the page image that",
        "was to be made, and is hardly smaller; else it is scaled.",
    ]
    return "\n".join([*lines, *_through(through)]) + "\n"


def _row(name: str, kinds: Sequence[str], found: Sequence[Cost]) -> str:
    def of(kind: str) -> list[Cost]:
        return [cost for cost in found if cost.name == name and cost.kind == kind]

    spent = [f"{1000 * mean(cost.seconds for cost in of(kind)):.0f}" for kind in kinds]
    sizes = [f"{mean(cost.size for cost in of(kind)) / 1000:.0f}" for kind in kinds]
    return f"| {' | '.join([name, *spent, *sizes])} |"


def _through(through: Sequence[Passed]) -> list[str]:
    if not through:
        return []
    drawn, taken = (1000 * mean(way) for way in zip(*((p.drawn_s, p.taken_s) for p in through), strict=True))
    sizes = [mean(p.drawn_bytes for p in through) / 1000, mean(p.taken_bytes for p in through) / 1000]
    megapixels = mean(p.taken_pixels for p in through) / 1e6
    return [
        "",
        "| way | ms | KB | pixels |",
        "| --- | ---: | ---: | ---: |",
        f"| drawn and encoded | {drawn:.0f} | {sizes[0]:.0f} | 1,540 px long |",
        f"| taken out and decoded | {taken:.0f} | {sizes[1]:.0f} | {megapixels:.1f} M |",
    ]


def main() -> int:
    """0 when every page could be encoded."""
    parser = argparse.ArgumentParser(prog="python -m bench.encodings", description=__doc__.split("\n")[0])
    parser.add_argument("paths", type=Path, nargs="*", default=[Path("samples/documents")])
    parser.add_argument("--pages", type=int, default=4, help="at most so many pages of a document")
    parser.add_argument("--write", type=Path, help="also write the report to this file")
    arguments = parser.parse_args()
    found: list[Cost] = []
    through: list[Passed] = []
    chosen = list(cases(arguments.paths, arguments.pages))
    with tempfile.TemporaryDirectory() as store:
        for case in chosen:
            try:
                found += costs(case, Path(store))
                through += [one] if (one := passed(case)) else []
            except PagemillError as error:
                print(f"{case.path.name}: {error}", file=sys.stderr)
    scans = sum(case.kind == "scan" for case in chosen)
    shown = " ".join(path.name for path in arguments.paths)
    text = report(found, through, scans, f"python -m bench.encodings {shown} --pages {arguments.pages}")
    print(text)
    if arguments.write:
        arguments.write.write_text(text, encoding="utf-8")
    return int(not found)


if __name__ == "__main__":
    arguments.run(main)
