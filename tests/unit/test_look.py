from pathlib import Path

import pymupdf
import pytest
from PIL import Image

from models.document import MediaType
from models.recipe import Recipe
from tasks.work import look
from tasks.work.blank import Ink
from tasks.work.look import Look
from tasks.work.pdf import printed
from tasks.work.pdf_print import Print
from tasks.work.preprocess import preprocess_page
from tests import factories
from tests.unit import pages, prints

ASKED = Recipe(orient=True, deskew=True, resolution="legible")


def _print(home: Path, data: bytes) -> Print:
    return printed(factories.write(home / "page.pdf", data), 1, ())


def _rotated(degrees: int) -> bytes:
    """A page of type whose lines run in a direction on the page as displayed."""
    with pymupdf.open() as document:  # type: ignore[no-untyped-call]
        page = document.new_page()
        for number, line in enumerate(prints.WORDS):
            page.insert_text((300 + 20 * number, 400), line[:40], fontsize=10, rotate=-degrees % 360)
        return bytes(document.tobytes())


def test_type_tells_its_size_and_direction(tmp_path: Path) -> None:
    found = _print(tmp_path, pages.born_digital())
    assert {(run.size_pt, run.direction) for run in found.runs} == {(12.0, 0)}
    assert sum(run.chars for run in found.runs) == sum(len(line.replace(" ", "")) for line in pages.LINES)
    assert found.pictures == 0


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_directions_are_those_of_the_page_as_displayed(tmp_path: Path, rotation: int) -> None:
    with pymupdf.open(stream=pages.born_digital()) as document:  # type: ignore[no-untyped-call]
        document[0].set_rotation(rotation)
        found = _print(tmp_path, bytes(document.tobytes()))
    assert {run.direction for run in found.runs} == {rotation}


def test_hidden_type_is_no_type(tmp_path: Path) -> None:
    assert _print(tmp_path, pages.born_digital(render_mode=3)).runs == ()


def test_a_small_picture_takes_nothing_from_the_type_around_it(tmp_path: Path) -> None:
    with pymupdf.open(stream=pages.born_digital()) as document:  # type: ignore[no-untyped-call]
        document[0].insert_image((60, 600, 120, 660), stream=factories.picture_bytes(prints.page(height=200)))
        found = _print(tmp_path, bytes(document.tobytes()))
    assert found.runs == _print(tmp_path, pages.born_digital()).runs
    assert 0 < found.pictures < 0.01


def test_a_scan_is_covered_by_its_picture(tmp_path: Path) -> None:
    found = _print(tmp_path, factories.scan_pdf(prints.page()))
    assert found.pictures == pytest.approx(1, abs=0.01)
    assert look.at_type(found, ASKED) is None


@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
def test_type_that_runs_another_way_is_turned_without_a_look_at_pixels(tmp_path: Path, degrees: int) -> None:
    seen = look.at_type(_print(tmp_path, _rotated(degrees)), ASKED)
    assert seen is not None
    assert seen.turn == -degrees % 360


def test_type_that_runs_all_ways_stays_as_it_is() -> None:
    runs = tuple(prints.run(10, 100, direction) for direction in (0, 90, 180, 270))
    assert look.at_type(Print(runs, 0.0), ASKED) == Look(0, 0.0, 4.8)


def test_a_stamp_on_a_scan_does_not_speak_for_it() -> None:
    assert look.at_type(Print((prints.run(8, 60),), 0.97), ASKED) is None


def test_one_word_on_a_page_without_pictures_speaks_for_it() -> None:
    assert look.at_type(Print((prints.run(20, 5, 180),), 0.0), ASKED) == Look(180, 0.0, 9.6)


def test_a_figure_in_a_text_may_hold_smaller_print() -> None:
    assert look.has_pictures(Print((), 0.3))
    assert not look.has_pictures(Print((), 0.02))


def test_a_scan_upside_down_and_askew_is_seen_through() -> None:
    sheet = prints.slanted(prints.page(), 2.0).rotate(180)
    seen = look.at_picture(sheet, ASKED)
    assert seen.turn == 180
    assert seen.skew == pytest.approx(2.0, abs=0.1)
    assert seen.x_height == pytest.approx(0.54 * 20, rel=0.2)


def test_a_turn_that_is_known_is_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(look.orientation, "turn_of")
    seen = look.at_picture(prints.page().rotate(180), Recipe(orient=True), turn=180)
    assert seen.turn == 180
    assert seen.x_height == pytest.approx(0.54 * 20, rel=0.2)
    assert seen.letters > 100


def test_ink_that_is_known_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(look.blank, "ink_and_marks")
    seen = look.at_picture(prints.page(), Recipe(), ink=(known := Ink(0.125, is_blank=False)))
    assert seen.ink == known
    assert seen.letters > 100


@pytest.mark.slow
def test_only_what_was_asked_for_is_looked_for() -> None:
    sheet = prints.slanted(prints.page(), 2.0).rotate(180)
    assert look.at_picture(sheet, Recipe(orient=True))[:2] == (180, 0.0)
    straightened = look.at_picture(sheet, Recipe(deskew=True))
    assert straightened.turn == 0
    assert straightened.skew == pytest.approx(2.0, abs=0.1)
    assert not look.is_asked(Recipe())


def test_a_blank_sheet_shows_nothing() -> None:
    assert look.at_picture(Image.new("L", (500, 700), 240), ASKED) == Look(ink=Ink(0.0, is_blank=True))


def test_a_page_whose_content_is_damaged_is_looked_at_as_a_picture(tmp_path: Path) -> None:
    with pymupdf.open(stream=factories.scan_pdf(prints.page(lines=3))) as document:  # type: ignore[no-untyped-call]
        (picture,) = document[0].get_images()
        document.xref_set_key(picture[0], "ColorSpace", "[/Indexed 99 0 R]")
        found = _print(tmp_path, bytes(document.tobytes()))
    assert look.at_type(found, ASKED) is None


@pytest.mark.slow
def test_the_smaller_of_type_and_figure_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through preprocess: a figure with small print in a page of large type, which tells the turn of both."""
    monkeypatch.delattr(look.orientation, "turn_of")
    with pymupdf.open(stream=pages.born_digital()) as document:  # type: ignore[no-untyped-call]
        figure = prints.page(size_px=16, lines=24, height=800)
        document[0].insert_image((60, 300, 540, 652), stream=factories.picture_bytes(figure))
        path = factories.write(tmp_path / "page.pdf", bytes(document.tobytes()))
    recipe = Recipe(resolution="legible", x_height_px=10, orient=True)
    made = preprocess_page(path, MediaType.PDF, 1, recipe, tmp_path / "store")
    assert made.reason == "legible-pixels"
    # 1,089 px of the figure lie on 480 points; its letters are 8.6 px high.
    assert made.width_px / 595 == pytest.approx(10 / (0.54 * 16 * 480 / 1089), rel=0.25)
