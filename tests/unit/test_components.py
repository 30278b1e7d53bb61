import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tasks.work.components import Boxes, Mask, boxes, glyphs, turned


def _mask(*rows: str) -> Mask:
    return np.array([[mark == "#" for mark in row] for row in rows])


def _sorted(found: Boxes) -> list[tuple[int, ...]]:
    return sorted(tuple(map(int, box)) for box in found)


def _by_hand(ink: Mask) -> list[tuple[int, ...]]:
    """The same boxes, by walking from pixel to pixel."""
    left = {(int(y), int(x)) for y, x in zip(*np.nonzero(ink), strict=True)}
    found = []
    while left:
        piece, open_ = set(), [left.pop()]
        while open_:
            y, x = open_.pop()
            piece.add((y, x))
            near = {(y + dy, x + dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)} & left
            left -= near
            open_ += near
        ys, xs = zip(*piece, strict=True)
        found.append((min(xs), min(ys), max(xs) + 1, max(ys) + 1))
    return sorted(found)


def test_pieces_that_touch_at_corners_hang_together() -> None:
    assert _sorted(boxes(_mask("#..", ".#.", "..#"))) == [(0, 0, 3, 3)]


def test_pieces_with_a_gap_are_two() -> None:
    assert _sorted(boxes(_mask("##..#", "....#"))) == [(0, 0, 2, 1), (4, 0, 5, 2)]


def test_arms_that_meet_far_below_are_one_piece() -> None:
    assert _sorted(boxes(_mask("#.#.#", "#.#.#", "#.###", "###.."))) == [(0, 0, 5, 4)]


def test_a_clean_sheet_has_no_pieces() -> None:
    assert boxes(np.zeros((5, 7), bool)).shape == (0, 4)


@settings(max_examples=60, deadline=None)
@given(arrays(bool, st.tuples(st.integers(1, 14), st.integers(1, 14))))
def test_boxes_are_those_found_by_walking(ink: Mask) -> None:
    assert _sorted(boxes(ink)) == _by_hand(ink)


def test_spots_rules_and_pictures_are_no_letters() -> None:
    letter, word = (10, 10, 18, 22), (30, 10, 90, 22)
    others = [(0, 0, 1, 1), (0, 50, 500, 53), (100, 100, 400, 400), (5, 5, 7, 90)]
    found = glyphs(np.array([letter, word, *others]), height=1000)
    assert _sorted(found) == [letter, word]


@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
def test_boxes_turned_are_those_of_the_turned_picture(degrees: int) -> None:
    ink = np.random.default_rng(3).random((40, 70)) < 0.2
    again = boxes(np.rot90(ink, -degrees // 90))
    assert _sorted(turned(boxes(ink), (70, 40), degrees)) == _sorted(again)
