"""Shapes of models: geometry for any numbers, sums and what an edition says."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from models.claim import Outstanding
from models.edition import reason
from models.geometry import Box, Transform
from models.intake import Registered
from models.progress import Progress, StageProgress
from models.reading import Block, BlockType, Reading, ReadingSource, cleaned, mean_confidence
from models.stage import STAGE_VERSION, Stage
from models.text import clean
from models.verdict import Verdict
from models.work import PageToLoad

_numbers = st.floats(-2000, 2000)
_factors = st.floats(-4, 4)
_transforms = st.builds(Transform, _factors, _factors, _factors, _factors, _numbers, _numbers)
_dirty = st.text(st.sampled_from("ab\x00\r\n\ud800\x07安"), max_size=8)


@st.composite
def _boxes(draw: st.DrawFn) -> Box:
    x, y = draw(_numbers), draw(_numbers)
    return Box(x, y, x + draw(st.floats(0, 1000)), y + draw(st.floats(0, 1000)))


@st.composite
def _invertible(draw: st.DrawFn) -> Transform:
    found = draw(_transforms)
    assume(abs(found.a * found.d - found.b * found.c) > 0.01)
    return found


def inside(inner: Box, outer: Box) -> bool:
    return outer.x0 <= inner.x0 and outer.y0 <= inner.y0 and outer.x1 >= inner.x1 and outer.y1 >= inner.y1


@given(st.lists(_boxes(), min_size=1))
def test_a_box_around_others_holds_all_and_knows_no_order(boxes: list[Box]) -> None:
    whole = Box.around(boxes)
    assert all(inside(box, whole) for box in boxes)
    assert whole == Box.around(reversed(boxes)) == Box.around([*boxes, whole])


@given(_boxes())
def test_a_box_around_itself_is_itself(box: Box) -> None:
    assert Box.around([box]) == box
    assert box.width >= 0
    assert box.height >= 0


@given(_transforms, _boxes(), st.floats(0, 1), st.floats(0, 1))
def test_every_point_of_a_box_lies_in_its_image(
    transform: Transform, box: Box, across: float, down: float
) -> None:
    x, y = transform.point(box.x0 + across * box.width, box.y0 + down * box.height)
    image = transform.box(box)
    assert image.x0 - 1e-6 <= x <= image.x1 + 1e-6
    assert image.y0 - 1e-6 <= y <= image.y1 + 1e-6


@given(_transforms, _boxes())
def test_the_image_of_a_box_is_upright(transform: Transform, box: Box) -> None:
    image = transform.box(box)
    assert image.width >= 0
    assert image.height >= 0


@given(_invertible(), _numbers, _numbers)
def test_there_and_back_is_the_same_point(transform: Transform, x: float, y: float) -> None:
    assert transform.inverse().point(*transform.point(x, y)) == pytest.approx((x, y), abs=1e-3)


@given(_transforms, _transforms, _transforms, _numbers, _numbers)
def test_maps_one_after_another_may_be_bracketed_at_will(
    a: Transform, b: Transform, c: Transform, x: float, y: float
) -> None:
    left, right = a.after(b).after(c), a.after(b.after(c))
    assert left.point(x, y) == pytest.approx(right.point(x, y), abs=1e-3)


@given(_dirty, _dirty, _dirty)
def test_a_cleaned_reading_is_clean_everywhere_and_says_so_once(text: str, cell: str, raw: str) -> None:
    block = Block(BlockType.TABLE, text, rows=((cell, text),), html=raw)
    reading = Reading(ReadingSource.OCR, text, (block,), engine=cell, raw=raw)
    tidy = cleaned(reading)
    assert (tidy.text, tidy.engine, tidy.raw) == (clean(text), clean(cell), clean(raw))
    assert tidy.blocks[0] == Block(
        BlockType.TABLE, tidy.text, rows=((clean(cell), clean(text)),), html=tidy.raw
    )
    assert ("text-cleaned" in tidy.notes) == (tidy.blocks != reading.blocks or tidy.engine != cell)
    assert cleaned(tidy) is tidy


def test_long_parts_of_a_page_say_more_of_how_sure_it_is() -> None:
    assert mean_confidence([(0.5, 10), (1.0, 30), (None, 100)]) == pytest.approx(0.875)
    assert mean_confidence([(None, 5), (0.9, 0)]) is None


def test_a_clean_reading_is_handed_back_as_it_is() -> None:
    reading = Reading(ReadingSource.NONE, "", ())
    assert cleaned(reading) is reading


def test_documents_of_a_batch_are_told_in_order_whatever_became_of_them() -> None:
    assert Registered(new=(7,), known=(2, 9), again=(1,), rejected=(4,)).documents == (1, 2, 4, 7, 9)


def test_outstanding_work_is_free_later_or_in_hands() -> None:
    assert Outstanding(ready=3, delayed=2, leased=1).total == 6


def test_failed_work_is_not_left_over() -> None:
    stages = (StageProgress(Stage.SPLIT, 2, 2, 0), StageProgress(Stage.OCR, 5, 3, 2))
    assert [stage.left for stage in stages] == [0, 0]
    assert Progress(2, 0, 0, stages, ()).is_done
    assert not Progress(2, 0, 0, (*stages, StageProgress(Stage.LOAD, 2, 1, 0)), ()).is_done


def test_a_bad_page_without_a_sentence_still_gives_its_code() -> None:
    pages = [PageToLoad(1, Verdict.GOOD, 5, ()), PageToLoad(2, Verdict.SKIPPED, None, (), "ocr-failed")]
    assert reason(pages, is_repaired=False) == ("ocr-failed", None)


def test_a_bad_page_explains_a_document_better_than_a_blank_one() -> None:
    pages = [
        PageToLoad(1, Verdict.BLANK, 4, ()),
        PageToLoad(2, Verdict.BAD, 5, (), "truncated", "Cut off."),
    ]
    assert reason(pages, is_repaired=True) == ("truncated", "Page 2: Cut off.")


def test_stages_have_their_order_and_each_a_version() -> None:
    assert " → ".join(Stage) in (Stage.__doc__ or "")
    assert set(STAGE_VERSION) == set(Stage)
