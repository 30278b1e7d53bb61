"""Pages ready to be read: split and prepared by the real stages, from files made in code or samples."""

from dataclasses import replace
from pathlib import Path

import pymupdf
import pytest
from PIL import Image

from models.engine import OcrRequest
from models.profiles import get
from models.recipe import Recipe, TextLayerPolicy
from tasks.work.media import sniff
from tasks.work.preprocess import preprocess_page
from tasks.work.split import split_pages
from tasks.work.store import Store
from tests import factories

LINES = (
    "A text layer is believed only after a look at its picture.",
    "This page has lines enough to be compared with what is read,",
    "and each of them is long enough to tell one text from another.",
    "Numbers such as 1871 and 2026 are compared as well as words.",
    "The last line of the page closes what the first one opened.",
)
READABLE = get("ppocr").scripts
_CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"


def request(path: Path, home: Path, policy: TextLayerPolicy = "check", page_no: int = 1) -> OcrRequest:
    """A page of the file at `path`, its page image in a store under `home`."""
    recipe = Recipe(text_layer=policy)
    media_type = sniff(path)
    (facts,) = split_pages(path, media_type, page_no, page_no)
    image = preprocess_page(path, media_type, page_no, recipe, home)
    where = Store(home).path(image.sha256, image.suffix)
    return OcrRequest(image, where, facts.width_pt, facts.height_pt, recipe, facts.words)


def made(data: bytes, home: Path, policy: TextLayerPolicy = "check") -> OcrRequest:
    """The first page of a file made in code."""
    return request(factories.write(home / "page.pdf", data), home / "store", policy)


def corpus(name: str) -> Path:
    """A file of the shared corpus; the test is skipped where that is not at hand."""
    if not (_CORPUS / name).exists():
        pytest.skip("the shared corpus is not at hand")
    return _CORPUS / name


def born_digital(*lines: str, render_mode: int = 0) -> bytes:
    """A page with real text; render mode 3 makes it invisible."""
    with pymupdf.open() as document:  # type: ignore[no-untyped-call]
        page = document.new_page()
        for number, text in enumerate(lines or LINES):
            page.insert_text((72, 96 + 22 * number), text, fontsize=12, render_mode=render_mode)
        return bytes(document.tobytes())


def scan_with_layer(printed: str, hidden: str) -> bytes:
    """A full-page picture of `printed` with `hidden` as invisible text over the same lines."""
    picture = factories.picture(printed, (1240, 1754), font_px=32)
    with pymupdf.open(stream=factories.scan_pdf(picture)) as document:  # type: ignore[no-untyped-call]
        for number, text in enumerate(hidden.splitlines()):
            document[0].insert_text((16, 24 + 18.5 * number), text, fontsize=14, render_mode=3)
        return bytes(document.tobytes())


def picture_of(page: OcrRequest) -> Image.Image:
    """The page image, decoded."""
    with Image.open(page.path) as picture:
        picture.load()
        return picture


def with_texts(page: OcrRequest, change: "dict[int, int]") -> OcrRequest:
    """The same page with the characters of its text layer exchanged, as by a wrong encoding."""
    words = tuple(word._replace(text=word.text.translate(change)) for word in page.words)
    return replace(page, words=words)
