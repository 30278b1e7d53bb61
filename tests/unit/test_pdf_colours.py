"""Pages of a PDF without any colour are drawn in grey, to a rounding error the same; all others in colour."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
import pytest
from PIL import Image

from tasks.work import pdf
from tests import factories
from tests.unit import pages

_mu: Any = pymupdf
SCALES = (1.5, 1.5)
RED, GREY = (1, 0, 0), (0.4, 0.4, 0.4)


def _page(home: Path, change: Callable[[Any], object] = lambda _: None) -> Path:
    """A page of black type, changed."""
    with _mu.open(stream=pages.born_digital()) as document:
        change(document[0])
        return factories.write(home / "page.pdf", bytes(document.tobytes()))


def _drawn(path: Path, *, annotations: bool = True) -> Image.Image:
    return pdf.render(path, 1, SCALES, (), annotations=annotations)


def _picture(mode: str, colour: int | tuple[int, int, int]) -> bytes:
    data = io.BytesIO()
    Image.new(mode, (60, 60), colour).save(data, "PNG")
    return data.getvalue()


def _grey_things(page: Any) -> None:
    page.draw_rect((50, 500, 90, 540), color=GREY, fill=(0.9, 0.9, 0.9))
    page.insert_image((100, 500, 160, 560), stream=_picture("L", 90))
    page.insert_text((50, 600), "Grey type", color=GREY)


def test_a_page_of_black_and_grey_is_drawn_in_grey_with_the_same_pixels(tmp_path: Path) -> None:
    path = _page(tmp_path, _grey_things)
    found = _drawn(path)
    with _mu.open(path) as document:
        pixels = document[0].get_pixmap(matrix=_mu.Matrix(*SCALES), alpha=False)
        whole = np.frombuffer(pixels.samples, np.uint8).reshape(pixels.height, pixels.width, 3).astype(int)
    assert found.mode == "L"
    assert np.abs(whole - np.asarray(found)[:, :, None]).max() <= 1


@pytest.mark.parametrize(
    "change",
    [
        lambda page: page.insert_text((50, 600), ".", fontsize=4, color=RED),
        lambda page: page.draw_line((50, 600), (90, 600), color=RED, width=0.1),
        lambda page: page.draw_rect((50, 600, 90, 640), fill=(1, 1, 0.98), color=None),
        lambda page: page.insert_image((50, 600, 110, 660), stream=_picture("RGB", (200, 0, 0))),
        lambda page: page.insert_image((50, 600, 110, 660), stream=_picture("RGB", (90, 90, 90))),
    ],
    ids=["a full stop", "a hairline", "a tint", "a picture", "a grey picture that may have colour"],
)
def test_the_least_colour_keeps_a_page_in_colour(tmp_path: Path, change: Callable[[Any], object]) -> None:
    assert _drawn(_page(tmp_path, change)).mode == "RGB"


def test_a_note_counts_where_notes_are_drawn(tmp_path: Path) -> None:
    path = _page(tmp_path, lambda page: page.add_highlight_annot((50, 70, 200, 90)))
    drawn = _drawn(path)
    colours = np.asarray(drawn).astype(int)
    assert drawn.mode == "RGB"
    assert (colours.max(axis=2) - colours.min(axis=2)).max() > 50


def test_glyphs_that_are_drawings_keep_a_page_in_colour(tmp_path: Path) -> None:
    red = b"500 0 d0 1 0 0 rg 0 0 400 400 re f"
    glyph = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(red), red)
    font = (
        b"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 500 500] /FontMatrix [0.001 0 0 0.001 0 0] "
        b"/CharProcs << /a 6 0 R >> /Encoding << /Differences [97 /a] >> /FirstChar 97 /LastChar 97 "
        b"/Widths [500] /Resources << >> >>"
    )
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R /Resources "
    said = b"BT /F1 40 Tf 50 50 Td (a) Tj ET"
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        page + b"<< /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(said), said),
        font,
        glyph,
    ]
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % (number, part) for number, part in enumerate(parts, 1))
    path = factories.write(tmp_path / "page.pdf", b"%PDF-1.4\n" + body + b"trailer << /Root 1 0 R >>")
    drawn = _drawn(path)
    assert drawn.mode == "RGB"
    assert (np.asarray(drawn)[:, :, 1] < 50).any()
