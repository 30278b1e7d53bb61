"""A page image keeps within its recipe's budget, whatever the page's size."""

import math

from hypothesis import given
from hypothesis import strategies as st

from models.recipe import Recipe
from tasks.work.sizing import choose

sides = st.floats(0.5, 50_000, allow_nan=False)
recipes = st.builds(Recipe, long_edge_px=st.integers(256, 8192), max_pixels=st.integers(65_536, 64_000_000))


@given(width=sides, height=sides, recipe=recipes)
def test_a_scaled_page_is_within_the_budget_in_whole_pixels(
    width: float, height: float, recipe: Recipe
) -> None:
    scale = choose(width, height, recipe, math.inf, None).scale
    # A renderer rounds each side up.
    across, down = int(width * scale) + 1, int(height * scale) + 1
    assert max(across, down) <= recipe.long_edge_px
    assert across * down <= recipe.max_pixels


@given(width=st.floats(100, 5_000), height=st.floats(100, 5_000), recipe=recipes)
def test_the_budget_is_used(width: float, height: float, recipe: Recipe) -> None:
    scale = choose(width, height, recipe, math.inf, None).scale
    uses_edge = max(width, height) * scale > 0.99 * recipe.long_edge_px
    uses_area = width * height * scale * scale > 0.9 * recipe.max_pixels
    assert uses_edge or uses_area
