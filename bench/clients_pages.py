"""The same pages for every client: PDF files of text pages, PDF files of scans, and single pages of each."""

import itertools
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pymupdf

from bench.pages import Case, cases
from models.document import MediaType

KINDS = ("text", "scan")
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


def gather(places: Iterable[Path], most: int, each: int, target: Path) -> Iterator[Pages]:
    """At most `most` pages of each kind there is, of a document its first `each`, as files below `target`.

    A document whose pages are of several kinds is left out, and so are giant scans and what cannot be opened
    without a password.
    """
    found = itertools.groupby(cases(tuple(places), each), key=lambda case: case.path)
    documents = [(path, list(group)) for path, group in found]
    for kind in KINDS:
        chosen = [pages for _, pages in documents if _is_all(pages, kind)]
        if chosen:
            yield _kept(kind, chosen, most, target / kind)


def _is_all(pages: list[Case], kind: str) -> bool:
    return all(page.kind == kind and page.media_type is MediaType.PDF for page in pages)


def _kept(kind: str, documents: list[list[Case]], most: int, target: Path) -> Pages:
    whole, count = target / "all", 0
    for number, pages in enumerate(documents):
        wanted = min(len(pages), most - count)
        if wanted <= 0:
            break
        count += wanted
        _cut(pages[0].path, wanted, whole / f"{number:03}-{pages[0].path.stem}.pdf")
    singles = tuple(target / f"one-{number}" for number in range(_WARMING))
    for number, folder in enumerate(singles):
        _cut(documents[number % len(documents)][0].path, 1, folder / "one.pdf", mark=f"one {number}")
    return Pages(kind, whole, count, singles)


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
