"""What people and machines leave on blank sheets, beside what little writing may stand there."""

import numpy as np
import pytest
from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont

from tasks.work import blank, components
from tasks.work.blank import differences, ink_and_marks, marks, measure, strokes
from tests.unit import prints

SIZE = (1089, 1540)


def _sheet(grey: int = 255) -> Image.Image:
    return Image.new("L", SIZE, grey)


def _punched(sheet: Image.Image, *middles: tuple[int, int], radius: int = 15, fill: int = 0) -> Image.Image:
    pen = ImageDraw.Draw(sheet)
    for x, y in middles:
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=fill)
    return sheet.filter(ImageFilter.GaussianBlur(0.6))


def _written(sheet: Image.Image, text: str, at: tuple[int, int], size_px: int) -> Image.Image:
    ImageDraw.Draw(sheet).text(at, text, fill=20, font=ImageFont.load_default(size_px))
    return sheet


def _soft_noise(share: float, paper: int, seed: int = 1) -> Image.Image:
    """Specks that a scanner's optics spread over their neighbours."""
    rng = np.random.default_rng(seed)
    pixels = np.full(SIZE[::-1], paper, np.uint8)
    where = np.less(rng.random(pixels.shape), share)
    pixels[where] = rng.integers(0, 256, int(where.sum()))
    return Image.fromarray(pixels).filter(ImageFilter.GaussianBlur(0.6))


@pytest.mark.parametrize("paper", [255, 170])
@pytest.mark.parametrize("radius", [9, 15, 28])
def test_two_holes_at_the_side_are_nothing_to_read(paper: int, radius: int) -> None:
    assert measure(_punched(_sheet(paper), (60, 540), (60, 1000), radius=radius)).is_blank


def test_four_holes_at_the_top_of_a_dark_sheet_are_nothing_to_read() -> None:
    holes = [(x, 50) for x in (140, 410, 680, 950)]
    assert measure(_punched(_sheet(60), *holes, fill=250)).is_blank


def test_holes_hide_no_writing() -> None:
    page = _written(_sheet(), "7", (530, 1470), 22)
    assert not measure(_punched(page, (60, 540), (60, 1000))).is_blank


def test_a_letter_as_large_as_a_hole_is_none() -> None:
    for letter in "OQ0e8@":
        assert not measure(_written(_sheet(), letter, (40, 700), 44)).is_blank


def test_a_disc_in_the_middle_of_a_page_is_no_punched_hole() -> None:
    assert not measure(_punched(_sheet(), (540, 770))).is_blank


@pytest.mark.parametrize("paper", [255, 240, 60, 4])
@pytest.mark.parametrize("share", [0.003, 0.01])
def test_soft_specks_are_nothing_to_read(paper: int, share: float) -> None:
    assert measure(_soft_noise(share, paper)).is_blank


@pytest.mark.parametrize("share", [0.003, 0.01])
def test_a_line_of_print_stands_out_from_soft_specks(share: float) -> None:
    assert not measure(_written(_soft_noise(share, 250), prints.WORDS[0][:40], (200, 700), 22)).is_blank


@pytest.mark.parametrize("share", [0.04, 0.08, 0.12])
def test_the_other_side_showing_through_is_nothing_to_read(share: float) -> None:
    back = prints.page().transpose(Image.Transpose.FLIP_LEFT_RIGHT).filter(ImageFilter.GaussianBlur(2))
    faint = back.point(lambda level: round((255 - level) * share))
    assert measure(ImageChops.subtract(_sheet(245), faint)).is_blank


def test_a_page_of_print_over_the_other_side_is_not_blank() -> None:
    back = prints.page().rotate(180).filter(ImageFilter.GaussianBlur(2))
    faint = back.point(lambda level: round((255 - level) * 0.1))
    assert not measure(ImageChops.subtract(prints.page(lines=2), faint)).is_blank


@pytest.mark.parametrize("sheet", [_sheet(), prints.page(lines=4), _soft_noise(0.01, 240)])
def test_one_look_says_what_two_would(sheet: Image.Image) -> None:
    ink, found = ink_and_marks(differences(sheet))
    assert ink == measure(sheet)
    assert (found == marks(sheet)).all()


def test_marks_are_where_the_print_is() -> None:
    found = marks(_written(_sheet(), "Here", (400, 700), 40))
    rows, columns = np.nonzero(found)
    assert 700 <= rows.min() < rows.max() < 760
    assert 395 <= columns.min() < columns.max() < 520


def test_letters_that_blur_into_each_other_part_where_strokes_are_told_from_their_edges() -> None:
    page = prints.page(size_px=18, lines=20)
    blurred = page.filter(ImageFilter.GaussianBlur(0.7))
    clean, joined = (len(components.boxes(marks(sheet))) for sheet in (page, blurred))
    differs = differences(blurred)
    parted = len(components.boxes(strokes(differs, marks(blurred))))
    assert joined < 0.75 * clean
    assert parted > 0.9 * clean


def test_faint_print_beside_black_has_strokes_as_well() -> None:
    faint = _written(_sheet(), "Faint", (400, 700), 40).point(lambda level: 255 - (255 - level) // 5)
    sheet = ImageChops.darker(faint, _written(_sheet(), "Black", (400, 200), 40))
    found = strokes(differences(sheet), marks(sheet))
    assert found[680:780].sum() > 0.5 * found[180:280].sum() > 0


def test_white_print_on_black_has_marks_as_well() -> None:
    page = ImageChops.invert(prints.page(lines=6))
    dark, light = marks(page).sum(), marks(prints.page(lines=6)).sum()
    assert dark == pytest.approx(light, rel=0.2)


def test_a_page_full_of_print_is_known_by_a_quarter_of_its_pixels(monkeypatch: pytest.MonkeyPatch) -> None:
    page = prints.page(size_px=16, lines=58)
    closely, _ = ink_and_marks(differences(page))
    monkeypatch.delattr(blank, "_measured")
    glance = measure(page)
    assert not glance.is_blank
    assert glance.share == pytest.approx(closely.share, rel=0.25)


@pytest.mark.parametrize("share", [0.02, 0.05])
def test_noise_is_not_mistaken_for_print_at_a_glance(share: float) -> None:
    noise = np.random.default_rng(3).random(SIZE[::-1]) < share
    assert measure(Image.fromarray(np.where(noise, 0, 250).astype(np.uint8))).share < share
