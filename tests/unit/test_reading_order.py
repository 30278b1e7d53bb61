"""In which order regions are read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.geometry import Box
from tasks.work.reading_order import Direction, direction_of, ordered

ARABIC, JAPANESE, HEBREW = "نص عربي قصير", "春は曙やうやう", "שלום עולם"


def read(way: Direction = Direction.RIGHT, **boxes: tuple[float, float, float, float]) -> str:
    """Names of boxes in reading order."""
    names = sorted(boxes, reverse=True)
    return "".join(names[place] for place in ordered([Box(*boxes[name]) for name in names], way))


def test_one_column_is_read_from_top_to_bottom() -> None:
    assert read(a=(0, 0, 100, 10), b=(0, 20, 50, 30), c=(0, 40, 100, 90)) == "abc"


def test_of_two_columns_the_left_one_is_read_first() -> None:
    assert read(a=(0, 0, 45, 50), b=(0, 55, 45, 100), c=(55, 0, 100, 30), d=(55, 35, 100, 100)) == "abcd"


def test_a_title_over_both_columns_comes_first_and_a_note_below_them_last() -> None:
    columns = {"b": (0, 20, 45, 80), "c": (55, 20, 100, 80)}
    assert read(a=(10, 0, 90, 10), d=(0, 90, 100, 95), **columns) == "abcd"


def test_a_picture_across_cuts_the_columns() -> None:
    above = {"a": (0, 0, 45, 30), "b": (55, 0, 100, 30)}
    below = {"d": (0, 60, 45, 100), "e": (55, 60, 100, 100)}
    assert read(c=(0, 35, 100, 55), **above, **below) == "abcde"


def test_three_columns_are_read_one_after_the_other() -> None:
    assert read(a=(0, 0, 30, 99), b=(35, 0, 65, 50), c=(35, 52, 65, 99), d=(70, 0, 100, 99)) == "abcd"


def test_what_stands_in_one_row_without_columns_is_read_from_the_left() -> None:
    assert read(a=(0, 0, 40, 10), b=(60, 0, 100, 10), c=(0, 20, 100, 90)) == "abc"


def test_a_narrow_side_column_is_read_before_the_text_beside_it() -> None:
    main = {"c": (30, 0, 100, 40), "d": (30, 45, 100, 100)}
    assert read(a=(0, 10, 25, 20), b=(0, 30, 25, 60), **main) == "abcd"


def test_a_box_beside_the_text_is_read_after_it_wherever_its_paragraphs_end() -> None:
    text = {"a": (0, 0, 62, 20), "b": (0, 25, 63, 40), "c": (0, 45, 60, 60), "d": (0, 65, 64, 80)}
    assert read(**text, e=(70, 10, 100, 60)) == "abcde"


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_and_one_region_have_one_order(count: int) -> None:
    assert ordered([Box(0, 0, 1, 1)] * count) == list(range(count))


def test_where_lines_run_to_the_left_the_right_column_is_read_first() -> None:
    columns = {"b": (55, 20, 100, 80), "c": (0, 20, 45, 50), "d": (0, 55, 45, 80)}
    assert read(Direction.LEFT, a=(10, 0, 90, 10), e=(0, 90, 100, 95), **columns) == "abcde"


def test_where_lines_run_down_tiers_are_read_from_above_each_from_the_right() -> None:
    upper = {"b": (50, 10, 80, 48), "c": (0, 10, 45, 48)}
    lower = {"d": (60, 52, 80, 95), "e": (0, 52, 55, 95)}
    assert read(Direction.DOWN, a=(90, 0, 100, 95), **upper, **lower) == "abcde"


@pytest.mark.parametrize(
    ("text", "runs_down", "way"),
    [
        ("Plain words", False, "RIGHT"),
        ("Plain words", True, "RIGHT"),
        (ARABIC, False, "LEFT"),
        (HEBREW, True, "LEFT"),
        (JAPANESE, False, "RIGHT"),
        (JAPANESE, True, "DOWN"),
        ("12, 34; 56", True, "RIGHT"),
        ("", True, "RIGHT"),
        ("אב ab", False, "RIGHT"),
        ("אבג ab", False, "LEFT"),
        ("春ab", True, "RIGHT"),
        ("春は曙ab", True, "DOWN"),
    ],
)
def test_most_letters_say_which_way_a_page_runs(text: str, runs_down: bool, way: str) -> None:
    assert direction_of(text, runs_down=runs_down) is Direction[way]


side = st.integers(0, 60)


@given(st.lists(st.tuples(side, side, side, side), max_size=15), st.sampled_from(Direction))
def test_every_region_is_read_once_wherever_they_lie(
    corners: list[tuple[int, int, int, int]], way: Direction
) -> None:
    boxes = [Box(x, y, x + width + 1, y + height + 1) for x, y, width, height in corners]
    assert sorted(ordered(boxes, way)) == list(range(len(boxes)))
