from pathlib import Path

import pytest
from PIL import Image

from models.document import MediaType
from models.engine import OcrRequest
from models.geometry import Box, Transform
from models.recipe import Recipe
from tasks.work.engines.ppocr import FasterPaddle
from tasks.work.engines.reader import read_page
from tasks.work.lines import Line
from tasks.work.metrics import cer
from tasks.work.preprocess import preprocess_page
from tasks.work.store import Store
from tasks.work.turning import Sheet, is_better, turns_to_try
from tests import factories
from tests.unit import pages

pytestmark = pytest.mark.slow

TEXT = "\n".join(pages.LINES)


def _line(text: str, sure: float, *, tall: bool = False) -> Line:
    return Line(text, Box(0, 0, 20, 300) if tall else Box(0, 0, 300, 20), sure)


def _request(picture: Image.Image, home: Path) -> OcrRequest:
    recipe = Recipe(text_layer="ignore")
    path = factories.write(home / "page.png", factories.picture_bytes(picture))
    image = preprocess_page(path, MediaType.PNG, 1, recipe, home)
    width, height = image.transform.point(image.width_px, image.height_px)
    return OcrRequest(image, Store(home).path(image.sha256, image.suffix), width, height, recipe)


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_page_that_lies_turned_in_its_picture_is_read_like_an_upright_one(
    degrees: int, tmp_path: Path
) -> None:
    upright = factories.picture(TEXT, (1240, 600), font_px=32)
    # The picture is turned with the clock, so reading has to turn it back by as much.
    reading = read_page(
        FasterPaddle, _request(upright.rotate(-degrees, expand=True), tmp_path), pages.READABLE
    )
    assert cer(TEXT, reading.text) < 0.02
    assert reading.notes == (f"turned-{degrees}",)


def test_an_upright_page_is_not_turned(tmp_path: Path) -> None:
    picture = factories.picture(TEXT, (1240, 600), font_px=32)
    assert read_page(FasterPaddle, _request(picture, tmp_path), pages.READABLE).notes == ()


def test_boxes_of_a_turned_page_lie_where_the_print_is_in_the_page_image(tmp_path: Path) -> None:
    upright = factories.picture(TEXT, (1240, 600), font_px=32)
    page = _request(upright.rotate(180), tmp_path)
    (block,) = read_page(FasterPaddle, page, pages.READABLE).blocks
    assert block.box is not None
    # The text stands at the top left of the upright picture, so at the bottom right of this one.
    assert block.box.y0 > page.height_pt / 2
    assert block.box.x1 > 0.9 * page.width_pt


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_turned_sheet_knows_where_its_pixels_were(degrees: int) -> None:
    picture = Image.new("L", (40, 30), 255)
    picture.paste(0, (5, 10, 9, 12))
    sheet = Sheet(picture, Transform.scale(2.0, 2.0)).turn(degrees)
    where = sheet.picture.point(lambda level: 255 - level).getbbox()
    assert where is not None
    assert sheet.transform.box(Box(*where)) == Box(10, 20, 18, 24)
    assert sheet.turned == degrees


def test_four_quarter_turns_bring_a_sheet_back() -> None:
    sheet = Sheet(Image.new("L", (40, 30)), Transform.scale(1.0, 1.0))
    again = sheet.turn(90).turn(90).turn(90).turn(90)
    assert (again.transform, again.turned, again.picture.size) == (sheet.transform, 0, (40, 30))


def test_unsure_lines_are_tried_upside_down_and_sure_ones_not() -> None:
    assert turns_to_try([_line("rubbish that was read", 0.5)]) == (180,)
    assert turns_to_try([_line("words that were read", 0.95)]) == ()


def test_tall_lines_are_tried_on_their_side() -> None:
    assert turns_to_try([_line("words that run downwards", 0.95, tall=True)]) == (90,)
    assert turns_to_try([_line("rubbish that was read", 0.5, tall=True)]) == (270,)


def test_tall_lines_that_may_be_figures_on_their_head_are_tried_both_ways() -> None:
    assert turns_to_try([_line("TS'86E'L 29'ezt'6", 0.71, tall=True)]) == (90, 270)


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_page_of_figures_alone_is_turned_as_well(degrees: int, tmp_path: Path) -> None:
    rows = [" ".join(str(107 * row * column + 4651)[:5] for column in range(1, 8)) for row in range(1, 9)]
    upright = factories.picture("\n".join(rows), (1240, 600), font_px=32)
    page = _request(upright.rotate(-degrees, expand=True), tmp_path)
    reading = read_page(FasterPaddle, page, pages.READABLE)
    assert cer("\n".join(rows), reading.text) < 0.02
    assert reading.notes == (f"turned-{degrees}",)


def test_upright_chinese_is_not_taken_for_a_page_on_its_side() -> None:
    assert turns_to_try([_line("春眠不覺曉處處聞啼鳥", 0.9, tall=True)]) == ()


def test_a_word_or_two_are_not_turned() -> None:
    assert turns_to_try([_line("no", 0.3)]) == ()
    assert turns_to_try([]) == ()


def test_a_turn_counts_only_when_it_is_read_with_more_confidence() -> None:
    unsure = [_line("rubbish that was read", 0.5)]
    assert is_better([_line("words that are read now", 0.9)], unsure, 180)
    assert not is_better([_line("rubbish of another kind", 0.55)], unsure, 180)


def test_a_handwritten_or_foreign_page_keeps_its_first_reading(tmp_path: Path) -> None:
    page = pages.request(pages.corpus("img-ar-old-print.webp"), tmp_path, "ignore")
    reading = read_page(FasterPaddle, page, pages.READABLE)
    assert reading.notes == ()
    assert reading.confidence is not None
    assert reading.confidence < 0.6
