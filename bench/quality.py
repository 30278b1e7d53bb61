"""How well an OCR profile reads: character error rates over files whose text is known.

    python -m bench.quality [FOLDER] [--profile ppocr] [--pages 3] [--jobs 2] [--write docs/quality.md]

FOLDER (default: samples) holds documents, here or in `documents/`, and what is printed on them as
NAME.gt.txt, here or in `truth/`, pages split by form feeds. A `manifest.csv` with the columns file, kind,
language, password and ground_truth groups the figures; a ground_truth that says `partial:` is measured by the
words found. Pages are prepared and read as in a run with `text_layer=ignore`: no text layer helps.
"""

import argparse
import csv
import datetime as dt
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from models.engine import OcrEngine, OcrRequest
from models.errors import PagemillError
from models.profile import Profile
from models.profiles import get
from models.reading import Reading
from models.settings import get_settings
from tasks.work.engines import open_engine, servers_for
from tasks.work.layertext import foreign_share
from tasks.work.media import sniff
from tasks.work.metrics import agreement, cer, cer_in_any_order, normalise, word_recall
from tasks.work.preprocess import preprocess_page
from tasks.work.split import open_document, split_pages
from tasks.work.store import Store

# Read against the files themselves: ground truths that are wrong. Their files are left out of the means.
ERRATA: Mapping[str, str] = {
    "digital-en-redpaper.pdf": "the ground truth is the text layer, and that has shifted letters in places",
}

# A text with more foreign letters than this is one that the profile cannot read.
_FOREIGN = 0.2


@dataclass(frozen=True, slots=True)
class Truth:
    """A document and what is printed on its pages."""

    path: Path
    pages: tuple[str, ...]
    kind: str
    language: str
    password: str
    is_partial: bool
    is_repeated: bool
    """The one page of text holds for every page of the document."""


@dataclass(frozen=True, slots=True)
class Score:
    """The measures of one document."""

    truth: Truth
    pages: int
    chars: int
    """Of the ground truth, white left out."""
    cer: float
    any_order: float
    agreement: float
    recall: float
    seconds: float
    """Of the engine, per page, the median."""
    is_foreign: bool
    failures: tuple[str, ...] = ()


def truths(folder: Path) -> Iterator[Truth]:
    """Every document of `folder` with a ground truth, by name."""
    manifest = folder / "manifest.csv"
    lines = manifest.read_text(encoding="utf-8").splitlines() if manifest.exists() else []
    rows = {row["file"]: row for row in csv.DictReader(lines)}
    for place in (folder, folder / "documents"):
        for path in sorted(place.glob("*")):
            texts = [where / f"{path.name}.gt.txt" for where in (place, folder / "truth")]
            text = next((each for each in texts if each.exists()), None)
            if text:
                row = rows.get(path.name, {})
                about = row.get("ground_truth", "")
                yield Truth(
                    path,
                    tuple(text.read_text(encoding="utf-8").rstrip("\f").split("\f")),
                    row.get("kind", "sample"),
                    row.get("language", "-"),
                    row.get("password", ""),
                    is_partial="partial:" in about,
                    is_repeated="holds for each" in about,
                )


def requests(truth: Truth, profile: Profile, most: int, home: Path) -> list[OcrRequest]:
    """The first pages of a document, prepared for the engine."""
    passwords = (truth.password,) if truth.password else ()
    media_type = sniff(truth.path)
    count = open_document(truth.path, media_type, passwords).page_count
    last = count if truth.is_repeated else min(count, most, len(truth.pages))
    recipe = profile.recipe().model_copy(update={"text_layer": "ignore"})
    found = []
    for facts in split_pages(truth.path, media_type, 1, last, passwords):
        image = preprocess_page(truth.path, media_type, facts, recipe, home, passwords)
        where = Store(home).path(image.sha256, image.suffix)
        found.append(OcrRequest(image, where, facts.width_pt, facts.height_pt, recipe))
    return found


def score(truth: Truth, engine: OcrEngine, profile: Profile, most: int, home: Path) -> Score:
    """Read a document and compare."""
    futures = [engine.submit(request) for request in requests(truth, profile, most, home)]
    readings: list[Reading | None] = []
    failures: list[str] = []
    for future in futures:
        try:
            readings.append(future.result())
        except PagemillError as error:
            readings.append(None)
            failures.append(error.code)
    expected = truth.pages * len(readings) if truth.is_repeated else truth.pages[: len(readings)]
    found = [reading.text if reading else "" for reading in readings]
    pairs = list(zip(expected, found, strict=True))
    weights = [len(normalise(text).replace(" ", "")) for text in expected]
    return Score(
        truth,
        len(readings),
        sum(weights),
        _mean(pairs, weights, cer),
        _mean(pairs, weights, cer_in_any_order),
        _mean(pairs, weights, agreement),
        _mean(pairs, weights, word_recall),
        median(reading.seconds for reading in readings if reading) if any(readings) else 0.0,
        is_foreign=foreign_share("\n".join(expected), profile.scripts) > _FOREIGN,
        failures=tuple(failures),
    )


def _mean(
    pairs: Sequence[tuple[str, str]], weights: Sequence[int], measure: Callable[[str, str], float]
) -> float:
    total = sum(weights)
    values = [
        measure(expected, found) * weight for (expected, found), weight in zip(pairs, weights, strict=True)
    ]
    return sum(values) / total if total else 0.0


def report(scores: Sequence[Score], profile: Profile, facts: str, command: str) -> str:
    """The page for docs/."""
    known = [each for each in scores if not each.truth.is_partial]
    wrong = [each for each in known if each.truth.path.name in ERRATA]
    read = [each for each in known if not each.is_foreign and each not in wrong]
    files, pages = len(scores), sum(each.pages for each in scores)
    about = (
        f"{files} files, {pages} pages; {profile.title}; {facts}; reads {', '.join(sorted(profile.scripts))}"
    )
    parts = [
        _HEAD.format(date=dt.datetime.now(dt.UTC).date(), about=about, command=command),
        "## By kind\n",
        _groups(read, "kind", lambda each: each.truth.kind),
        "## By language\n",
        _groups(read, "language", lambda each: each.truth.language),
        "## File by file\n",
        _files(read),
        _PARTIAL,
        _table(["file", "words found"], [(_name(each), f"{each.recall:.0%}") for each in _partial(scores)]),
        _UNREADABLE,
        _files([each for each in known if each.is_foreign]),
        _WRONG,
        "".join(f"- {each.truth.path.name}: {ERRATA[each.truth.path.name]}\n" for each in wrong),
        _files(wrong),
    ]
    return "\n".join(parts)


def _partial(scores: Iterable[Score]) -> list[Score]:
    return [each for each in scores if each.truth.is_partial]


def _groups(scores: Sequence[Score], title: str, key: Callable[[Score], str]) -> str:
    groups: dict[str, list[Score]] = {}
    for each in scores:
        groups.setdefault(key(each), []).append(each)
    rows = [_group_row(name, groups[name]) for name in sorted(groups)]
    header = [title, "files", "pages", "characters", "CER", "CER in any order", "median file in any order"]
    return _table(header, [*rows, _group_row("**all**", scores)] if scores else [])


def _group_row(name: str, scores: Sequence[Score]) -> tuple[str, ...]:
    chars = sum(each.chars for each in scores) or 1
    return (
        name,
        str(len(scores)),
        str(sum(each.pages for each in scores)),
        f"{chars:,}",
        f"{sum(each.cer * each.chars for each in scores) / chars:.2%}",
        f"{sum(each.any_order * each.chars for each in scores) / chars:.2%}",
        f"{median(each.any_order for each in scores):.2%}",
    )


def _files(scores: Sequence[Score]) -> str:
    rows = [
        (_name(each), each.truth.language, str(each.pages), f"{each.chars:,}", f"{each.cer:.2%}",
         f"{each.any_order:.2%}", f"{each.agreement:.3f}", f"{each.seconds:.2f}")
        for each in scores
    ]  # fmt: skip
    header = ["file", "language", "pages", "characters", "CER", "CER in any order", "agreement", "s a page"]
    return _table(header, rows)


def _name(each: Score) -> str:
    return each.truth.path.name + (f" (failed: {', '.join(each.failures)})" if each.failures else "")


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) if rows else "None.\n"


_HEAD = """# How well the default engine reads

Measured {date} ({about}) with

    {command}

Pages are prepared as in a run and read with `text_layer=ignore`; long documents are cut after a few pages.

- **CER**: edits per character of the ground truth; white left out, NFKC, words parted at line ends joined.
- **CER in any order** compares each line of the ground truth where it fits best, short lines (cells of
  tables) as words. Ground truths taken from text layers have columns and tables in the file's order and
  not in the reader's: this is the fair figure there. It does not see invented text.
- **agreement** does: F1 over letter triples and pairs of Chinese characters, whatever their order; 1 is best.
- Means are weighted by characters. *s a page*: the engine's time, one core of the machine that measured.
"""

_PARTIAL = """## Partly known texts

Only some of what is printed is known: the share of those words that was found.
"""

_UNREADABLE = """## Scripts that the model cannot read

Its answer is worthless there. In a run such pages are marked `script-unsupported` where a sane text layer
tells; elsewhere low confidence gives them away. With `text_layer=prefer` a sane layer is taken instead.
"""


_WRONG = """## Ground truths that are wrong

Left out of all means.
"""


def main() -> None:
    """Measure and print, or write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=Path("samples"))
    parser.add_argument("--profile", default="ppocr")
    parser.add_argument("--pages", type=int, default=3, help="most pages of a document")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", type=Path, help="file for the report; printed otherwise")
    options = parser.parse_args()
    profile = get(options.profile)
    scores = []
    servers = servers_for(profile, get_settings())
    with (
        tempfile.TemporaryDirectory() as home,
        closing(open_engine(profile, options.jobs, servers)) as engine,
    ):
        facts = ", ".join(f"{name} {value}" for name, value in engine.facts().items())
        for truth in truths(options.folder):
            scores.append(score(truth, engine, profile, options.pages, Path(home)))
            print(f"{truth.path.name}: CER {scores[-1].cer:.2%}", file=sys.stderr)
    text = report(
        scores,
        profile,
        facts,
        f"python -m bench.quality {' '.join(Path(word).name for word in sys.argv[1:])}".strip(),
    )
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
