"""What goes into a column comes out of it: hashes, models, words of a text layer. No database."""

from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from sqlalchemy.dialects.postgresql import dialect

from db.columns import Notes, Sha256, Typed, Words
from models.backfill import Selection, Wish
from models.geometry import Box
from models.page import Word
from models.reading import Trial

POSTGRES = dialect()  # type: ignore[no-untyped-call]
sides = st.floats(-10_000, 10_000).map(lambda side: round(side, 2))
words = st.builds(
    Word,
    st.text(max_size=8),
    st.builds(Box, sides, sides, sides, sides),
    st.integers(0, 99),
    st.integers(0, 999),
)
trials = st.builds(Trial, st.sampled_from(["first", "larger"]), st.none() | st.floats(0, 2), turn=st.just(90))


def through(column: sa.types.TypeDecorator[Any], value: object) -> Any:
    """The value after a way through the table."""
    stored = column.process_bind_param(value, POSTGRES)
    return column.process_result_value(stored, POSTGRES)


@given(st.binary(min_size=32, max_size=32))
def test_a_hash_takes_half_its_letters_and_comes_back_in_lower_case(digest: bytes) -> None:
    stored = Sha256().process_bind_param(digest.hex().upper(), POSTGRES)
    assert stored == digest
    assert through(Sha256(), digest.hex()) == digest.hex()


def test_what_is_no_hash_is_refused_before_it_is_stored() -> None:
    with pytest.raises(ValueError, match="hexadecimal"):
        Sha256().process_bind_param("not a hash", POSTGRES)


@pytest.mark.parametrize("column", [Sha256(), Typed(Trial), Words(), Notes], ids=repr)
def test_nothing_stays_nothing_in_every_column(column: sa.types.TypeDecorator[Any]) -> None:
    assert through(column, None) is None


@pytest.mark.slow
@given(st.lists(words, max_size=12).map(tuple))
def test_words_of_a_layer_come_back_with_their_boxes_blocks_and_lines(layer: tuple[Word, ...]) -> None:
    assert through(Words(), layer) == layer


def test_boxes_of_words_are_kept_to_a_hundredth_of_a_point() -> None:
    (word,) = through(Words(), (Word("a", Box(1.23456, 2, 3.005, 1e4 / 3)),))
    assert tuple(word.box) == pytest.approx((1.23, 2, 3.0, 3333.33), abs=0.006)


def test_a_page_of_words_takes_a_fraction_of_its_json() -> None:
    layer = tuple(Word("word", Box(10.0 * at, 20, 10.0 * at + 9, 30), 1, at) for at in range(500))
    stored = Words().process_bind_param(layer, POSTGRES)
    assert stored is not None
    assert len(stored) < 500 * 15


@given(trials)
def test_a_model_comes_back_equal(trial: Trial) -> None:
    assert through(Typed(Trial), trial) == trial


def test_a_wish_with_dates_and_statuses_comes_back_equal() -> None:
    selection = Selection.model_validate(
        {"since": "2026-01-02", "statuses": ["partial"], "verdicts": ["bad"]}
    )
    wish = Wish(selection=selection, profile="ppocr", options=("a=b",), limit=3)
    assert through(Typed(Wish), wish) == wish


def test_what_was_stored_under_other_words_is_refused_and_not_guessed() -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        Typed(Wish).process_result_value({"selection": {}, "profile": "p", "unknown": 1}, POSTGRES)


@given(st.lists(st.text(max_size=5), max_size=4).map(tuple))
def test_notes_come_back_as_a_tuple_in_their_order(notes: tuple[str, ...]) -> None:
    assert through(Notes, notes) == notes
