import math

import pytest

from models.geometry import Box
from tasks.work.lines import Line
from tasks.work.skew import slope_of, straighten
from tests.unit.boxes import column, line, turned, words_of


def _page() -> list[Line]:
    left = [f"L{n} " + "words in the left column "[: 10 + 3 * (n % 6)] for n in range(1, 31)]
    right = [f"R{n} " + "words in the right one too"[: 10 + 3 * (n % 6)] for n in range(1, 31)]
    return [
        line("A heading over all of the two columns", 100, 40),
        *column(left, 100, 100),
        *column(right, 560, 100),
    ]


@pytest.mark.parametrize("degrees", [-5.0, -2.0, 2.0, 5.0])
def test_the_slope_of_a_skewed_page_is_found_with_its_sign(degrees: float) -> None:
    slope = slope_of([each.box for each in turned(_page(), degrees)])
    assert slope == pytest.approx(math.tan(math.radians(degrees)), abs=0.02)


@pytest.mark.parametrize("degrees", [-4.0, 4.0])
def test_a_skewed_page_is_read_like_a_straight_one(degrees: float) -> None:
    skewed = turned(_page(), degrees)
    assert words_of(skewed) == words_of(_page())


def test_a_straight_page_is_left_alone() -> None:
    assert slope_of([each.box for each in _page()]) == 0.0
    assert [placed.frame for placed in straighten(_page())] == [each.box for each in _page()]


def test_a_few_lines_say_nothing_about_slope() -> None:
    assert slope_of([each.box for each in turned(_page()[:5], 4.0)]) == 0.0


def test_tall_ornaments_are_no_slope() -> None:
    page = _page() + [Line("§", Box(90 + 40 * n, 900 + 5 * n, 110 + 90 * n, 960 + 9 * n)) for n in range(8)]
    assert slope_of([each.box for each in page]) == 0.0
