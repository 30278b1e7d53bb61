"""Page images of recipes that look at a page first: turned, straightened, and as large as its print needs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
import pytest
from PIL import Image

from models.document import MediaType
from models.geometry import Box
from models.page import PageImage
from models.recipe import Recipe
from tasks.work import pdf
from tasks.work.preprocess import preprocess_page
from tasks.work.store import Store
from tests import factories
from tests.unit import prints

pytestmark = pytest.mark.slow

MARK = Box(100, 200, 160, 230)
"""In points: a black bar that the print of these pages leaves free."""
LEGIBLE: Mapping[str, object] = {"resolution": "legible", "grid_px": 28, "x_height_px": 10.0}


def _made(home: Path, data: bytes, kind: MediaType, **options: object) -> tuple[PageImage, Image.Image]:
    path = factories.write(home / "page", data)
    made = preprocess_page(path, kind, 1, Recipe.model_validate(options), home / "store")
    with Image.open(Store(home / "store").path(made.sha256, made.suffix)) as stored:
        stored.load()
    assert stored.size == (made.width_px, made.height_px)
    return made, stored


def _typed(size_pt: float, mark: Box | None = None) -> bytes:
    with pymupdf.open() as document:  # type: ignore[no-untyped-call]
        page = document.new_page(width=595, height=842)
        for number in range(25):
            line = prints.WORDS[number % 4][:60]
            page.insert_text((60, 250 + number * 1.6 * size_pt), line, fontsize=size_pt)
        if mark:
            page.draw_rect(tuple(mark), color=0, fill=0, width=0)
        return bytes(document.tobytes())


def _scan(turn: int = 0, slant: float = 0.0) -> tuple[bytes, tuple[float, float]]:
    """A scan at 150 dpi, turned clockwise and slanted, and the middle of its mark on the page, in points."""
    sheet = prints.page(lines=26)
    sheet.paste(0, (100, 1300, 160, 1330))
    sheet = prints.slanted(sheet, slant).rotate(-turn, expand=True)
    x, y = _middle(sheet)
    return factories.scan_pdf(sheet, dpi=150), (x * 72 / 150, y * 72 / 150)


def _middle(picture: Image.Image) -> tuple[float, float]:
    """Of the one solid spot that is larger than a letter, in pixels."""
    dark = np.asarray(picture.convert("L").point(lambda level: 255 * (level < 128)).reduce(8))
    ys, xs = np.nonzero(dark > 200)
    return 8 * float(xs.mean()) + 4, 8 * float(ys.mean()) + 4


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
@pytest.mark.parametrize("slant", [0.0, -3.0, 1.5])
def test_a_scan_comes_out_upright_and_straight_and_keeps_its_places(
    tmp_path: Path, turn: int, slant: float
) -> None:
    data, mark = _scan(turn, slant)
    made, stored = _made(tmp_path, data, MediaType.PDF, orient=True, deskew=True)
    assert made.turn == -turn % 360
    assert made.skew == pytest.approx(slant, abs=0.15)
    assert stored.height > stored.width
    assert max(stored.size) <= 1540
    assert made.transform.point(*_middle(stored)) == pytest.approx(mark, abs=3)


def test_a_straight_upright_scan_is_drawn_as_if_nobody_had_looked(tmp_path: Path) -> None:
    data, _ = _scan()
    looked, _ = _made(tmp_path, data, MediaType.PDF, orient=True, deskew=True)
    plain, _ = _made(tmp_path, data, MediaType.PDF)
    assert looked.sha256 == plain.sha256
    assert plain.reason == looked.reason == "fixed"


@pytest.mark.parametrize("size_pt", [8.0, 10.0, 14.0])
def test_type_is_drawn_with_letters_as_high_as_the_recipe_says(tmp_path: Path, size_pt: float) -> None:
    made, _ = _made(tmp_path, _typed(size_pt), MediaType.PDF, **LEGIBLE)
    assert made.reason == "legible-layer"
    assert made.x_height_px == pytest.approx(10)
    assert made.width_px / 595 == pytest.approx(10 / (0.48 * size_pt), rel=0.04)
    assert made.width_px % 28 == made.height_px % 28 == 0
    assert made.tokens_saved > 0


def test_on_a_grid_a_mark_is_still_where_it_was(tmp_path: Path) -> None:
    made, stored = _made(tmp_path, _typed(12, MARK), MediaType.PDF, **LEGIBLE)
    assert made.transform.point(*_middle(stored)) == pytest.approx((130, 215), abs=3)
    assert made.transform.box(Box(0, 0, *stored.size)) == pytest.approx((0, 0, 595, 842), abs=0.5)


def test_a_scan_is_drawn_by_the_height_of_its_letters(tmp_path: Path) -> None:
    data, _ = _scan()
    made, _ = _made(tmp_path, data, MediaType.PDF, **{**LEGIBLE, "x_height_px": 7.0})
    assert made.reason == "legible-pixels"
    assert 650 < made.width_px < 850
    assert made.tokens_saved > 3_000


def test_a_picture_file_is_decoded_straight_to_that_size(tmp_path: Path) -> None:
    data = factories.picture_bytes(prints.page(size_px=40, lines=20, width=2200, height=1540), "JPEG")
    made, _ = _made(tmp_path, data, MediaType.JPEG, **LEGIBLE)
    assert made.reason == "legible-pixels"
    assert made.width_px == pytest.approx(2200 * 10 / 21.6, rel=0.25)


def test_a_picture_is_enlarged_to_the_fewest_pixels(tmp_path: Path) -> None:
    data = factories.picture_bytes(prints.page(lines=3, width=400, height=300))
    made, _ = _made(tmp_path, data, MediaType.PNG, min_pixels=250_000, grid_px=28)
    assert 225_000 < made.width_px * made.height_px < 275_000


def test_a_page_without_text_is_as_large_as_the_long_edge_says(tmp_path: Path) -> None:
    made, _ = _made(tmp_path, factories.pdf(""), MediaType.PDF, **{**LEGIBLE, "grid_px": 1})
    assert (made.width_px, made.height_px, made.reason) == (1089, 1540, "unknown")
    assert made.is_blank


def test_max_draws_all_that_is_allowed(tmp_path: Path) -> None:
    made, _ = _made(tmp_path, _typed(10), MediaType.PDF, resolution="max", grid_px=32, max_pixels=2_000_000)
    assert 1_900_000 < made.width_px * made.height_px <= 2_000_000
    assert (made.reason, made.tokens_saved) == ("max", 0)


@pytest.mark.parametrize("grid", [28, 32])
def test_slivers_are_filled_up_to_whole_cells(tmp_path: Path, grid: int) -> None:
    data = factories.picture_bytes(Image.fromarray(np.zeros((5, 900), np.uint8)))
    made, _ = _made(tmp_path, data, MediaType.PNG, grid_px=grid)
    assert made.height_px % grid == made.width_px % grid == 0
    assert min(made.width_px, made.height_px) >= 64


def _drawn(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Sizes in which pages of PDFs are drawn from now on."""
    drawn: list[tuple[int, int]] = []
    render = pdf.render

    def counted(*given: Any, **more: Any) -> Image.Image:
        drawn.append((image := render(*given, **more)).size)
        return image

    monkeypatch.setattr(pdf, "render", counted)
    return drawn


def test_a_page_much_smaller_than_the_one_looked_at_is_drawn_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    render, drawn = pdf.render, _drawn(monkeypatch)
    sheet = prints.page(size_px=60, lines=14, width=1500, height=2100)
    data = factories.scan_pdf(sheet, dpi=150, form="PNG")
    wish = {"resolution": "legible", "grid_px": 28, "x_height_px": 7.0}
    made, stored = _made(tmp_path, data, MediaType.PDF, **wish)
    assert drawn == [sheet.size]
    assert made.reason == "legible-pixels"
    anew = render(tmp_path / "page", 1, (stored.width / 720, stored.height / 1008), (), annotations=True)
    away = np.abs(np.asarray(stored.convert("L"), float) - np.asarray(anew.convert("L"), float))
    assert away.mean() < 6
    assert made.transform.box(Box(0, 0, *stored.size)) == pytest.approx((0, 0, 720, 1008), abs=0.5)


@pytest.mark.slow
@pytest.mark.parametrize("dpi", [300, 200])
def test_a_scan_is_drawn_once_though_it_is_made_smaller_than_it_was_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dpi: int
) -> None:
    drawn = _drawn(monkeypatch)
    sheet = prints.page(size_px=dpi // 5, lines=30, width=8 * dpi, height=10 * dpi)
    wish = {"resolution": "legible", "grid_px": 28, "x_height_px": 14.0}
    made, _ = _made(tmp_path, factories.scan_pdf(sheet, dpi=dpi, form="PNG"), MediaType.PDF, **wish)
    assert made.reason == "legible-pixels"
    assert 0.6 < made.height_px / 1540 < 0.95
    assert len(drawn) == 1
