"""PDF documents and their pages, through PyMuPDF.

PyMuPDF is not thread-safe and its native code can hang or crash: call this in child processes only. Files are
opened for reading and never written: a signed document stays as it is.
"""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pymupdf
from PIL import Image

from models.document import DocumentFacts
from models.errors import Code, DocumentRejected
from models.geometry import Box, Transform
from models.notes import UNREADABLE_PAGE
from models.page import PageFacts, Word
from models.text import clean
from tasks.work import pdf_print, pdf_scans
from tasks.work.pdf_boxes import load, meet
from tasks.work.pdf_colours import has_colour
from tasks.work.pdf_documents import damaged, opened
from tasks.work.pdf_print import TEXT_FLAGS, Print

# PyMuPDF ships no types for what is used here.
_mu: Any = pymupdf

# A4: the size of a page that cannot be loaded but keeps its place.
_UNKNOWN_SIZE = (595.0, 842.0)

_FILE_ATTACHMENT = 17


def document_facts(path: Path, passwords: tuple[str, ...]) -> DocumentFacts:
    """What the file as a whole says.

    Raises DocumentRejected (corrupt, needs-password, zero-pages).
    """
    document = opened(path, passwords)
    with damaged():
        if document.page_count == 0:
            raise DocumentRejected("The PDF has no pages.", Code.ZERO_PAGES)
        _load_any(document)
        metadata = document.metadata or {}
        is_encrypted = bool(metadata.get("encryption"))
        return DocumentFacts(
            page_count=document.page_count,
            is_repaired=bool(document.is_repaired),
            is_encrypted=is_encrypted,
            permissions=document.permissions if is_encrypted else None,
            title=clean(metadata.get("title") or "").strip(),
            notes=tuple(_notes(document)),
        )


def page_facts(path: Path, page_no: int, passwords: tuple[str, ...]) -> PageFacts:
    """Geometry and text layer of a page; a page that cannot be loaded has the note `unreadable-page`."""
    document = opened(path, passwords)
    try:
        page, repaired = load(document, page_no)
    except Exception:
        # MuPDF raises a class for each of its error codes, and plain ones besides.
        return PageFacts(page_no, *_UNKNOWN_SIZE, notes=(UNREADABLE_PAGE,))
    notes = ["box-repaired"] if repaired else []
    if any(kind == _FILE_ATTACHMENT for _, kind, *_ in page.annot_xrefs()):
        notes.append("attachments")
    try:
        words = tuple(_words(page))
    except Exception:
        words = ()
        notes.append("layer-unreadable")
    return PageFacts(page_no, page.rect.width, page.rect.height, page.rotation, words, tuple(notes))


def printed(path: Path, page_no: int, passwords: tuple[str, ...]) -> Print:
    """The visible type of a page; none, and all picture, where its content is damaged.

    Raises DocumentRejected (corrupt) for a page that cannot be loaded.
    """
    with damaged():
        page, drawn = _drawn(path, page_no, passwords)
        try:
            return pdf_print.of_page(page, drawn)
        except Exception:
            # What can be drawn of it may be looked at all the same.
            return Print((), 1.0)


def page_size(path: Path, page_no: int, passwords: tuple[str, ...]) -> tuple[float, float]:
    """Width and height in points of the page as displayed. Raises DocumentRejected (corrupt)."""
    with damaged():
        page, _ = load(opened(path, passwords), page_no)
        return page.rect.width, page.rect.height


def whole_jpeg(path: Path, page_no: int, passwords: tuple[str, ...]) -> bytes | None:
    """The JPEG that a page is from edge to edge, upright; None for any other page.

    Raises DocumentRejected (corrupt).
    """
    with damaged():
        page, _ = load(opened(path, passwords), page_no)
        try:
            return pdf_scans.whole_jpeg(page)
        except Exception:
            # Its content is damaged: what can be drawn of it is drawn.
            return None


def is_upright_picture(path: Path, page_no: int, passwords: tuple[str, ...]) -> bool:
    """Whether a page shows one picture and its edges are upright, whatever it is coded in.

    Raises DocumentRejected (corrupt).
    """
    with damaged():
        page, _ = load(opened(path, passwords), page_no)
        return pdf_scans.is_upright_picture(page)


def render(
    path: Path, page_no: int, scales: tuple[float, float], passwords: tuple[str, ...], *, annotations: bool
) -> Image.Image:
    """The page at so many pixels a point across and down, with annotations and form values where asked.

    RGB; L where it has no colour at all: that shows the same, and takes a third less time until it is stored.

    Raises DocumentRejected when it cannot be drawn.
    """
    with damaged():
        page, drawn = _drawn(path, page_no, passwords, annotations=annotations)
        mode, colours = ("RGB", _mu.csRGB) if has_colour(page, drawn) else ("L", _mu.csGRAY)
        pixels = drawn.get_pixmap(matrix=_mu.Matrix(*scales), colorspace=colours, alpha=False)
        image = Image.frombytes(mode, (pixels.width, pixels.height), pixels.samples_mv)
    # Decoded pictures and fonts of earlier pages: half of them go, so that a long document stays small.
    _mu.TOOLS.store_shrink(50)
    return image


def _drawn(
    path: Path, page_no: int, passwords: tuple[str, ...], *, annotations: bool = True
) -> tuple[Any, Any]:
    """The page, and what it draws as a list."""
    return _interpreted(opened(path, passwords), page_no, annotations)


@lru_cache(maxsize=1)
def _interpreted(document: Any, page_no: int, annotations: bool) -> tuple[Any, Any]:
    """The last page stays as it was interpreted: its print is looked at, and it is drawn, once or twice."""
    page, _ = load(document, page_no)
    return page, page.get_displaylist(annots=annotations)


def _load_any(document: Any) -> None:
    """Raise the first page's error unless at least one page can be loaded."""
    first: Exception | None = None
    for index in range(document.page_count):
        try:
            document.load_page(index)
        except Exception as error:
            first = first or error
        else:
            return
    if first:
        raise first


def _words(page: Any) -> Iterator[Word]:
    """Words in the page as displayed: MuPDF gives them as they stand before /Rotate."""
    # MuPDF's own rectangles would take most of the time.
    turn, shown = Transform(*page.rotation_matrix) if page.rotation else None, Box(*page.rect)
    for *edges, text, block, line, _ in page.get_text("words", flags=TEXT_FLAGS):
        box = turn.box(Box(*edges)) if turn else Box(*edges)
        text = clean(text)  # noqa: PLW2901
        if text and meet(box, shown):
            yield Word(text, box, block, line)


def _notes(document: Any) -> Iterator[str]:
    catalog = document.pdf_catalog()

    def has(key: str) -> bool:
        return document.xref_get_key(catalog, key)[0] != "null"  # type: ignore[no-any-return]

    if has("AcroForm/XFA") or document.xref_get_key(catalog, "NeedsRendering")[1] == "true":
        yield "xfa-form"
    action = document.xref_get_key(catalog, "OpenAction")[1]
    if has("Names/JavaScript") or "/JavaScript" in action or has("OpenAction/JS"):
        yield "javascript"
    if has("Names/EmbeddedFiles") or has("Collection"):
        yield "attachments"
