"""What a client has to know of a served model: pixels, tasks, room for replies."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from models.vlm import LadderLimits, Pixels, RepetitionDetection, Rung, Sampling, ServeFlag, Task, Vlm

GRID = Pixels(patch_px=14, merge=2, min_pixels=28 * 28 * 4, max_pixels=28 * 28 * 1_000)
TASK: dict[str, Any] = {"prompt": "Read.", "parser": "text", "about": "all"}


def vlm(**changes: Any) -> Vlm:
    given = {
        "served_name": "m",
        "weights": "o/m",
        "architecture": "A",
        "tasks": {"text": TASK},
        "pixels": GRID,
    }
    return Vlm.model_validate(given | changes)


@pytest.mark.parametrize(
    ("size", "fitted"),
    [
        ((280, 560), (280, 560)),
        ((270, 550), (280, 560)),
        ((1, 1), (56, 56)),
        ((28, 28), (56, 56)),
        ((2_800, 2_800), (868, 868)),
        ((100_000, 10), (8_848, 28)),
    ],
)
def test_sides_become_whole_cells_and_areas_stay_within_limits(
    size: tuple[int, int], fitted: tuple[int, int]
) -> None:
    if max(size) / min(size) < 200:
        assert GRID.fitted(*size) == fitted
    assert all(side % 28 == 0 for side in GRID.fitted(*size))


@given(st.integers(28, 4_000), st.integers(28, 4_000))
def test_tokens_are_cells_of_the_fitted_picture(width: int, height: int) -> None:
    fitted = GRID.fitted(width, height)
    assert GRID.tokens(width, height) == fitted[0] // 28 * (fitted[1] // 28)


@given(st.integers(28, 4_000), st.integers(28, 4_000))
def test_fitting_twice_changes_nothing(width: int, height: int) -> None:
    fitted = GRID.fitted(width, height)
    assert GRID.fitted(*fitted) == fitted


@given(st.integers(56, 800), st.integers(56, 800))
def test_a_picture_within_the_limits_moves_by_half_a_cell_at_most(width: int, height: int) -> None:
    fitted = GRID.fitted(width, height)
    assert abs(fitted[0] - width) <= 14
    assert abs(fitted[1] - height) <= 14


def test_the_first_task_is_the_default_and_an_unknown_one_is_told() -> None:
    model = vlm(tasks={"one": TASK, "two": TASK | {"prompt": "Two."}})
    assert model.task("").prompt == "Read."
    assert model.task("two").prompt == "Two."
    with pytest.raises(KeyError):
        model.task("three")


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"tasks": {}}, "tasks"),
        ({"tasks": {"text": TASK | {"parser": "xml"}}}, "parser"),
        ({"context": 10}, "context"),
        ({"colour": 1}, "colour"),
        ({"sampling": {"temperature": 3}}, "temperature"),
        ({"sampling": {"max_tokens": 0}}, "max_tokens"),
        ({"tokens_per_s": 0}, "tokens_per_s"),
    ],
)
def test_a_model_that_cannot_work_is_refused(changes: dict[str, Any], key: str) -> None:
    with pytest.raises(ValidationError, match=key):
        vlm(**changes)


def test_a_task_s_schema_is_read_by_either_name_and_written_so_that_it_can_be_read() -> None:
    one = Task.model_validate(TASK | {"schema": {"type": "object"}})
    two = Task.model_validate(TASK | {"schema_": {"type": "object"}})
    assert (
        one == two == Task.model_validate(one.model_dump()) == Task.model_validate_json(one.model_dump_json())
    )


def test_models_come_back_from_json_as_what_they_were() -> None:
    model = vlm(
        sampling=Sampling(stop=("</s>",), repetition_detection=RepetitionDetection(min_count=9)),
        flags=(ServeFlag(flag="--x 1", state="option", about="why", option="x"),),
    )
    assert Vlm.model_validate_json(model.model_dump_json()) == model


@pytest.mark.parametrize(
    ("make", "key"),
    [
        (lambda: Rung(kind="prayer"), "kind"),
        (lambda: ServeFlag(flag="--x", state="maybe", about=""), "state"),
        (lambda: RepetitionDetection(min_count=1), "min_count"),
        (lambda: LadderLimits(attempts=0), "attempts"),
    ],
)
def test_parts_that_make_no_sense_are_refused(make: Any, key: str) -> None:
    with pytest.raises(ValidationError, match=key):
        make()


def test_nothing_is_changed_in_place() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        vlm().context = 1
