import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from PIL import Image, ImageFilter

from tasks.work.ranks import Cells, ranked


def _by_pillow(cells: Cells, side: int, rank: int) -> Cells:
    return np.asarray(Image.fromarray(cells).filter(ImageFilter.RankFilter(side, rank)))


@given(
    arrays(np.uint8, array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=24)),
    st.sampled_from((3, 5, 9)),
    st.floats(0, 1),
)
def test_it_is_what_pillow_says(cells: Cells, side: int, share: float) -> None:
    rank = round((side * side - 1) * share)
    assert np.array_equal(ranked(cells, side, rank), _by_pillow(cells, side, rank))


@pytest.mark.parametrize(("rank", "expected"), [(0, 0), (4, 4), (8, 8)])
def test_ranks_count_from_the_darkest(rank: int, expected: int) -> None:
    cells = np.arange(9, dtype=np.uint8).reshape(3, 3)
    assert ranked(cells, 3, rank)[1, 1] == expected


def test_cells_at_an_edge_count_again_beyond_it() -> None:
    cells = np.array([[200, 0, 0], [0, 0, 0], [0, 0, 0]], np.uint8)
    # The corner stands for itself and for three beyond; a corner's window has nine cells.
    assert ranked(cells, 3, 5)[0, 0] == 200
    assert ranked(cells, 3, 4)[0, 0] == 0


def test_what_was_given_stays_as_it_was() -> None:
    cells = np.full((4, 4), 255, np.uint8)
    assert ranked(cells, 3, 4).min() == 255
    assert cells.min() == 255
