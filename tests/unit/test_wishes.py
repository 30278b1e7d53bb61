"""Wishes for a backfill: when two are one, what may be asked for, and what a plan expects."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from models.backfill import FromStage, Pace, Plan, Selection, Wish
from models.document import DocumentStatus
from models.recipe import Recipe
from models.stage import Stage
from models.verdict import Verdict

RECIPE = Recipe(revision="1")
WISH = Wish(selection=Selection(documents=(1, 2)), profile="ppocr")

SELECTIONS: dict[str, object] = {
    "documents": (3,),
    "source": "/in/*.pdf",
    "since": dt.date(2026, 1, 1),
    "until": dt.date(2026, 2, 1),
    "statuses": (DocumentStatus.PARTIAL,),
    "verdicts": (Verdict.BAD,),
    "findings": ("loop",),
    "profile": "other",
    "recipe": "abcdef",
    "everything": True,
}
CHANGES: dict[str, object] = {
    "selection": Selection(everything=True),
    "profile": "other",
    "options": ("languages=de",),
    "start": FromStage.LOAD,
    "again": True,
    "promote": True,
    "limit": 10,
}


def plan(to_read: int, pace: Pace | None) -> Plan:
    return Plan(9, 10, 0, 0, 100, 100 - to_read, to_read, pace)


def test_every_filter_and_every_field_of_a_wish_is_tried_here() -> None:
    assert set(SELECTIONS) == set(Selection.model_fields)
    assert set(CHANGES) == set(Wish.model_fields)


@pytest.mark.parametrize(("name", "value"), SELECTIONS.items())
def test_each_filter_alone_makes_a_selection_that_says_something(name: str, value: object) -> None:
    assert Selection().is_empty
    assert not Selection.model_validate({name: value}).is_empty


@pytest.mark.parametrize(("name", "value"), CHANGES.items())
def test_a_wish_that_differs_anywhere_is_another_backfill(name: str, value: object) -> None:
    other = WISH.model_copy(update={name: value})
    assert other.digest(RECIPE) != WISH.digest(RECIPE)


def test_a_pattern_is_written_as_names_are_kept() -> None:
    assert Selection(source="/in/bad\udcff*.pdf").source == "/in/bad\\xff*.pdf"
    assert Selection(source="/in/*.pdf").source == "/in/*.pdf"


def test_an_equal_wish_is_the_same_backfill_but_not_under_another_recipe() -> None:
    assert Wish.model_validate(WISH.model_dump()).digest(RECIPE) == WISH.digest(RECIPE)
    assert WISH.digest(Recipe(revision="2")) != WISH.digest(RECIPE)
    assert len(WISH.digest(RECIPE)) == 64


@pytest.mark.parametrize(("name", "value"), {**SELECTIONS, "documents": ()}.items())
def test_a_wish_comes_back_from_json_as_it_was(name: str, value: object) -> None:
    wish = Wish(selection=Selection.model_validate({name: value}), profile="ppocr", limit=1)
    assert Wish.model_validate_json(wish.model_dump_json()) == wish


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_of_no_documents_is_refused(limit: int) -> None:
    with pytest.raises(ValidationError, match="limit"):
        Wish(selection=Selection(), profile="ppocr", limit=limit)


def test_a_misspelt_filter_is_refused_and_not_taken_for_all_documents() -> None:
    with pytest.raises(ValidationError, match="verdict"):
        Selection.model_validate({"verdict": ["bad"]})


@pytest.mark.parametrize("start", FromStage)
def test_a_backfill_begins_at_a_stage_of_the_ledger(start: FromStage) -> None:
    assert start.stage is Stage(start.value)
    assert start.stage is not Stage.REGISTER


@given(st.integers(0, 10_000), st.floats(0, 100), st.floats(0, 100))
def test_a_plan_expects_only_pages_that_are_to_be_read_to_take_time(
    to_read: int, engine_s: float, wall_s: float
) -> None:
    expected = plan(to_read, Pace(engine_s, wall_s, 5))
    assert expected.engine_minutes == pytest.approx(to_read * engine_s / 60)
    assert expected.wall_minutes == pytest.approx(to_read * wall_s / 60)


def test_a_profile_that_never_read_a_page_promises_nothing() -> None:
    unknown = plan(50, None)
    assert (unknown.engine_minutes, unknown.wall_minutes) == (None, None)
