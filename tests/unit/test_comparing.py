"""How much two readings of a document differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.compare import PageChange, Pair, Side
from models.verdict import Verdict
from tasks.work.comparing import changed_characters, compare_pages

PAIR = Pair(7, "/a.pdf", 1, 1, 2)


def side(
    text: str = "", verdict: Verdict | None = Verdict.GOOD, seconds: float = 1.0, tokens: int = 5
) -> Side:
    return Side(verdict, text, len(text), seconds, tokens)


def change(page_no: int, old: Side, new: Side) -> PageChange:
    return PageChange(page_no, old.text != new.text, old, new)


@pytest.mark.parametrize(
    ("old", "new", "added", "removed"),
    [
        ("", "", 0, 0),
        ("same", "same", 0, 0),
        ("", "new words", 9, 0),
        ("old words", "", 0, 9),
        ("the cat sat", "the cats sat", 1, 0),
        ("ab", "ba", 1, 1),
    ],
)
def test_characters_that_only_one_side_has_are_counted(old: str, new: str, added: int, removed: int) -> None:
    assert changed_characters(change(1, side(old), side(new))) == (added, removed)


@given(st.text(max_size=60), st.text(max_size=60))
def test_what_came_and_went_explains_the_difference_in_length(old: str, new: str) -> None:
    added, removed = changed_characters(change(1, side(old), side(new)))
    assert len(old) + added - removed == len(new)
    assert min(added, removed) >= 0


@pytest.mark.parametrize(
    ("before", "after", "step"),
    [
        (Verdict.BAD, Verdict.SUSPECT, "better"),
        (Verdict.SUSPECT, Verdict.REPAIRED, "better"),
        (Verdict.SKIPPED, Verdict.GOOD, "better"),
        (Verdict.GOOD, Verdict.BLANK, ""),
        (Verdict.BAD, Verdict.SKIPPED, ""),
        (Verdict.GOOD, Verdict.REPAIRED, "worse"),
        (Verdict.BLANK, Verdict.SUSPECT, "worse"),
        (Verdict.GOOD, None, "worse"),
    ],
)
def test_verdicts_get_better_or_worse(before: Verdict, after: Verdict | None, step: str) -> None:
    page = change(3, side("x", before), side("y", after))
    compared = compare_pages(PAIR, [page])
    assert compared.better == ((3,) if step == "better" else ())
    assert compared.worse == ((3,) if step == "worse" else ())


def test_seconds_tokens_and_characters_add_up_over_pages() -> None:
    pages = [
        change(1, side("old", seconds=2.0, tokens=10), side("new!", seconds=1.0, tokens=4)),
        change(2, side("same"), side("same")),
    ]
    compared = compare_pages(PAIR, pages)
    assert (compared.pages, compared.changed) == (2, (1,))
    assert (compared.old_seconds, compared.new_seconds) == (3.0, 2.0)
    assert (compared.old_tokens, compared.new_tokens) == (15, 9)
    assert (compared.added, compared.removed) == (4, 3)
    assert not compared.is_shown


def test_without_a_new_edition_there_is_nothing_to_compare() -> None:
    compared = compare_pages(Pair(7, "/a.pdf", None, 1, None), [])
    assert (compared.pages, compared.changed, compared.is_shown) == (0, (), False)
