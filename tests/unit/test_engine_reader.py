from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from models.errors import Code, PageFailed, PictureGone
from models.geometry import Box
from models.reading import BlockType, ReadingSource
from models.recipe import TextLayerPolicy
from tasks.work.engines.ppocr import FasterPaddle
from tasks.work.engines.reader import Reader, read_page
from tasks.work.lines import Line
from tasks.work.metrics import agreement, cer
from tests import factories
from tests.unit import pages

pytestmark = pytest.mark.slow

TEXT = "\n".join(pages.LINES)


def _never() -> Reader:
    raise AssertionError("the engine was asked")


class Counting(FasterPaddle):
    """Counts how many pictures of what height it is given."""

    heights: Sequence[int] = ()

    def lines(self, picture: bytes) -> list[Line]:
        found = super().lines(picture)
        type(self).heights = (*type(self).heights, round(max(line.box.y1 for line in found)))
        return found


class Dirty:
    """A library that returns what Postgres refuses."""

    name = "dirty 1"

    def lines(self, picture: bytes) -> list[Line]:
        return [Line("nul\x00 and\nhalf \ud800 sign", Box(0, 0, 100, 20), 0.5)]


@pytest.mark.parametrize("policy", ["check", "prefer", "ignore"])
def test_a_scan_is_read_whatever_the_policy(policy: TextLayerPolicy, tmp_path: Path) -> None:
    scan = factories.scan_pdf(factories.picture(TEXT, (1240, 1754), font_px=32))
    reading = read_page(FasterPaddle, pages.made(scan, tmp_path, policy), pages.READABLE)
    assert reading.source is ReadingSource.OCR
    assert cer(TEXT, reading.text) < 0.02
    assert reading.layer_agreement is None
    assert reading.confidence is not None
    assert reading.confidence > 0.9


def test_check_reads_the_page_and_says_how_far_the_layer_agrees(tmp_path: Path) -> None:
    reading = read_page(FasterPaddle, pages.made(pages.born_digital(), tmp_path), pages.READABLE)
    assert reading.source is ReadingSource.OCR
    assert reading.layer_agreement is not None
    assert reading.layer_agreement > 0.95
    assert reading.notes == ()


def test_check_measures_no_agreement_with_a_layer_that_is_not_sane(tmp_path: Path) -> None:
    page = pages.made(pages.born_digital(render_mode=3), tmp_path)
    reading = read_page(FasterPaddle, page, pages.READABLE)
    assert reading.layer_agreement is None
    assert reading.notes == ("layer-rejected:invisible",)


def test_prefer_takes_a_sane_layer_as_it_is(tmp_path: Path) -> None:
    page = pages.made(pages.born_digital(), tmp_path, "prefer")
    reading = read_page(FasterPaddle, page, pages.READABLE)
    assert reading.source is ReadingSource.TEXT_LAYER
    assert reading.engine == "text-layer"
    assert cer(TEXT, reading.text) == 0.0
    assert reading.confidence is None


def test_prefer_reads_only_a_small_picture_of_a_few_lines(tmp_path: Path) -> None:
    page = pages.made(pages.born_digital(*pages.LINES * 6), tmp_path, "prefer")
    read_page(Counting, page, pages.READABLE)
    assert len(Counting.heights) == 1
    assert Counting.heights[0] < page.image.height_px / 5


def test_prefer_reads_the_page_where_the_layer_is_not_sane(tmp_path: Path) -> None:
    other = "\n".join(["Wholly other sentences stand here in the hidden layer of it"] * 5)
    page = pages.made(pages.scan_with_layer(TEXT, other), tmp_path, "prefer")
    reading = read_page(FasterPaddle, page, pages.READABLE)
    assert reading.source is ReadingSource.OCR
    assert reading.notes == ("layer-rejected:differs",)
    assert agreement(TEXT, reading.text) > 0.9


def test_ignore_does_not_look_at_the_layer(tmp_path: Path) -> None:
    reading = read_page(FasterPaddle, pages.made(pages.born_digital(), tmp_path, "ignore"), pages.READABLE)
    assert (reading.source, reading.layer_agreement) == (ReadingSource.OCR, None)


def test_a_sane_layer_in_a_script_the_model_cannot_read_is_named(tmp_path: Path) -> None:
    path = pages.corpus("digital-ru-install-guide.pdf")
    checked = read_page(FasterPaddle, pages.request(path, tmp_path, "check", 3), pages.READABLE)
    taken = read_page(FasterPaddle, pages.request(path, tmp_path, "prefer", 3), pages.READABLE)
    assert checked.notes == ("script-unsupported",)
    assert (taken.source, taken.notes) == (ReadingSource.TEXT_LAYER, ("layer-unproven",))


def test_text_is_clean_and_on_one_line_a_line(tmp_path: Path) -> None:
    reading = read_page(Dirty, pages.made(pages.born_digital(), tmp_path, "ignore"), pages.READABLE)
    assert reading.text == "nul and half sign"


def test_a_page_image_that_is_no_picture_fails_the_page(tmp_path: Path) -> None:
    page = pages.made(pages.born_digital(), tmp_path)
    broken = replace(page, path=factories.write(tmp_path / "broken.jpg", b"no picture"))
    for policy in ("check", "ignore"):
        recipe = page.recipe.model_copy(update={"text_layer": policy})
        with pytest.raises(PageFailed) as caught:
            read_page(FasterPaddle, replace(broken, recipe=recipe), pages.READABLE)
        assert caught.value.code is Code.OCR_FAILED


def test_a_page_image_that_is_gone_fails_the_page_before_the_engine_is_asked(tmp_path: Path) -> None:
    page = replace(pages.made(pages.born_digital(), tmp_path), path=tmp_path / "gone.jpg")
    with pytest.raises(PictureGone, match="missing from the store"):
        read_page(FasterPaddle, page, pages.READABLE)


def test_two_real_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    page = pages.request(pages.corpus("scan-en-linn-ccitt.pdf"), tmp_path, "ignore")
    text = read_page(FasterPaddle, page, pages.READABLE).text
    marks = [
        "Recording a Sequence",
        "sustain pedal",
        "simply use LOCATE",
        "Creating a Song",
        "Additional Features",
    ]
    places = [text.index(mark) for mark in marks]
    assert places[:2] == sorted(places[:2])
    assert places[2:4] == sorted(places[2:4])
    assert places[1] < places[2]
    assert places[0] > text.index("Optional remote control")


def test_a_real_table_keeps_its_rows(tmp_path: Path) -> None:
    page = pages.request(pages.corpus("digital-en-nics-table.pdf"), tmp_path, "prefer")
    reading = read_page(FasterPaddle, page, pages.READABLE)
    (table,) = [block for block in reading.blocks if block.type is BlockType.TABLE]
    (texas,) = [row for row in table.rows if row[0] == "Texas"]
    assert texas[1:4] == ("21,550", "56,941", "51,670")
    assert texas[-1] == "146,982"
    assert len({len(row) for row in table.rows}) == 1


class Unsure:
    """A library that sees a sign in a speck and hardly believes it, beside a line that it is sure of."""

    name = "unsure 1"

    def lines(self, picture: bytes) -> list[Line]:
        return [Line("梵", Box(0, 0, 9, 9), 0.13), Line("real words", Box(0, 50, 100, 70), 0.41)]


def test_a_sign_that_the_engine_hardly_believes_in_is_left_out_with_a_note(tmp_path: Path) -> None:
    page = pages.made(pages.born_digital(), tmp_path, "ignore")
    reading = read_page(Unsure, page, pages.READABLE)
    assert reading.text == "real words"
    assert reading.notes == ("unsure-lines-dropped",)
