import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.recipe import Recipe
from tasks.work.sizing import MIN_SIDE_PX, Choice, choose, least_side, on_grid, tokens_saved

A4 = (595.0, 842.0)
CEILING = 400 / 72
LEGIBLE = Recipe(resolution="legible", grid_px=28, min_pixels=200_000, max_pixels=4_000_000, x_height_px=10)


def _chosen(x_height: float | None, recipe: Recipe = LEGIBLE) -> Choice:
    return choose(*A4, recipe, CEILING, x_height)


def test_small_letters_become_as_high_as_the_recipe_says() -> None:
    assert _chosen(5.0) == Choice(2.0, "legible")


def test_smaller_print_needs_a_larger_picture() -> None:
    assert _chosen(4.0).scale > _chosen(5.0).scale


def test_the_finest_print_gets_the_most_pixels() -> None:
    scale, reason = _chosen(1.0)
    assert reason == "most"
    assert 3_900_000 < A4[0] * A4[1] * scale**2 < 4_000_000


def test_a_poster_keeps_the_fewest_pixels() -> None:
    scale, reason = _chosen(60.0)
    assert reason == "least"
    assert A4[0] * A4[1] * scale**2 == pytest.approx(200_000)


def test_without_running_text_the_long_edge_decides() -> None:
    scale, reason = _chosen(None)
    assert scale == pytest.approx(1540 / 842, rel=1e-4)
    assert reason == "unknown"


def test_fixed_does_not_ask_for_the_text() -> None:
    assert _chosen(2.0, Recipe()).scale == pytest.approx(1540 / 842, rel=1e-4)
    assert _chosen(2.0, Recipe()).reason == "fixed"


def test_max_is_all_that_is_allowed_whatever_the_long_edge() -> None:
    most = _chosen(None, Recipe(resolution="max"))
    assert most.reason == "max"
    assert most.scale == pytest.approx((4_000_000 / (A4[0] * A4[1])) ** 0.5, rel=0.001)


def test_nothing_is_drawn_finer_than_is_worth_it() -> None:
    assert choose(100, 100, Recipe(resolution="max"), CEILING, None).scale == CEILING


@given(
    st.floats(20, 5_000),
    st.floats(20, 5_000),
    st.floats(0.5, 50),
    st.sampled_from([1, 14, 28, 32]),
    st.sampled_from(["fixed", "legible", "max"]),
)
def test_sides_are_on_the_grid_and_pixels_within_the_most(
    width: float, height: float, x_height: float, grid: int, resolution: str
) -> None:
    recipe = Recipe.model_validate(
        {"grid_px": grid, "resolution": resolution, "min_pixels": 100_000, "max_pixels": 2_000_000}
    )
    scale, _ = choose(width, height, recipe, CEILING, x_height)
    size = on_grid(width, height, scale, recipe)
    assert all(side % grid == 0 and side >= grid for side in size)
    # A sliver keeps one cell across, however thin it is.
    assert size[0] * size[1] <= 2_000_000 or min(size) == grid
    assert resolution != "fixed" or max(size) <= recipe.long_edge_px


@given(st.floats(100, 2_000), st.floats(100, 2_000), st.floats(0.3, 3))
def test_the_grid_moves_a_side_by_less_than_a_cell(width: float, height: float, scale: float) -> None:
    recipe = Recipe(resolution="max", grid_px=28, max_pixels=64_000_000)
    size = on_grid(width, height, scale, recipe)
    assert abs(size[0] - width * scale) <= 14
    assert abs(size[1] - height * scale) <= 14


def test_the_fewest_pixels_of_a_side_are_whole_cells() -> None:
    assert [least_side(Recipe(grid_px=grid)) for grid in (1, 28, 32)] == [MIN_SIDE_PX, 84, 64]


def test_tokens_saved_are_cells_less_than_at_the_most_pixels() -> None:
    full = on_grid(
        *A4, choose(*A4, LEGIBLE.model_copy(update={"resolution": "max"}), CEILING, None).scale, LEGIBLE
    )
    saved = tokens_saved(*A4, (28 * 30, 28 * 40), LEGIBLE, CEILING)
    assert saved == (full[0] // 28) * (full[1] // 28) - 30 * 40
    assert tokens_saved(*A4, full, LEGIBLE, CEILING) == 0


def test_without_a_grid_there_are_no_tokens_to_save() -> None:
    assert tokens_saved(*A4, (100, 100), Recipe(), CEILING) == 0
