"""What is blank and what is not, on sheets of A4 at 1,540 px."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from tasks.work import blank
from tasks.work.blank import measure

SIZE = (1089, 1540)


def _sheet(grey: int = 255) -> Image.Image:
    return Image.new("L", SIZE, grey)


def _written(
    text: str, font_px: int, ink: int, paper: int = 255, at: tuple[int, int] = (540, 1480)
) -> Image.Image:
    sheet = _sheet(paper)
    ImageDraw.Draw(sheet).text(at, text, fill=ink, font=ImageFont.load_default(font_px))
    return sheet


def _noisy(share: float, paper: int) -> Image.Image:
    rng = np.random.default_rng(1)
    pixels = np.full(SIZE[::-1], paper, np.uint8)
    where = rng.random(pixels.shape) < share
    pixels[where] = rng.integers(0, 256, int(where.sum()))
    return Image.fromarray(pixels)


@pytest.mark.parametrize("grey", [255, 245, 128, 40, 0])
def test_an_even_sheet_is_blank_white_grey_or_black(grey: int) -> None:
    assert measure(_sheet(grey)) == (0.0, True)


@pytest.mark.parametrize("paper", [255, 250, 128, 0])
@pytest.mark.parametrize("share", [0.005, 0.02])
def test_a_blank_page_with_noise_is_blank(share: float, paper: int) -> None:
    assert measure(_noisy(share, paper)).is_blank


def test_a_blank_page_with_the_grain_of_paper_is_blank() -> None:
    grain = np.random.default_rng(1).normal(235, 8, SIZE[::-1])
    assert measure(Image.fromarray(np.clip(grain, 0, 255).astype(np.uint8))).is_blank


@pytest.mark.parametrize("width", [1, 3, 8])
@pytest.mark.parametrize("slant", [0, 40])
def test_a_fold_is_nothing_to_read(width: int, slant: int) -> None:
    down, across = _sheet(), _sheet()
    ImageDraw.Draw(down).line((500, 0, 500 + slant, SIZE[1]), fill=120, width=width)
    ImageDraw.Draw(across).line((0, 700, SIZE[0], 700 + slant // 2), fill=120, width=width)
    assert measure(down).is_blank
    assert measure(across).is_blank


def test_the_black_edge_of_a_scan_is_nothing_to_read() -> None:
    sheet = _sheet()
    ImageDraw.Draw(sheet).rectangle((0, 0, 60, SIZE[1]), fill=0)
    assert measure(sheet).is_blank


def test_a_soft_shadow_is_paper() -> None:
    shadow = np.tile(np.linspace(150, 255, SIZE[0]).astype(np.uint8), (SIZE[1], 1))
    assert measure(Image.fromarray(shadow)).is_blank


def test_a_sheet_with_a_few_rules_is_blank() -> None:
    sheet = _sheet()
    for y in range(100, SIZE[1], 120):
        ImageDraw.Draw(sheet).line((0, y, SIZE[0], y), fill=150, width=2)
    assert measure(sheet).is_blank


@pytest.mark.parametrize("digit", ["1", "7"])
@pytest.mark.parametrize(("font_px", "ink"), [(11, 0), (12, 150), (14, 200), (20, 225)])
def test_a_page_number_is_something_to_read(digit: str, font_px: int, ink: int) -> None:
    assert not measure(_written(digit, font_px, ink)).is_blank


@pytest.mark.parametrize("ink", [0, 128, 200, 225])
def test_one_line_is_something_to_read_black_or_light_grey(ink: int) -> None:
    page = _written("One small line of text", 18, ink, at=(100, 700))
    assert not measure(page).is_blank


def test_white_letters_on_black_are_something_to_read() -> None:
    assert not measure(_written("On a black slide", 24, ink=255, paper=0)).is_blank


@pytest.mark.parametrize("title", ["HILL", "LL", "I"])
def test_large_straight_letters_are_no_lines(title: str) -> None:
    assert not measure(_written(title, 150, 0, at=(100, 300))).is_blank


def test_a_line_of_text_on_a_noisy_folded_page_is_found() -> None:
    page = _noisy(0.005, 250)
    draw = ImageDraw.Draw(page)
    draw.line((0, 770, SIZE[0], 772), fill=120, width=3)
    draw.text((100, 300), "Only this", fill=90, font=ImageFont.load_default(18))
    assert not measure(page).is_blank


def test_ink_grows_with_what_is_written() -> None:
    little = measure(_written("word", 24, 0, at=(100, 100)))
    much = measure(_written("\n".join(["many words in a line of text"] * 40), 24, 0, at=(100, 100)))
    assert 0 < little.share < much.share < 0.5


def test_colour_counts_by_its_lightness() -> None:
    page = Image.new("RGB", SIZE, "white")
    ImageDraw.Draw(page).text((100, 700), "Red words", fill="red", font=ImageFont.load_default(24))
    assert not measure(page).is_blank


@pytest.mark.parametrize("size", [(64, 64), (64, 1540), (65, 71), (8, 8)])
def test_any_size_can_be_measured(size: tuple[int, int]) -> None:
    assert measure(Image.new("L", size, 255)).is_blank
    assert measure(Image.effect_noise(size, 200)).share >= 0


@pytest.mark.parametrize("length", [1, 2, 3, 48, 200])
def test_windows_of_any_length_are_summed_exactly(length: int) -> None:
    mask = np.random.default_rng(length).random((203, 5)) < 0.9
    expected = [mask[first : first + length].sum(axis=0) for first in range(203 - length + 1)]
    assert (blank._sums(mask, length) == expected).all()
