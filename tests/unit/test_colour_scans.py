"""Scans that are a colour JPEG: their page image has the same colours, however it was made."""

import io
from pathlib import Path

import numpy as np
import pymupdf
import pytest
from PIL import Image, ImageDraw

from models.document import MediaType
from models.recipe import Recipe
from tasks.work import drawable
from tasks.work.preprocess import preprocess_page
from tasks.work.store import Store
from tests import factories
from tests.unit import prints

pytestmark = pytest.mark.slow

LEGIBLE = Recipe(resolution="legible", grid_px=28, x_height_px=11.0, long_edge_px=2324)
RED, PAPER = (200, 30, 40), (247, 245, 238)


def _stamped() -> Image.Image:
    """Print with a stamp below it, on paper that is not quite white."""
    sheet = prints.page(size_px=40, lines=20, width=1700, height=2200).convert("RGB")
    paper = Image.composite(Image.new("RGB", sheet.size, PAPER), sheet, sheet.convert("L"))
    ImageDraw.Draw(paper).rectangle((200, 1500, 900, 2000), fill=RED)
    return paper


def _made(home: Path, data: bytes, recipe: Recipe = LEGIBLE) -> Image.Image:
    path = factories.write(home / "page.pdf", data)
    made = preprocess_page(path, MediaType.PDF, 1, recipe, home / "store")
    with Image.open(Store(home / "store").path(made.sha256, made.suffix)) as stored:
        return stored.convert("RGB")


def _at(picture: Image.Image, across: float, down: float) -> tuple[int, ...]:
    found = picture.getpixel((round(across * picture.width), round(down * picture.height)))
    assert isinstance(found, tuple)
    return found


def test_a_stamp_on_a_scan_keeps_its_colour_and_the_paper_its_own(tmp_path: Path) -> None:
    made = _made(tmp_path, factories.scan_pdf(_stamped(), dpi=200))
    assert made.height < 2100
    assert _at(made, 0.3, 0.8) == pytest.approx(RED, abs=6)
    assert _at(made, 0.97, 0.97) == pytest.approx(PAPER, abs=4)


@pytest.mark.parametrize("size", [(1316, 1708), (1309, 1701), (2000, 2590)])
def test_a_colour_scan_is_scaled_as_if_it_were_taken_apart_into_red_green_and_blue(
    size: tuple[int, int],
) -> None:
    data = factories.picture_bytes(_stamped(), "JPEG", quality=85)
    scan = drawable._scan(data)
    assert scan is not None
    with Image.open(io.BytesIO(data)) as whole:
        expected = drawable._resized(whole, size)
    away = np.abs(np.asarray(scan.drawn(scan.look(size)).convert("RGB"), float) - np.asarray(expected, float))
    assert away.mean() < 1.5
    assert np.quantile(away, 0.99) < 20


def test_a_slanted_colour_scan_is_straightened_on_white(tmp_path: Path) -> None:
    slanted = _stamped().rotate(-3, Image.Resampling.BICUBIC, expand=True, fillcolor=PAPER)
    made = _made(tmp_path, factories.scan_pdf(slanted, dpi=200), LEGIBLE.model_copy(update={"deskew": True}))
    assert _at(made, 0.002, 0.002) == pytest.approx((255, 255, 255), abs=4)
    assert _at(made, 0.3, 0.78) == pytest.approx(RED, abs=6)


def test_a_jpeg_of_red_green_and_blue_keeps_its_colours(tmp_path: Path) -> None:
    data = io.BytesIO()
    _stamped().save(data, "JPEG", quality=85, keep_rgb=True)
    with pymupdf.open() as document:  # type: ignore[no-untyped-call]
        page = document.new_page(width=612, height=792)
        page.insert_image(page.rect, stream=data.getvalue())
        made = _made(tmp_path, bytes(document.tobytes()))
    assert drawable._scan(data.getvalue()) is None
    assert _at(made, 0.3, 0.8) == pytest.approx(RED, abs=6)
