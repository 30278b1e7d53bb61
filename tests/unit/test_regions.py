"""Pages are cut into regions by their ink: nothing is left out, no letter is cut, nothing is shown twice."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from models.geometry import Box
from models.region import RegionKind
from tasks.work.regions import Part, parts_of
from tests.unit.paperwork import LEFT, RIGHT, SIZE, found, ink_box, paper, signs, two_columns

LEFT_COLUMN, RIGHT_COLUMN = found("text", 105, 255, 600, 430), found("text", 675, 255, 1_170, 430)
HEAD = found("heading", 320, 115, 760, 160)


def kinds(parts: Sequence[Part]) -> list[str]:
    return [part.region.kind.value for part in parts]


def unseen(page: Image.Image, parts: Sequence[Part]) -> int:
    """Dark pixels that are in no crop, or painted over in all of them."""
    dark = np.asarray(page.convert("L")) < 128
    for part in parts:
        mine = np.zeros_like(dark)
        _fill(mine, part.crop, True)
        for box in part.foreign:
            _fill(mine, box, False)
        dark = dark & ~mine
    return int(dark.sum())


def _fill(mask: np.ndarray, box: Box, value: bool) -> None:  # type: ignore[type-arg]
    mask[int(box.y0) : int(box.y1), int(box.x0) : int(box.x1)] = value


def test_what_a_detector_finds_is_read_in_order_and_the_rest_besides() -> None:
    parts = parts_of(two_columns(), [RIGHT_COLUMN, LEFT_COLUMN, HEAD])
    assert kinds(parts) == ["heading", "text", "text", "other"]
    assert [part.region.box.x0 < 600 for part in parts[1:3]] == [True, False]
    assert parts[3].region.box.y0 > 1_600
    assert unseen(two_columns(), parts) == 0


def test_a_box_that_cuts_letters_reaches_to_their_ends() -> None:
    tight = found("text", 200, 275, 500, 380)
    parts = parts_of(two_columns(), [tight, RIGHT_COLUMN, HEAD])
    left = next(part for part in parts if part.region.kind is RegionKind.TEXT and part.region.box.x0 < 600)
    shown = ink_box(paper((LEFT, 110, 260)))
    assert tuple(left.region.box) == pytest.approx(shown, abs=3)


def test_without_any_finding_ink_that_lies_together_is_a_region() -> None:
    parts = parts_of(two_columns(), [])
    assert set(kinds(parts)) == {"other"}
    assert len(parts) == 4
    assert unseen(two_columns(), parts) == 0


def test_what_lies_within_a_table_belongs_to_it() -> None:
    page = paper((LEFT, 110, 260), (RIGHT, 110, 800))
    inner = found("text", 105, 260, 600, 300, score=0.95)
    parts = parts_of(page, [inner, found("table", 100, 250, 620, 430, score=0.85)])
    assert kinds(parts) == ["table", "other"]


@pytest.mark.parametrize(("kind", "score"), [("table", 0.6), ("formula", 0.5)])
def test_an_unsure_table_or_formula_is_read_as_text(kind: str, score: float) -> None:
    page = paper((LEFT, 110, 260), (RIGHT, 110, 800))
    assert kinds(parts_of(page, [found(kind, 100, 250, 620, 430, score=score)])) == ["text", "other"]


def test_columns_are_surer_than_an_unsure_table_over_both_of_them() -> None:
    both = found("table", 100, 250, 1_180, 430, score=0.75)
    parts = parts_of(two_columns(), [both, LEFT_COLUMN, RIGHT_COLUMN, HEAD])
    assert kinds(parts)[:3] == ["heading", "text", "text"]
    sure = found("table", 100, 250, 1_180, 430, score=0.8)
    assert kinds(parts_of(two_columns(), [sure, LEFT_COLUMN, RIGHT_COLUMN, HEAD]))[:2] == ["heading", "table"]


def test_regions_that_overlap_are_one() -> None:
    upper, lower = found("text", 100, 250, 620, 350), found("text", 100, 330, 620, 430)
    page = two_columns()
    both = parts_of(page, [upper, lower, RIGHT_COLUMN, HEAD])
    assert len(both) == 4
    assert unseen(page, both) == 0


def test_ink_of_a_neighbour_in_the_crop_is_named() -> None:
    page = paper((LEFT, 110, 260), (RIGHT, 680, 260))
    bottom = ink_box(paper((LEFT, 110, 260)))[3]
    ImageDraw.Draw(page).rectangle((60, bottom + 9, 640, bottom + 40), fill="black")
    parts = parts_of(page, [found("text", 105, 255, 600, bottom), RIGHT_COLUMN])
    assert [part.region.kind.value for part in parts if part.foreign] == ["text", "other"]
    assert unseen(page, parts) == 0


def test_a_page_of_one_region_is_asked_for_whole() -> None:
    page = paper((LEFT, 110, 260))
    assert parts_of(page, [found("text", 105, 255, 600, 430)]) == []
    assert parts_of(page, [found("picture", 0, 0, *SIZE)]) == []


def test_a_page_of_very_many_regions_is_asked_for_whole() -> None:
    page = paper(*((str(place), 60 + 160 * (place % 7), 60 + 150 * (place // 7)) for place in range(70)))
    assert parts_of(page, []) == []


def test_a_blank_page_has_no_regions() -> None:
    assert parts_of(Image.new("RGB", SIZE, "white"), [LEFT_COLUMN]) == []


def test_ruled_lines_and_specks_are_no_regions() -> None:
    page = two_columns()
    draw = ImageDraw.Draw(page)
    draw.line((100, 1_500, 1_140, 1_500), fill="black", width=3)
    draw.rectangle((900, 1_000, 903, 1_003), fill="black")
    assert len(parts_of(page, [LEFT_COLUMN, RIGHT_COLUMN, HEAD])) == 4


@pytest.mark.parametrize("runs_down", [True, False])
def test_which_way_a_page_runs_shows_in_its_signs(runs_down: bool) -> None:
    parts = parts_of(signs(runs_down=runs_down), [])
    assert len(parts) >= 2
    assert {part.region.runs_down for part in parts} == {runs_down}


def test_letters_of_a_latin_page_run_to_the_right() -> None:
    page = paper(("\n".join("Narrow"), 100, 100), (LEFT, 300, 260), (RIGHT, 880, 260))
    assert {part.region.runs_down for part in parts_of(page, [])} == {False}


def test_no_crop_is_smaller_than_what_models_take() -> None:
    for part in parts_of(two_columns(), [LEFT_COLUMN, RIGHT_COLUMN, HEAD]):
        assert min(part.crop.width, part.crop.height) >= 64
        assert part.crop.x1 <= SIZE[0]
        assert part.crop.y1 <= SIZE[1]


boxes = st.tuples(
    st.sampled_from(list(RegionKind)), st.integers(0, 900), st.integers(0, 1_500), st.integers(20, 900)
)


@settings(max_examples=15, deadline=None)
@given(st.lists(boxes, max_size=8), st.integers(0, 3))
@pytest.mark.slow
def test_whatever_a_detector_says_all_ink_is_shown(
    said: list[tuple[RegionKind, int, int, int]], score: int
) -> None:
    page = two_columns()
    proposals = [
        found(kind.value, left, top, left + size, top + size // 2, score=0.4 + 0.2 * score)
        for kind, left, top, size in said
    ]
    parts = parts_of(page, proposals)
    assert not parts or unseen(page, parts) == 0
