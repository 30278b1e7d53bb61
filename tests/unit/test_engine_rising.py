from collections.abc import Callable

import pytest
from PIL import Image, ImageDraw, ImageFont

from models.geometry import Box
from tasks.work.engines.ppocr import FasterPaddle
from tasks.work.engines.rising import read_rising
from tasks.work.lines import Line

PAGE = Image.new("L", (400, 400), 255)
LABEL = Line("spuesnou! sejes", Box(100, 100, 120, 300), 0.79)


def _answers(*lines: Line) -> Callable[[bytes], list[Line]]:
    return lambda _: list(lines)


def _never(_: bytes) -> list[Line]:
    raise AssertionError


def test_a_line_that_is_read_better_the_other_way_gets_those_words_in_its_place() -> None:
    words = [Line("thousands", Box(90, 5, 200, 25), 0.98), Line("Sales in", Box(6, 5, 80, 25), 0.98)]
    (found,) = read_rising([LABEL], PAGE, _answers(*words))
    assert (found.text, found.box, found.confidence) == ("Sales in thousands", LABEL.box, pytest.approx(0.98))


def test_what_is_hardly_surer_or_nothing_at_all_changes_nothing() -> None:
    assert read_rising([LABEL], PAGE, _answers(Line("seles", Box(0, 0, 9, 9), 0.85))) == [LABEL]
    assert read_rising([LABEL], PAGE, _answers()) == [LABEL]


@pytest.mark.parametrize(
    "line",
    [
        Line("Words that run downwards", LABEL.box, 0.97),
        Line("Words of a usual line", Box(100, 100, 300, 120), 0.6),
        Line("春眠不覺曉處處聞啼鳥", LABEL.box, 0.6),
        Line("no", LABEL.box, 0.4),
        Line("No confidence is told", LABEL.box),
    ],
)
def test_other_lines_are_not_looked_at_again(line: Line) -> None:
    assert read_rising([line], PAGE, _never) == [line]


def test_a_page_of_doubtful_lines_is_not_read_again_one_by_one() -> None:
    asked: list[bytes] = []
    found = read_rising([LABEL] * 200, PAGE, lambda label: asked.append(label) or [])
    assert (len(found), len(asked)) == (200, 30)


@pytest.mark.slow
def test_the_label_of_an_axis_is_read() -> None:
    font = ImageFont.load_default(24)
    label = Image.new("L", (260, 40), 255)
    ImageDraw.Draw(label).text((5, 5), "Sales in thousands", fill=0, font=font)
    page = Image.new("L", (500, 400), 255)
    page.paste(label.rotate(90, expand=True), (60, 60))
    first = Line("spuesnou! sejes", Box(65, 90, 95, 316), 0.79)
    (found,) = read_rising([first], page, FasterPaddle().lines)
    assert found.text == "Sales in thousands"
