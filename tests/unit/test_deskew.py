import numpy as np
import pytest
from PIL import Image, ImageDraw

from models.geometry import Transform
from tasks.work.blank import marks
from tasks.work.components import boxes, glyphs
from tasks.work.deskew import back, frame, levelled, skew_of, straightened
from tests.unit import prints

PAGE = prints.page()


def _skew(sheet: Image.Image) -> float:
    ink = marks(sheet)
    return skew_of(ink, glyphs(boxes(ink), sheet.height))


@pytest.mark.parametrize("degrees", [-5.0, -3.3, -1.1, -0.4, 0.3, 0.8, 2.6, 4.9])
def test_a_slant_is_found_to_a_tenth_of_a_degree(degrees: float) -> None:
    assert _skew(prints.slanted(PAGE, degrees)) == pytest.approx(degrees, abs=0.1)


@pytest.mark.parametrize("degrees", [0.0, 0.1, -0.15])
def test_a_page_that_is_nearly_straight_is_left_alone(degrees: float) -> None:
    assert _skew(prints.slanted(PAGE, degrees)) == 0.0


@pytest.mark.parametrize("degrees", [-2.0, 3.0])
def test_columns_of_vertical_writing_lean_the_other_way(degrees: float) -> None:
    columns = PAGE.transpose(Image.Transpose.ROTATE_270)
    assert _skew(prints.slanted(columns, degrees)) == pytest.approx(degrees, abs=0.15)


@pytest.mark.parametrize("degrees", [-3.0, 2.0])
def test_two_lines_of_large_print_are_enough(degrees: float) -> None:
    sheet = prints.page(size_px=22, lines=2, height=800)
    assert _skew(prints.slanted(sheet, degrees)) == pytest.approx(degrees, abs=0.3)


def test_spots_in_no_order_have_no_slant() -> None:
    rng = np.random.default_rng(3)
    sheet = Image.new("L", (1000, 1000), 255)
    pen = ImageDraw.Draw(sheet)
    for x, y in rng.integers(20, 980, (300, 2)):
        pen.ellipse((int(x), int(y), int(x) + 9, int(y) + 9), fill=0)
    assert _skew(sheet) == 0.0


def test_a_clean_sheet_has_no_slant() -> None:
    assert _skew(Image.new("L", (600, 800), 255)) == 0.0


@pytest.mark.parametrize("degrees", [-4.0, 2.5])
def test_a_straightened_page_is_straight_and_whole(degrees: float) -> None:
    leaning = prints.slanted(PAGE, degrees)
    size = tuple(round(side) for side in frame(*leaning.size, degrees))
    level = straightened(leaning, (size[0], size[1]), degrees)
    assert _skew(level) == 0.0
    dark = [float((np.asarray(sheet) < 128).sum()) for sheet in (PAGE, level)]
    assert dark[1] == pytest.approx(dark[0], rel=0.08)


@pytest.mark.parametrize("degrees", [-4.0, 2.5])
def test_the_way_back_leads_to_where_a_mark_was(degrees: float) -> None:
    sheet = Image.new("L", (500, 400), 255)
    sheet.paste(0, (100, 300, 110, 310))
    size = (530, 440)
    level = straightened(sheet, size, degrees)
    ys, xs = np.nonzero(np.asarray(level) < 128)
    there = Transform(*back(sheet.size, size, degrees)).point(float(xs.mean()) + 0.5, float(ys.mean()) + 0.5)
    assert there == pytest.approx((105, 305), abs=0.3)


def test_letters_of_a_slanted_line_are_levelled() -> None:
    line = np.array([[x, 100 + round(x / 20), x + 8, 112 + round(x / 20)] for x in range(0, 800, 20)])
    assert np.ptp(levelled(line, 2.862)[:, 3]) <= 1
    assert (levelled(line, 2.862)[:, 0] == line[:, 0]).all()


def test_a_grey_picture_in_colour_is_straightened_as_grey_and_stays_in_colour() -> None:
    sheet = prints.slanted(prints.page(), 2.0)
    level = straightened(sheet.convert("RGB"), sheet.size, 2.0)
    assert level.mode == "RGB"
    assert np.array_equal(np.asarray(level)[:, :, 1], np.asarray(straightened(sheet, sheet.size, 2.0)))


def test_colours_are_kept_when_a_picture_is_straightened() -> None:
    sheet = prints.slanted(prints.page(), 2.0).convert("RGB")
    sheet.paste((200, 30, 30), (300, 300, 500, 500))
    red, green, _ = straightened(sheet, sheet.size, 2.0).getpixel((400, 400))  # type: ignore[misc]
    assert (red, green) == (200, 30)
