import numpy as np
import pytest
from PIL import Image

from tasks.work.blank import marks
from tasks.work.components import boxes, glyphs
from tasks.work.legibility import X_HEIGHT, of_letters, of_runs
from tests.unit import prints


def _seen(sheet: Image.Image) -> float | None:
    return of_letters(glyphs(boxes(marks(sheet)), sheet.height), sheet.size)


def test_a_page_in_one_size_has_that_size() -> None:
    assert of_runs([prints.run(10, 2_000)]) == X_HEIGHT * 10


def test_footnotes_decide_and_not_the_text_above_them() -> None:
    assert of_runs([prints.run(11, 2_000), prints.run(8, 150), prints.run(24, 30)]) == X_HEIGHT * 8


def test_exponents_and_signs_do_not_decide() -> None:
    assert of_runs([prints.run(11, 2_000), prints.run(5, 12)]) == X_HEIGHT * 11


def test_a_title_alone_is_the_smallest_text_there_is() -> None:
    assert of_runs([prints.run(30, 12)]) == X_HEIGHT * 30


def test_a_page_without_type_tells_nothing() -> None:
    assert of_runs([]) is None


@pytest.mark.parametrize("size_px", [14, 20, 28, 40])
def test_small_letters_are_measured_to_a_pixel_or_two(size_px: int) -> None:
    found = _seen(prints.page(size_px=size_px, lines=16))
    assert found == pytest.approx(0.54 * size_px, rel=0.2)


def test_small_print_under_large_print_decides() -> None:
    sheet = prints.page(size_px=34, lines=10)
    sheet.paste(prints.page(size_px=13, lines=20).crop((0, 90, 1089, 500)), (0, 1000))
    assert _seen(sheet) == pytest.approx(0.54 * 13, rel=0.25)


def test_text_of_many_capitals_and_figures_is_not_taken_for_larger_than_it_is() -> None:
    # Seven letters of twenty are small ones.
    rows, columns = np.divmod(np.arange(40 * 40), 40)
    heights = np.where(columns * 7 % 20 < 7, 10, 14)
    left, foot = columns * 20, rows * 24 + 20
    letters = np.stack([left, foot - heights, left + 9, foot], axis=1)
    assert of_letters(letters, (800, 980)) == 10


def test_a_handful_of_marks_tells_nothing() -> None:
    assert _seen(prints.page(lines=0)) is None
    assert of_letters(np.array([[1, 1, 9, 9]] * 20), (100, 100)) is None


def test_marks_in_no_order_are_no_print() -> None:
    rng = np.random.default_rng(5)
    corners = rng.integers(0, 980, (4_000, 2))
    sizes = rng.integers(4, 9, (4_000, 2))
    assert of_letters(np.concatenate([corners, corners + sizes], axis=1), (1000, 1000)) is None


def test_the_specks_of_an_illustration_do_not_decide() -> None:
    rng = np.random.default_rng(5)
    sheet = np.asarray(prints.page(size_px=24, lines=18)).copy()
    for x, y in rng.integers((40, 900), (1040, 1500), (4_000, 2)):
        sheet[y : y + 4, x : x + 4] = 0
    assert _seen(Image.fromarray(sheet)) == pytest.approx(0.54 * 24, rel=0.2)
