"""The measurement of reading by regions, on made pages."""

from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from bench.region_sheets import KINDS, SIZE, SMALL, Sheet, columns, single
from bench.regions import asked, cut, kept, layers, request_of
from models import profiles
from models.geometry import Box
from tasks.work import regions_net
from tests import factories
from tests.unit.paperwork import found, two_columns

GLM = profiles.get("glm-ocr")


def test_a_made_page_is_always_the_same_and_another_number_is_another() -> None:
    page = columns(1)
    assert page.picture.size == SIZE
    assert page.text.count("\n\n") == 6
    assert columns(1).text == page.text
    assert columns(2).text != page.text


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_every_line_of_a_made_page_stands_where_it_is_said_to(name: str) -> None:
    page = KINDS[name](4)
    assert sum(map(len, page.passages)) == len(page.boxes)
    for box in page.boxes:
        shown = page.picture.convert("L").crop(tuple(map(int, box)))
        assert shown.getextrema()[0] < 128
        assert min(box) >= 0
        assert box.x1 <= SIZE[0] - 60
        assert box.y1 <= SIZE[1] - 40


def test_a_small_page_is_what_a_small_model_takes() -> None:
    page = single(1, SMALL)
    assert page.picture.size == SMALL
    assert len(page.passages) > 2


def lined(picture: Image.Image, *boxes: Box) -> Sheet:
    return Sheet(picture, (), boxes)


def test_lines_that_no_region_shows_whole_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    columns_found = [found("text", 105, 255, 600, 430), found("text", 675, 255, 1_170, 430)]
    monkeypatch.setattr(regions_net, "find", lambda _: columns_found)
    left, right, across = Box(110, 260, 560, 290), Box(680, 260, 1_100, 290), Box(110, 300, 1_100, 330)
    told = kept(lined(two_columns(), left, right))
    assert (told.lines, told.cut, told.ink, told.order) == (2, 0, 0.0, 1.0)
    assert kept(lined(two_columns(), right, left)).order == 0.0
    assert kept(lined(two_columns(), left, across)).cut == 1


def test_a_page_that_is_asked_for_whole_keeps_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regions_net, "find", lambda _: [])
    page = columns(1)
    one = replace(page, picture=page.picture.crop((0, 0, 620, 440)).copy(), boxes=page.boxes[1:7])
    one.picture.paste("white", (0, 0, 620, 200))
    told = kept(one)
    assert (told.regions, told.cut, told.order) == (1, 0, 1.0)


@pytest.mark.slow
def test_a_made_page_has_a_region_for_every_passage(tmp_path: Path) -> None:
    page = columns(3)
    request = request_of(page.picture, GLM, tmp_path)
    assert len(asked(request, GLM, tmp_path)) == 7
    assert cut(request, GLM, tmp_path).seconds > 0
    assert kept(page).order == 1.0


@pytest.mark.slow
def test_words_of_a_text_layer_are_found_on_the_picture(tmp_path: Path) -> None:
    factories.write(tmp_path / "a.pdf", factories.pdf("The main pump stands behind the wall"))
    (tmp_path / "a.pdf.gt.txt").write_text("The main pump stands behind the wall")
    (tmp_path / "manifest.csv").write_text(
        "file,kind,language,ground_truth,password\na.pdf,born-digital pdf,en,,\n"
    )
    (page,) = layers(tmp_path, 1, tmp_path / "home")
    assert len(page.boxes) == 7
    assert kept(page).lines == 7
