"""Documents whose print is known: their text, and where there is one the structure of tables and formulas."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.structure import NO_STRUCTURE, Structure, structures_of
from models.engine import OcrRequest
from models.profile import Profile
from models.vlm import Parser
from tasks.work.media import sniff
from tasks.work.preprocess import preprocess_page
from tasks.work.split import open_document, split_pages
from tasks.work.store import Store

# Read against the files themselves: ground truths that are wrong. Their files are left out of the means.
ERRATA: Mapping[str, str] = {
    "digital-en-redpaper.pdf": "the ground truth is the text layer, and that has shifted letters in places",
    "digital-en-latex-two-column.pdf": "the ground truth has the columns in the wrong order",
}
"""Of the second, letters are right and the order is not: its CER says nothing, its CER in any order does."""

STRUCTURES = Path(__file__).parent / "truth"
"""Tables and formulas of some files of the corpus, written by hand: NAME.gt.html and NAME.gt.md."""

_PARSERS: Mapping[str, Parser] = {".html": "chandra", ".md": "markdown"}


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
    structures: tuple[Structure, ...] = ()
    """Tables and formulas page by page; empty where nobody wrote them down."""

    @property
    def passwords(self) -> tuple[str, ...]:
        """What opens it, if it needs something."""
        return (self.password,) if self.password else ()

    def text_of(self, page_no: int) -> str:
        """What is printed on a page, from 1."""
        return self.pages[0] if self.is_repeated else self.pages[page_no - 1]

    def structure_of(self, page_no: int) -> Structure:
        """Tables and formulas of a page, from 1."""
        return self.structures[page_no - 1] if page_no <= len(self.structures) else NO_STRUCTURE


def truths(folder: Path) -> Iterator[Truth]:
    """Every document of `folder` with a ground truth, by name."""
    manifest = folder / "manifest.csv"
    lines = manifest.read_text(encoding="utf-8").splitlines() if manifest.exists() else []
    rows = {row["file"]: row for row in csv.DictReader(lines)}
    for place in (folder, folder / "documents"):
        for path in sorted(place.glob("*")):
            beside = (place, folder / "truth")
            text = next((each for where in beside if (each := where / f"{path.name}.gt.txt").exists()), None)
            if text:
                yield _truth(path, text, rows.get(path.name, {}), (*beside, STRUCTURES))


def _truth(path: Path, text: Path, row: Mapping[str, str], places: tuple[Path, ...]) -> Truth:
    about = row.get("ground_truth", "")
    return Truth(
        path,
        tuple(_pages(text)),
        row.get("kind", "sample"),
        row.get("language", "-"),
        row.get("password", ""),
        is_partial="partial:" in about,
        is_repeated="holds for each" in about,
        structures=_structures(path.name, places),
    )


def _structures(name: str, places: tuple[Path, ...]) -> tuple[Structure, ...]:
    for place in places:
        for suffix, parser in _PARSERS.items():
            written = place / f"{name}.gt{suffix}"
            if written.exists():
                return structures_of(_pages(written), parser)
    return ()


def _pages(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").rstrip("\f").split("\f")


def requests(
    truth: Truth, profile: Profile, most: int, home: Path, options: Sequence[str] = ()
) -> list[OcrRequest]:
    """The first pages of a document, prepared for the engine; `options`: KEY=VALUE of the recipe."""
    media_type = sniff(truth.path)
    count = open_document(truth.path, media_type, truth.passwords).page_count
    last = count if truth.is_repeated else min(count, most, len(truth.pages))
    recipe = profile.recipe().with_options(["text_layer=ignore", *options])
    found = []
    for facts in split_pages(truth.path, media_type, 1, last, truth.passwords):
        image = preprocess_page(truth.path, media_type, facts.page_no, recipe, home, truth.passwords)
        where = Store(home).path(image.sha256, image.suffix)
        found.append(OcrRequest(image, where, facts.width_pt, facts.height_pt, recipe))
    return found
