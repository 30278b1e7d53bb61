"""CPU seconds a page of split + preprocess, beside pypdfium2 and pdftoppm doing the same in the same run.

    python -m bench.pages [FILE_OR_FOLDER …] [--pages 4] [--rounds 3] [--recipe KEY=VALUE …]
        [--write FILE] [--out FOLDER]

Default: samples/documents, and the default recipe. Ours takes the words with their boxes, renders (or
decodes), decides blank or not, encodes and stores; its document stays open from page to page as in a run, but
what MuPDF remembers of fonts and pictures is dropped before each round. pypdfium2 takes the text, renders and
encodes (Pillow, same quality); pdftoppm, one process a page, renders and encodes. They aim at the recipe's
long edge. Of each page the best of the rounds counts, on one core. Exit code 1 when a mean misses its target.
"""

import argparse
import datetime as dt
import io
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import mean, quantiles

import pymupdf

from bench import arguments
from bench.facts import documents
from bench.result import Result, Row, machine
from models.document import MediaType, SourceFile
from models.errors import ConfigurationError, PagemillError
from models.recipe import Recipe
from tasks.work.media import sniff
from tasks.work.preprocess import preprocess_page
from tasks.work.sources import find
from tasks.work.split import open_document, split_pages

RECIPE = Recipe()
_OTHERS = ("pypdfium2", "pdftoppm")
TARGETS_S = {"text": 0.10, "scan": 0.30}
_COVERED = 0.8
_GIANT_PX = 40_000_000
KINDS = ("text", "scan", "giant", "picture")
"""giant: a scan of more than 40 megapixels (A4 at 600 dpi has 35)."""


@dataclass(frozen=True, slots=True)
class Case:
    """One page to measure."""

    path: Path
    media_type: MediaType
    page_no: int
    kind: str
    """Of KINDS: text, scan (a picture covers the page), giant, or picture (a picture file)."""


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds of one page by whose hand; None where it cannot be had."""

    kind: str
    split: float
    preprocess: float
    pypdfium2: float | None
    pdftoppm: float | None

    @property
    def ours(self) -> float:
        """Split and preprocess together."""
        return self.split + self.preprocess


def cases(paths: Sequence[Path], pages: int) -> Iterator[Case]:
    """The first `pages` pages of every readable document at or below `paths`."""
    for source in find(paths):
        if isinstance(source, SourceFile):
            yield from islice(_cases_of(Path(source.uri)), pages)


def _cases_of(path: Path) -> Iterator[Case]:
    try:
        media_type = sniff(path)
        count = open_document(path, media_type).page_count
    except PagemillError:
        return
    for page_no in range(1, count + 1):
        kind = kind_of(path, page_no) if media_type is MediaType.PDF else "picture"
        yield Case(path, media_type, page_no, kind)


def kind_of(path: Path, page_no: int) -> str:
    """Of a page of a PDF: scan or giant where pictures cover it, else text."""
    with pymupdf.open(path, filetype="pdf") as document:
        page = document[page_no - 1]
        pictures = page.get_image_info()
        if sum(abs(pymupdf.Rect(picture["bbox"])) for picture in pictures) <= _COVERED * abs(page.rect):
            return "text"
        largest = max(picture["width"] * picture["height"] for picture in pictures)
        return "giant" if largest > _GIANT_PX else "scan"


def measure(case: Case, rounds: int, store: Path, recipe: Recipe = RECIPE) -> Cost:
    """The best of `rounds` for each tool; `recipe` is ours."""

    def times(work: Callable[[Case, Path], float]) -> list[float]:
        return [work(case, store / str(number)) for number in range(rounds)]

    is_pdf = case.media_type is MediaType.PDF
    return Cost(
        kind=case.kind,
        split=min(times(_split)),
        preprocess=min(times(partial(_preprocess, recipe=recipe))),
        pypdfium2=_if_readable(lambda: min(times(_pypdfium2))) if is_pdf else None,
        pdftoppm=min(times(_pdftoppm)) if is_pdf and shutil.which("pdftoppm") else None,
    )


def _if_readable(measured: Callable[[], float]) -> float | None:
    """Nothing where pypdfium2 is not installed (extra `bench`), or refuses a damaged document."""
    try:
        return measured()
    except ImportError:
        return None
    except RuntimeError as error:
        if type(error).__name__ != "PdfiumError":
            raise
        return None


def _split(case: Case, _: Path) -> float:
    pymupdf.TOOLS.store_shrink(100)
    started = time.process_time()
    split_pages(case.path, case.media_type, case.page_no, case.page_no)
    return time.process_time() - started


def _preprocess(case: Case, store: Path, recipe: Recipe) -> float:
    pymupdf.TOOLS.store_shrink(100)
    started = time.process_time()
    preprocess_page(case.path, case.media_type, case.page_no, recipe, store)
    return time.process_time() - started


def _pypdfium2(case: Case, _: Path) -> float:
    import pypdfium2  # noqa: PLC0415 (an extra)

    started = time.process_time()
    with pypdfium2.PdfDocument(case.path) as document:
        page = document[case.page_no - 1]
        page.get_textpage().get_text_range()
        image = page.render(scale=RECIPE.long_edge_px / max(page.get_size())).to_pil()
        image.convert("RGB").save(io.BytesIO(), "JPEG", quality=RECIPE.jpeg_quality)
    return time.process_time() - started


def _pdftoppm(case: Case, _: Path) -> float:
    number, edge = str(case.page_no), str(RECIPE.long_edge_px)
    quality = f"quality={RECIPE.jpeg_quality}"
    command = ["pdftoppm", "-f", number, "-l", number, "-scale-to", edge, "-jpeg", "-jpegopt", quality]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [*command, str(case.path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def calibration_ms() -> float:
    """CPU milliseconds of a fixed loop: how fast, or how crowded, this core is."""
    started = time.process_time()
    for _ in range(1_000_000):
        pass
    return 1000 * (time.process_time() - started)


def report(costs: Sequence[Cost], command: str, calibration: float) -> str:
    """The figures by kind of page, as Markdown."""
    heads = [
        "page",
        "pages",
        "split",
        "preprocess",
        "ours: mean",
        "p95",
        "target",
        "pypdfium2",
        "pdftoppm",
    ]
    lines = [
        "# CPU of split + preprocess",
        "",
        f"`{command}` on {dt.datetime.now(dt.UTC).date()}; CPU milliseconds a page on one",
        f"core at a long edge of {RECIPE.long_edge_px} px, the best of several rounds; a loop of a million",
        f"steps took {calibration:.0f} ms. In brackets: times ours, on the pages that the other can read.",
        "",
        f"| {' | '.join(heads)} |",
        "| --- |" + " ---: |" * (len(heads) - 1),
    ]
    kinds = [kind for kind in KINDS if any(cost.kind == kind for cost in costs)]
    rows = [_row(kind, [cost for cost in costs if cost.kind == kind]) for kind in kinds]
    return "\n".join([*lines, *rows]) + "\n"


def _row(kind: str, costs: Sequence[Cost]) -> str:
    ours = [cost.ours for cost in costs]
    p95 = quantiles(ours, n=20, method="inclusive")[-1] if len(ours) > 1 else ours[0]
    target = f"{1000 * TARGETS_S[kind]:.0f}" if kind in TARGETS_S else ""
    cells = [kind, str(len(costs)), _ms(cost.split for cost in costs), _ms(cost.preprocess for cost in costs)]
    cells += [_ms(ours), f"{1000 * p95:.0f}", target]
    cells += [_beside(costs, lambda cost: cost.pypdfium2), _beside(costs, lambda cost: cost.pdftoppm)]
    return f"| {' | '.join(cells)} |"


def rows(costs: Sequence[Cost]) -> list[Row]:
    """Milliseconds a page by kind; other tools on the pages that they can read."""
    found: list[Row] = []
    for kind in dict.fromkeys(cost.kind for cost in costs):
        these = [cost for cost in costs if cost.kind == kind]
        others = {
            name: [theirs for cost in these if (theirs := getattr(cost, name)) is not None]
            for name in _OTHERS
        }
        row: Row = {
            "page": kind,
            "pages": len(these),
            "split_ms": _mean_ms([cost.split for cost in these]),
            "preprocess_ms": _mean_ms([cost.preprocess for cost in these]),
            "ours_ms": _mean_ms([cost.ours for cost in these]),
        }
        found.append({**row, **{f"{name}_ms": _mean_ms(seconds) for name, seconds in others.items()}})
    return found


def _mean_ms(seconds: Sequence[float]) -> float | None:
    return round(1000 * mean(seconds), 1) if seconds else None


def _beside(costs: Sequence[Cost], other: Callable[[Cost], float | None]) -> str:
    pairs = [(told, cost.ours) for cost in costs if (told := other(cost)) is not None]
    if not pairs:
        return ""
    theirs, ours = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return f"{_ms(theirs)} ({mean(theirs) / mean(ours):.1f})"


def _ms(seconds: Iterator[float] | Sequence[float]) -> str:
    return f"{1000 * mean(seconds):.0f}"


def _arguments() -> argparse.Namespace:
    parser = arguments.parser(__doc__)
    parser.add_argument("paths", type=Path, nargs="*", default=[Path("samples/documents")])
    parser.add_argument("--pages", type=arguments.count, default=4, help="at most so many of a document")
    parser.add_argument("--rounds", type=arguments.count, default=3, help="the best of so many counts")
    parser.add_argument("--recipe", nargs="*", default=[], help="options of the recipe, KEY=VALUE")
    parser.add_argument("--write", type=Path, help="also write the table to this file")
    arguments.add_out(parser)
    return parser.parse_args()


def main() -> int:
    """0 when the means keep within their targets."""
    wish = _arguments()
    facts = machine() | documents(wish.paths) | {"recipe": " ".join(wish.recipe)}
    about = "CPU of split and preprocess, beside other tools"
    costs: list[Cost] = []
    with tempfile.TemporaryDirectory() as store:
        recipe = RECIPE.with_options(wish.recipe)
        for case in cases(wish.paths, wish.pages):
            costs.append(measure(case, wish.rounds, Path(store), recipe))
            Result("pages", about, tuple(rows(costs)), facts | {"complete": False}).save(wish.out)
    if not costs:
        raise ConfigurationError("No page to measure: none of these can be read as a document.")
    print(Result("pages", about, tuple(rows(costs)), facts).save(wish.out), file=sys.stderr)
    shown = " ".join([*(path.name for path in wish.paths), "--pages", str(wish.pages)])
    asked = " ".join(["", "--recipe", *wish.recipe]) if wish.recipe else ""
    text = report(costs, f"python -m bench.pages {shown}{asked}", calibration_ms())
    print(text)
    if wish.write:
        wish.write.write_text(text, encoding="utf-8")
    by_kind = {kind: [cost.ours for cost in costs if cost.kind == kind] for kind in TARGETS_S}
    return int(any(ours and mean(ours) > TARGETS_S[kind] for kind, ours in by_kind.items()))


if __name__ == "__main__":
    arguments.run(main)
