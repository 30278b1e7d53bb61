"""The same pages for every client: PDF files of text pages, of scans, of text pages scanned in an office.

And single pages of each kind.
"""

import itertools
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pymupdf

from bench import office_scans
from bench.pages import Case, cases
from models.document import MediaType

OFFICE = "office scan"
"""Text pages as an office scanner would make them: see bench.office_scans."""
KINDS = ("text", "scan", OFFICE)
_WARMING = 2
"""Single pages: one to warm up with, one that shows what a start costs."""


@dataclass(frozen=True, slots=True)
class Pages:
    """Folders of PDF files, all of one kind of page."""

    kind: str
    folder: Path
    pages: int
    singles: tuple[Path, ...]
    """Folders with one document of one page each; their pictures are none of `folder`'s."""


def gather(
    places: Iterable[Path], most: int, each: int, target: Path, kinds: Sequence[str] = KINDS
) -> Iterator[Pages]:
    """At most `most` pages of each kind there is, of a document its first `each`, as files below `target`.

    A document whose pages are of several kinds is left out, and so are giant scans and what cannot be opened
    without a password.
    """
    found = itertools.groupby(cases(tuple(places), each), key=lambda case: case.path)
    documents = [(path, list(group)) for path, group in found]
    for kind in kinds:
        chosen = [pages for _, pages in documents if _is_all(pages, "text" if kind == OFFICE else kind)]
        if chosen:
            yield _kept(kind, chosen, most, target / kind.replace(" ", "-"))


def _is_all(pages: list[Case], kind: str) -> bool:
    return all(page.kind == kind and page.media_type is MediaType.PDF for page in pages)


def _kept(kind: str, documents: list[list[Case]], most: int, target: Path) -> Pages:
    whole, count = target / "all", 0
    for number, pages in enumerate(documents):
        wanted = min(len(pages), most - count)
        if wanted <= 0:
            break
        count += wanted
        _made(kind, pages[0].path, wanted, whole / f"{number:03}-{pages[0].path.stem}.pdf", number)
    singles = tuple(target / f"one-{number}" for number in range(_WARMING))
    for number, folder in enumerate(singles):
        source = documents[number % len(documents)][0].path
        _made(kind, source, 1, folder / "one.pdf", number - _WARMING)
    return Pages(kind, whole, count, singles)


def _made(kind: str, source: Path, pages: int, target: Path, number: int) -> None:
    """The first pages of a document as a file; single pages have numbers below 0."""
    if kind == OFFICE:
        office_scans.scan(source, range(1, pages + 1), target, number)
    else:
        _cut(source, pages, target, mark=f"one {number}" if number < 0 else "")


def _cut(source: Path, pages: int, target: Path, mark: str = "") -> None:
    """The first pages of a document as a file; the very file where that is all of it.

    `mark` is printed on the first one: pagemill does not send a picture that it has read.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with pymupdf.open(source, filetype="pdf") as document:
        if document.page_count == pages and not mark:
            shutil.copyfile(source, target)
            return
        document.select(range(pages))
        if mark:
            document[0].insert_text((20, 20), mark)
        document.save(target, garbage=3)
