"""A page drawn from type: how much ink it has, and whether the type can be seen on it."""

from pathlib import Path

import pymupdf
import pytest
from PIL import Image, ImageChops, ImageDraw

from models.document import MediaType
from models.geometry import Box
from models.page import PageImage
from models.recipe import Recipe
from tasks.work import blank, type_ink
from tasks.work.preprocess import preprocess_page
from tests import factories
from tests.unit import pages, prints

LEGIBLE = Recipe(resolution="legible", orient=True, grid_px=28, x_height_px=10.0, long_edge_px=2324)
ALL = [prints.run(12, 2_000, box=Box(0, 0, 1089, 1540))]


def _prepared(home: Path, data: bytes) -> PageImage:
    made = preprocess_page(
        factories.write(home / "page.pdf", data), MediaType.PDF, 1, LEGIBLE, home / "store"
    )
    assert made.reason.endswith("-layer")
    return made


def _typed(text: str, colour: float, *, rotation: int = 0) -> pymupdf.Document:
    document = pymupdf.open()  # type: ignore[no-untyped-call]
    page = document.new_page()
    for number in range(6):
        page.insert_text((72, 96 + 22 * number), text, fontsize=12, color=(colour,) * 3)
    page.set_rotation(rotation)
    return document


@pytest.mark.parametrize(("size_px", "lines"), [(16, 58), (24, 40), (40, 24), (16, 2)])
def test_one_pixel_in_sixteen_tells_the_ink_of_a_page_of_type(size_px: int, lines: int) -> None:
    page = prints.page(size_px=size_px, lines=lines)
    closely = (blank.differences(page) > blank.CONTRAST).mean()
    found = type_ink.of_page(page, ALL, 1.0)
    assert found is not None
    assert found.share == pytest.approx(closely, rel=0.15)


def test_white_type_on_black_has_as_much_ink_as_black_on_white() -> None:
    light = prints.page(lines=12)
    found = [type_ink.of_page(page, ALL, 1.0) for page in (light, ImageChops.invert(light))]
    assert found[0] is not None
    assert found[1] is not None
    assert found[1].share == pytest.approx(found[0].share, rel=0.1)


def test_a_tint_behind_type_is_paper() -> None:
    page = prints.page(lines=30)
    tinted = page.copy()
    tinted.paste(200, (0, 0, 1089, 700))
    tinted = ImageChops.darker(page, tinted)
    found = [type_ink.of_page(sheet, ALL, 1.0) for sheet in (page, tinted)]
    assert found[0] is not None
    assert found[1] is not None
    assert found[1].share == pytest.approx(found[0].share, rel=0.3)


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_type_that_cannot_be_seen_in_its_frame_leaves_the_page_blank(tmp_path: Path, width: int) -> None:
    with _typed("White letters on white paper.", 1.0) as document:
        document[0].draw_rect((30, 30, 565, 812), width=width)
        assert _prepared(tmp_path, bytes(document.tobytes())).is_blank


def test_type_under_something_white_leaves_the_page_blank(tmp_path: Path) -> None:
    with _typed("Nobody sees this line any more.", 0.0) as document:
        document[0].draw_rect((0, 0, 595, 842), fill=(1, 1, 1), color=(1, 1, 1))
        assert _prepared(tmp_path, bytes(document.tobytes())).is_blank


def test_hidden_words_do_not_make_a_page_blank_whose_others_are_seen(tmp_path: Path) -> None:
    with _typed("White letters on white paper.", 1.0) as document:
        document[0].insert_text((290, 800), "17", fontsize=9)
        assert not _prepared(tmp_path, bytes(document.tobytes())).is_blank


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_type_is_found_on_a_turned_page(tmp_path: Path, rotation: int) -> None:
    with _typed("One", 0.6, rotation=rotation) as document:
        made = _prepared(tmp_path, bytes(document.tobytes()))
    assert not made.is_blank
    assert 0 < made.ink < 0.003


def test_type_beside_the_page_is_not_seen_on_it() -> None:
    page = Image.new("L", (595, 842), 255)
    ImageDraw.Draw(page).rectangle((0, 0, 594, 841), outline=0)
    beside = [prints.run(12, 40, box=Box(600, 100, 700, 112)), prints.run(12, 40, box=Box(50, -30, 90, -4))]
    assert type_ink.of_page(page, beside, 1.0) is None
    assert type_ink.of_page(page, [], 1.0) is None


def test_a_page_of_type_is_not_measured_closely(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(blank, "measure")
    assert not _prepared(tmp_path, pages.born_digital()).is_blank
