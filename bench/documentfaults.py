"""Faults that only the pages around a page tell, injected into good documents."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from models.limits import CheckLimits
from models.reading import Block, BlockType, Reading
from tasks.work.checks.languages import language_of, main_script

_LIMITS = CheckLimits()


@dataclass(frozen=True, slots=True)
class Book:
    """A document that was read well."""

    file: str
    pages: Mapping[int, Reading]


WrongBook = tuple[int, dict[int, Reading]]
"""Number of the page that is wrong, and all pages."""


def _other_script(book: Book, books: Sequence[Book], rng: Random) -> WrongBook:
    return _with_page_of(book, books, rng, lambda text: main_script(text, _LIMITS))


def _other_language(book: Book, books: Sequence[Book], rng: Random) -> WrongBook:
    def key(text: str) -> str:
        return language_of(text, _LIMITS) if main_script(text, _LIMITS) == "latin" else ""

    return _with_page_of(book, books, rng, key)


def _with_page_of(book: Book, books: Sequence[Book], rng: Random, key: Callable[[str], str]) -> WrongBook:
    """A page in the place of one of a document whose other pages are of another kind."""
    one_kind = [each for each in books if len(each.pages) > 3 and _kind(each, key)]
    book = book if book in one_kind else rng.choice(one_kind)
    own = _kind(book, key)
    others = [page for each in books for page in each.pages.values() if key(page.text) not in {"", own}]
    number = rng.choice(sorted(book.pages))
    return number, {**book.pages, number: rng.choice(others)}


def _kind(book: Book, key: Callable[[str], str]) -> str:
    kinds = {key(page.text) for page in book.pages.values()}
    return kinds.pop() if len(kinds) == 1 else ""


def _header_lost(book: Book, _: Sequence[Book], rng: Random) -> WrongBook:
    """Every page gets a header with its number; one page in the middle loses it."""
    title = rng.choice(["Annual report of the company", "Chapter 3. Methods", "安装手册 第三章 网络设置说明"])
    pages = {number: _with_header(page, f"{title} {number}") for number, page in book.pages.items()}
    inner = [
        n for n in pages if {n - 1, n + 1} <= set(pages) and len(pages[n].text) > _LIMITS.lost_line_chars + 60
    ]
    number = rng.choice(inner) if inner else min(pages)
    return number, pages | {number: book.pages[number]}


def _with_header(page: Reading, line: str) -> Reading:
    blocks = (Block(BlockType.HEADER, line), *page.blocks)
    return replace(page, text=f"{line}\n\n{page.text}", blocks=blocks)


DocumentFault = Callable[[Book, Sequence[Book], Random], WrongBook]
DOCUMENT_FAULTS: Mapping[str, tuple[DocumentFault, str]] = {
    "script of another document": (_other_script, "script-jump"),
    "language of another document": (_other_language, "language-jump"),
    "header lost": (_header_lost, "running-line-lost"),
}
