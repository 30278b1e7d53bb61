"""Pieces of ink and the letters among them, on patterns whose answer is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.work import components, legibility


@given(st.integers(1, 6), st.integers(1, 6), st.integers(2, 4))
def test_a_grid_of_squares_has_a_piece_for_each(rows: int, columns: int, side: int) -> None:
    ink = np.zeros((rows * 8, columns * 8), bool)
    for row in range(rows):
        for column in range(columns):
            ink[row * 8 : row * 8 + side, column * 8 : column * 8 + side] = True
    found = components.boxes(ink)
    assert len(found) == rows * columns
    assert {tuple(box[2:] - box[:2]) for box in found} == {(side, side)}


@pytest.mark.parametrize(
    ("size", "is_letter"),
    [
        ((2, 3), True),
        ((1, 9), False),
        ((9, 2), False),
        ((60, 60), True),
        ((60, 61), False),
        ((36, 3), True),
        ((37, 3), False),
        ((2, 16), True),
        ((2, 17), False),
    ],
)
def test_a_letter_is_neither_a_spot_nor_a_rule_nor_a_picture(size: tuple[int, int], is_letter: bool) -> None:
    box = np.array([[10, 10, 10 + size[0], 10 + size[1]]], np.int64)
    assert (len(components.glyphs(box, 1_000)) == 1) is is_letter


@given(st.integers(6, 40), st.floats(0.5, 3.0))
def test_letters_twice_as_large_have_twice_the_height(height: int, factor: float) -> None:
    across, down = np.meshgrid(np.arange(20) * 50, np.arange(10) * 100)
    corner = np.stack([across.ravel(), down.ravel()], axis=1)
    letters = np.concatenate([corner, corner + height], axis=1).astype(np.int64)
    assert legibility.of_letters(letters, (1_000, 1_000)) == pytest.approx(height)
    larger = np.round(letters * factor).astype(np.int64)
    found = legibility.of_letters(larger, (int(1_000 * factor), int(1_000 * factor)))
    assert found == pytest.approx(height * factor, abs=1.0)
    assert legibility.of_letters(letters[:29], (1_000, 1_000)) is None
