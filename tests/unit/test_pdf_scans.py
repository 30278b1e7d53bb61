"""Pages of a PDF that are one JPEG: found, passed on, and told from those that only look like it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from PIL import Image, ImageDraw, ImageFont

from models.document import MediaType
from models.geometry import Box
from models.page import PageImage
from models.recipe import Recipe
from tasks.work import pdf
from tasks.work.preprocess import preprocess_page
from tests import factories
from tests.unit import prints

LEGIBLE = Recipe(resolution="legible", grid_px=28, x_height_px=10.0, long_edge_px=2324, min_pixels=200_704)
SPARSE = Image.new("L", (1700, 2200), 250)
ImageDraw.Draw(SPARSE).text((300, 400), "Annex B", fill=20, font=ImageFont.load_default(60))
"""Too few letters to tell a size by: such a page is made as large as the scan."""


def _page(home: Path, change: Callable[[Any], object] = lambda _: None, sheet: Image.Image = SPARSE) -> Path:
    """A scan at 200 dpi in a PDF, its one page changed."""
    data = factories.scan_pdf(sheet, dpi=200)
    with pymupdf.open(stream=data) as document:  # type: ignore[no-untyped-call]
        change(document[0])
        return factories.write(home / "page.pdf", bytes(document.tobytes()))


def _jpeg(path: Path) -> bytes | None:
    return pdf.whole_jpeg(path, 1, ())


def _made(home: Path, path: Path, recipe: Recipe = LEGIBLE) -> tuple[PageImage, bytes]:
    made = preprocess_page(path, MediaType.PDF, 1, recipe, home / "store")
    (stored,) = (home / "store").rglob(f"{made.sha256}.jpg")
    return made, stored.read_bytes()


def _hidden(page: Any) -> None:
    page.insert_text((50, 50), "A layer (of) recognised words ET", render_mode=3)


def _said(content: bytes) -> Callable[[Any], None]:
    """A page that says this before it shows its picture."""

    def change(page: Any) -> None:
        document, name = page.parent, page.get_images()[0][7].encode()
        width, height = int(page.rect.width), int(page.rect.height)
        shown = b"q %s %d 0 0 %d 0 0 cm /%s Do Q" % (content, width, height, name)
        document.update_stream(page.get_contents()[0], shown)

    return change


def _key(name: str, value: str) -> Callable[[Any], None]:
    return lambda page: page.parent.xref_set_key(page.get_images()[0][0], name, value)


def _below(page: Any) -> None:
    page.insert_text((50, 50), "A layer of recognised words", overlay=False)


def _then_set(page: Any) -> None:
    document = page.parent
    document.update_stream(page.get_contents()[-1], page.read_contents() + b" /GS1 gs h")


@pytest.mark.parametrize("change", [lambda _: None, _hidden, _below, _then_set, _said(b"/Perceptual ri")])
def test_a_page_that_is_a_jpeg_is_known_and_its_text_layer_does_not_matter(
    tmp_path: Path, change: Callable[[Any], object]
) -> None:
    assert _jpeg(_page(tmp_path, change)) == factories.picture_bytes(SPARSE, "JPEG", quality=85)


@pytest.mark.parametrize(
    "change",
    [
        lambda page: page.set_rotation(90),
        lambda page: page.insert_text((50, 50), "Stamped"),
        lambda page: page.draw_line((50, 50), (200, 200)),
        lambda page: page.add_highlight_annot((50, 50, 100, 100)),
        lambda page: page.set_cropbox((10, 10, 400, 400)),
        lambda page: page.insert_image((0, 0, 50, 50), stream=factories.picture_bytes(SPARSE, "JPEG")),
        _said(b"0 0 100 100 re W n"),
        _said(b"BT 7 Tr /F1 12 Tf (cut) Tj ET"),
        _said(b"BT (never ended) Tj"),
        _said(b"BT /GS0 gs ET"),
        _said(b"0 0 100 100 re f"),
        _said(b"q " * 200_000 + b"Q " * 200_000),
        _said(b"/GS0 gs"),
        _said(b"-1 0 0 1 612 0 cm"),
        _said(b"0.5 0 0 0.5 0 0 cm"),
        _key("Decode", "[1 0]"),
        _key("OC", "<</Type/OCG>>"),
        _key("ColorSpace", "/DeviceCMYK"),
    ],
)
def test_a_page_that_shows_its_jpeg_otherwise_or_more_than_that_is_drawn(
    tmp_path: Path, change: Callable[[Any], object]
) -> None:
    assert _jpeg(_page(tmp_path, change)) is None


def test_a_picture_is_upright_unless_it_is_askew_or_one_of_two(tmp_path: Path) -> None:
    def is_upright(change: Callable[[Any], object]) -> bool:
        return pdf.is_upright_picture(_page(tmp_path, change), 1, ())

    assert is_upright(lambda _: None)
    assert is_upright(lambda page: page.set_rotation(90))
    assert not is_upright(_said(b"0.998 0.05 -0.05 0.998 0 0 cm"))
    assert not is_upright(lambda page: page.insert_image((0, 0, 50, 50), pixmap=page.get_pixmap(dpi=30)))


def test_other_pictures_and_other_pages_are_no_jpeg(tmp_path: Path) -> None:
    lossless = factories.write(tmp_path / "a.pdf", factories.scan_pdf(SPARSE, form="PNG"))
    typed = factories.write(tmp_path / "b.pdf", factories.pdf("Typed"))
    assert _jpeg(lossless) is None
    assert _jpeg(typed) is None


@pytest.mark.slow
def test_a_scan_no_larger_than_wanted_is_passed_on_as_it_came(tmp_path: Path) -> None:
    made, stored = _made(tmp_path, path := _page(tmp_path))
    assert stored == _jpeg(path)
    assert (made.width_px, made.height_px, made.reason) == (1700, 2200, "unknown")
    assert made.transform.box(Box(0, 0, 1700, 2200)) == pytest.approx((0, 0, 612, 792))
    assert not made.is_blank


@pytest.mark.slow
def test_a_scan_that_costs_more_tokens_than_its_print_needs_is_made_smaller(tmp_path: Path) -> None:
    sheet = prints.page(size_px=44, width=1700, height=2200).convert("RGB")
    made, stored = _made(tmp_path, path := _page(tmp_path, sheet=sheet))
    assert stored != _jpeg(path)
    assert made.reason == "legible-pixels"
    assert made.width_px % 28 == made.height_px % 28 == 0
    assert made.width_px < 1500


@pytest.mark.slow
def test_a_colour_scan_is_looked_at_in_grey_and_stays_coloured(tmp_path: Path) -> None:
    sheet = prints.page(size_px=44, width=1700, height=2200).convert("RGB")
    sheet.paste((200, 20, 20), (100, 100, 300, 200))
    made, _ = _made(tmp_path, _page(tmp_path, sheet=sheet))
    with Image.open(tmp_path / "store" / made.sha256[:2] / made.sha256[2:4] / f"{made.sha256}.jpg") as stored:
        red, green, _ = stored.getpixel((int(200 / 1700 * stored.width), int(150 / 2200 * stored.height)))
    assert (red, green) == pytest.approx((200, 20), abs=12)


@pytest.mark.slow
def test_a_scan_that_is_turned_is_made_anew(tmp_path: Path) -> None:
    sheet = prints.page(width=1700, height=2200).transpose(Image.Transpose.ROTATE_90)
    recipe = LEGIBLE.model_copy(update={"orient": True, "resolution": "max"})
    made, _ = _made(tmp_path, _page(tmp_path, sheet=sheet), recipe)
    assert made.turn == 90
    assert made.height_px > made.width_px


def test_a_jpeg_that_is_cut_off_is_drawn_as_far_as_it_goes(tmp_path: Path) -> None:
    whole = factories.scan_pdf(prints.page(width=850, height=1100), dpi=100)
    with pymupdf.open(stream=whole) as document:  # type: ignore[no-untyped-call]
        xref = document[0].get_images()[0][0]
        data = document.xref_stream_raw(xref)
        document.update_stream(xref, data[: len(data) // 2], compress=0)
        document.xref_set_key(xref, "Filter", "/DCTDecode")
        path = factories.write(tmp_path / "page.pdf", bytes(document.tobytes()))
    assert _jpeg(path)
    made, _ = _made(tmp_path, path)
    assert not made.is_blank
