"""Decisions by properties: what a ladder tries next, how trials stay in bounds, what parts make."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.profile import Profile
from models.reading import Reading
from models.vlm import LadderLimits, Rung
from tasks.work.engines.fake import said
from tasks.work.ladder import FIRST, REFUSED, Step, Try, best_of, is_spent, next_step, steps_of, trial_of
from tasks.work.rungs import joined
from tests.unit import vlms

pytestmark = pytest.mark.slow

KINDS = ("sampling", "turn", "larger", "smaller", "halves", "profile", "text-layer")
_RUNGS = st.lists(
    st.builds(
        Rung,
        kind=st.sampled_from(KINDS),
        when=st.lists(st.sampled_from(["loop", "truncated", "too-large"]), max_size=2).map(tuple),
    ),
    max_size=6,
)
_CODES = st.frozensets(st.sampled_from(["loop", "truncated", "too-large", "ocr-rejected"]), max_size=3)
_PARTS = st.lists(
    st.builds(
        lambda text, seconds, out: replace(said(text), seconds=seconds, tokens_out=out),
        st.text("ab", max_size=4),
        st.floats(0, 9),
        st.none() | st.integers(0, 9),
    ),
    min_size=1,
    max_size=5,
)


def laddered(*rungs: Rung, limits: LadderLimits | None = None) -> Profile:
    """A served model's profile with this ladder."""
    return vlms.profile().model_copy(update={"ladder": rungs, "ladder_limits": limits or LadderLimits()})


def outcome(codes: frozenset[str] = frozenset(), *, bad: float = 1.0, tokens: int = 10) -> Try:
    return Try(FIRST, codes, (bad,), is_bad=bad > 0, seconds=1.0, tokens=tokens)


@given(_RUNGS)
def test_steps_are_numbered_from_one_without_a_gap(rungs: list[Rung]) -> None:
    steps = steps_of(laddered(*rungs))
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    assert all(step.name.startswith(step.rung.kind) for step in steps if step.rung)


@given(_RUNGS)
def test_a_served_model_always_has_a_smaller_try_for_what_is_refused(rungs: list[Rung]) -> None:
    steps = steps_of(laddered(*rungs))
    assert next_step(steps, LadderLimits(), [outcome(REFUSED)], 0) is not None


@given(_RUNGS, _CODES, st.integers(0, 9))
def test_the_next_step_lies_beyond_the_last_and_is_made_for_what_was_seen(
    rungs: list[Rung], codes: frozenset[str], after: int
) -> None:
    steps = steps_of(laddered(*rungs))
    step = next_step(steps, LadderLimits(), [outcome(codes)], after)
    if step is not None:
        assert step.rung is not None
        assert step.number > after
        assert not step.rung.when or codes & set(step.rung.when)
        assert not codes & REFUSED or step.rung.kind in {"smaller", "halves", "profile", "text-layer"}


@given(_RUNGS, st.integers(0, 9))
def test_a_page_without_a_fault_climbs_no_further(rungs: list[Rung], after: int) -> None:
    assert next_step(steps_of(laddered(*rungs)), LadderLimits(), [outcome(bad=0)], after) is None


@given(st.lists(st.floats(0, 5), min_size=1, max_size=8))
def test_the_first_of_the_least_bad_tries_is_kept(badness: list[float]) -> None:
    assert best_of([outcome(bad=bad) for bad in badness]) == badness.index(min(badness))


@pytest.mark.parametrize(
    ("limits", "is_over"),
    [
        ({"attempts": 3, "seconds": 2.1, "tokens": 21}, False),
        ({"attempts": 2}, True),
        ({"seconds": 2.0}, True),
        ({"tokens": 20}, True),
    ],
)
def test_a_limit_is_spent_once_it_is_reached(limits: dict[str, float], is_over: bool) -> None:
    assert is_spent(LadderLimits.model_validate(limits), [outcome(), outcome()]) is is_over


@given(st.integers(1, 20_000), st.integers(0, 30_000))
def test_no_trial_may_write_more_than_the_page_has_left(most: int, used: int) -> None:
    of = laddered(limits=LadderLimits(tokens=most))
    trial = trial_of(Step(1, "sampling", Rung(kind="sampling")), of, [outcome(tokens=used)])
    wanted = vlms.vlm().sampling.max_tokens
    allowed = wanted if trial.max_tokens is None else trial.max_tokens
    assert 1 <= allowed <= max(1, most - used)
    assert allowed == max(1, min(wanted, most - used))


@given(_PARTS)
def test_parts_put_together_lose_no_text_time_or_tokens(parts: list[Reading]) -> None:
    whole = joined(parts)
    assert whole.text.split() == [part.text for part in parts if part.text]
    assert whole.seconds == pytest.approx(sum(part.seconds for part in parts))
    known = [part.tokens_out for part in parts if part.tokens_out is not None]
    assert whole.tokens_out == (sum(known) if known else None)
