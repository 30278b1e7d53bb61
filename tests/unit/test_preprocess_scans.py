"""How large the page image of a scan becomes: by its print, and never much larger than the scan itself."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
import pytest
from PIL import Image

from models.document import MediaType
from models.page import PageImage
from models.recipe import Recipe
from tasks.work import drawable, pdf
from tasks.work.preprocess import preprocess_page
from tasks.work.store import Store
from tests import factories
from tests.unit import prints

pytestmark = pytest.mark.slow

WIDE = Recipe(resolution="legible", grid_px=28, x_height_px=10.0, long_edge_px=2324)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Heights of all pictures that are drawn of a page."""
    heights: list[int] = []

    def counted(draw: Callable[..., Image.Image]) -> Callable[..., Image.Image]:
        def drawing(*given: Any, **more: Any) -> Image.Image:
            image = draw(*given, **more)
            heights.append(image.height)
            return image

        return drawing

    monkeypatch.setattr(pdf, "render", counted(pdf.render))
    monkeypatch.setattr(drawable, "_resized", counted(drawable._resized))
    return heights


def _made(home: Path, data: bytes, recipe: Recipe = WIDE) -> PageImage:
    path = factories.write(home / "page.pdf", data)
    return preprocess_page(path, MediaType.PDF, 1, recipe, home / "store")


def _photo(width: int, height: int) -> Image.Image:
    """Large soft spots of all greys: nothing to read, and not blank."""
    spots = np.random.default_rng(7).integers(0, 256, (height // 150, width // 150), np.uint8)
    return Image.fromarray(spots).resize((width, height), Image.Resampling.BICUBIC)


def test_a_small_photograph_is_not_enlarged(tmp_path: Path) -> None:
    made = _made(tmp_path, factories.scan_pdf(_photo(600, 800), dpi=72))
    assert made.reason == "unknown"
    assert (made.width_px, made.height_px) == pytest.approx((600, 800), abs=14)


def test_a_photograph_coarser_than_print_may_be_is_not_called_downscaled(tmp_path: Path) -> None:
    made = _made(tmp_path, factories.scan_pdf(_photo(600, 800), dpi=50))
    assert made.height_px == pytest.approx(800, abs=14)
    assert made.notes == ()


def test_small_print_of_a_coarse_scan_is_enlarged_to_twice_its_size_at_most(tmp_path: Path) -> None:
    made = _made(
        tmp_path, factories.scan_pdf(prints.page(size_px=7, width=600, height=800, lines=40), dpi=72)
    )
    assert made.reason == "most-pixels"
    assert (made.width_px, made.height_px) == pytest.approx((1200, 1600), abs=28)


def test_an_unseen_text_layer_leaves_a_scan_a_scan(tmp_path: Path) -> None:
    with pymupdf.open(stream=factories.scan_pdf(_photo(600, 800), dpi=72)) as document:  # type: ignore[no-untyped-call]
        document[0].insert_text((50, 50), "A layer of recognised words", render_mode=3)
        made = _made(tmp_path, bytes(document.tobytes()))
    assert made.height_px == pytest.approx(800, abs=14)


def test_lines_over_a_small_picture_are_drawn_as_finely_as_ever(tmp_path: Path) -> None:
    with pymupdf.open(stream=factories.scan_pdf(_photo(300, 400), dpi=36)) as document:  # type: ignore[no-untyped-call]
        document[0].draw_line((50, 50), (500, 700), color=0)
        made = _made(tmp_path, bytes(document.tobytes()))
    assert made.height_px == pytest.approx(2324, abs=28)


def test_ordinary_print_is_looked_at_once_and_drawn_once_more(tmp_path: Path, drawn: list[int]) -> None:
    sheet = prints.page(size_px=44, width=2480, height=3508)
    made = _made(tmp_path, factories.scan_pdf(sheet, dpi=300))
    assert made.reason == "legible-pixels"
    assert drawn == [1820, made.height_px]


def test_small_print_is_looked_at_again_on_a_larger_picture(tmp_path: Path, drawn: list[int]) -> None:
    sheet = prints.page(size_px=18, width=2480, height=3508, lines=80)
    made = _made(tmp_path, factories.scan_pdf(sheet, dpi=300))
    assert drawn == [1820, 2324, made.height_px]


def test_a_blank_sheet_is_drawn_once(tmp_path: Path, drawn: list[int]) -> None:
    made = _made(tmp_path, factories.scan_pdf(Image.new("L", (2480, 3508), 250), dpi=300))
    assert made.is_blank
    assert drawn == [made.height_px]


def test_a_fixed_size_is_drawn_whatever_the_scan_has(tmp_path: Path) -> None:
    made = _made(tmp_path, factories.scan_pdf(_photo(600, 800), dpi=72), Recipe(deskew=True))
    assert (made.height_px, made.reason) == (1540, "fixed")


def test_a_picture_that_is_no_jpeg_is_decoded_once_for_all_sizes(tmp_path: Path, drawn: list[int]) -> None:
    sheet = prints.page(size_px=26, width=1240, height=1754)
    made = _made(tmp_path, factories.scan_pdf(sheet, dpi=150, form="PNG"))
    assert drawn == [1754, 1820, made.height_px]


def test_a_coloured_picture_is_looked_at_in_grey_and_stays_coloured(tmp_path: Path) -> None:
    sheet = prints.page(size_px=26, width=1240, height=1754).convert("RGB")
    sheet.paste((200, 20, 20), (100, 100, 300, 200))
    made = _made(tmp_path, factories.scan_pdf(sheet, dpi=150, form="PNG"))
    with Image.open(Store(tmp_path / "store").path(made.sha256, made.suffix)) as stored:
        red, green, _ = stored.getpixel((int(200 / 1240 * stored.width), int(150 / 1754 * stored.height)))
    assert (red, green) == pytest.approx((200, 20), abs=12)
