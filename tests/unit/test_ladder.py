"""The ladder's decisions: pure, from what was tried to what is next."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models import profiles
from models.profile import Profile
from models.vlm import LadderLimits, Pixels, Rung, Task, Vlm
from tasks.work.ladder import FIRST, Step, Try, best_of, is_spent, next_step, steps_of, trial_of

LIMITS = LadderLimits()
ALL = ("sampling", "turn", "smaller", "larger", "halves", "profile", "text-layer")


def profile(*rungs: Rung, **limits: float) -> Profile:
    changes = {"ladder": rungs, "ladder_limits": LadderLimits.model_validate(limits)}
    return profiles.get("ppocr").model_copy(update=changes)


def served(*rungs: Rung) -> Profile:
    task = Task(prompt="Read.", parser="text", about="all text")
    vlm = Vlm(
        served_name="m",
        weights="m",
        architecture="M",
        tasks={"text": task},
        pixels=Pixels(patch_px=14, min_pixels=784, max_pixels=1_000_000),
    )
    return profile(*rungs).model_copy(update={"vlm": vlm})


def tried(step: Step = FIRST, *codes: str, bad: int = 1, seconds: float = 1.0, tokens: int = 10) -> Try:
    return Try(step, frozenset(codes), (float(bad),), is_bad=bool(bad), seconds=seconds, tokens=tokens)


def names(of: Profile) -> list[str]:
    return [step.name for step in steps_of(of)]


def test_a_profile_without_a_ladder_has_no_next_step() -> None:
    assert steps_of(profile()) == ()
    assert next_step((), LIMITS, [tried()], 0) is None


def test_each_angle_of_a_turn_is_a_step_and_numbers_go_up() -> None:
    of = profile(
        Rung(kind="sampling"), Rung(kind="turn", degrees=(90, 270)), Rung(kind="profile", profile="b")
    )
    assert names(of) == ["sampling", "turn 90", "turn 270", "profile b"]
    assert [(step.number, step.turn) for step in steps_of(of)] == [(1, 0), (2, 90), (3, 270), (4, 0)]


def test_a_turn_that_names_no_angle_tries_upside_down_first() -> None:
    assert names(profile(Rung(kind="turn"))) == ["turn 180", "turn 90", "turn 270"]


def test_only_the_codes_of_a_rung_call_for_it() -> None:
    steps = steps_of(profile(Rung(kind="sampling", when=("loop",)), Rung(kind="halves", when=("truncated",))))
    assert next_step(steps, LIMITS, [tried(FIRST, "truncated")], 0) == steps[1]
    assert next_step(steps, LIMITS, [tried(FIRST, "loop")], 0) == steps[0]
    assert next_step(steps, LIMITS, [tried(FIRST, "low-confidence")], 0) is None


def test_a_rung_without_codes_is_for_bad_pages_only() -> None:
    steps = steps_of(profile(Rung(kind="sampling")))
    assert next_step(steps, LIMITS, [tried(FIRST, "anything")], 0) == steps[0]
    assert next_step(steps, LIMITS, [tried(FIRST, "low-confidence", bad=0)], 0) is None


def test_a_suspect_page_climbs_where_a_rung_names_its_code() -> None:
    steps = steps_of(profile(Rung(kind="larger", factor=2, when=("low-confidence",))))
    assert next_step(steps, LIMITS, [tried(FIRST, "low-confidence", bad=0)], 0) == steps[0]


def test_a_step_is_never_taken_twice() -> None:
    steps = steps_of(profile(Rung(kind="sampling"), Rung(kind="halves")))
    taken = [tried(), tried(steps[0])]
    assert next_step(steps, LIMITS, taken, steps[0].number) == steps[1]
    assert next_step(steps, LIMITS, [*taken, tried(steps[1])], steps[1].number) is None


def test_the_best_try_decides_what_may_help_not_the_last() -> None:
    steps = steps_of(profile(Rung(kind="sampling"), Rung(kind="halves", when=("truncated",))))
    tries = [tried(FIRST, "truncated", bad=1), tried(steps[0], "loop", bad=2)]
    assert best_of(tries) == 0
    assert next_step(steps, LIMITS, tries, 1) == steps[1]


def test_of_equally_good_tries_the_first_is_kept() -> None:
    assert best_of([tried(bad=2), tried(bad=1), tried(bad=1)]) == 1


@pytest.mark.parametrize("kind", ALL)
def test_what_was_refused_is_only_sent_as_another_smaller_thing(kind: str) -> None:
    (step, *_) = steps_of(profile(Rung.model_validate({"kind": kind})))
    is_taken = next_step((step,), LIMITS, [tried(FIRST, "too-large")], 0) is not None
    assert is_taken == (kind in {"smaller", "halves", "profile", "text-layer"})


def test_a_served_model_gets_one_smaller_try_for_what_it_refuses() -> None:
    steps = steps_of(served(Rung(kind="sampling", when=("loop",))))
    assert [step.name for step in steps] == ["smaller", "sampling"]
    assert next_step(steps, LIMITS, [tried(FIRST, "ocr-rejected")], 0) == steps[0]
    assert next_step(steps, LIMITS, [tried(FIRST, "loop")], 0) == steps[1]
    assert next_step(steps, LIMITS, [tried(FIRST, "too-large")], 1) is None


def test_a_ladder_that_says_what_to_do_with_refused_pictures_is_left_as_it_is() -> None:
    assert names(served(Rung(kind="smaller", factor=0.7, when=("too-large",)))) == ["smaller"]


@pytest.mark.parametrize(
    ("limits", "tries"),
    [
        ({"attempts": 2}, [tried(), tried()]),
        ({"seconds": 5}, [tried(seconds=5.0)]),
        ({"tokens": 100}, [tried(tokens=60), tried(tokens=40)]),
    ],
    ids=["attempts", "seconds", "tokens"],
)
def test_a_page_that_has_cost_all_it_may_is_left_as_it_is(limits: dict[str, float], tries: list[Try]) -> None:
    of = profile(Rung(kind="sampling"), Rung(kind="halves"), **limits)
    assert is_spent(of.ladder_limits, tries)
    assert next_step(steps_of(of), of.ladder_limits, tries, 0) is None
    assert not is_spent(of.ladder_limits, [])


def test_a_trial_says_only_what_is_done_differently() -> None:
    of = profile(Rung(kind="turn", degrees=(90,), sampling={"temperature": 0.3, "top_p": 0.95}))
    trial = trial_of(steps_of(of)[0], of, [tried()])
    assert (trial.rung, trial.turn, trial.temperature, trial.top_p) == ("turn 90", 90, 0.3, 0.95)
    assert (trial.repetition_penalty, trial.max_tokens) == (None, None)


def test_no_reply_may_be_longer_than_what_is_left_of_the_page_s_tokens() -> None:
    of = served(Rung(kind="sampling")).model_copy(update={"ladder_limits": LadderLimits(tokens=10_000)})
    step = steps_of(of)[1]
    assert trial_of(step, of, [tried(tokens=7_000)]).max_tokens == 3_000
    assert trial_of(step, of, [tried(tokens=100)]).max_tokens is None


@pytest.mark.parametrize("name", sorted(profiles.PROFILES))
def test_every_step_of_every_profile_makes_a_trial(name: str) -> None:
    of = profiles.get(name)
    trials = [trial_of(step, of, [tried()]) for step in steps_of(of)]
    assert [trial.rung for trial in trials] == names(of)
    assert all(rung.profile in profiles.PROFILES for rung in of.ladder if rung.kind == "profile")


@given(
    st.lists(st.sampled_from(ALL), max_size=8),
    st.lists(st.sampled_from(["loop", "truncated", "too-large", "x"]), max_size=10),
    st.integers(1, 8),
)
def test_every_climb_ends_within_its_limits(kinds: list[str], codes: list[str], attempts: int) -> None:
    rungs = [Rung.model_validate({"kind": kind, "profile": "b"}) for kind in kinds]
    of = profile(*rungs, attempts=attempts)
    steps, tries, step = steps_of(of), [tried(FIRST, *codes[:1])], FIRST
    while (following := next_step(steps, of.ladder_limits, tries, step.number)) is not None:
        assert following.number > step.number
        step = following
        tries.append(tried(step, *codes[: len(tries)], bad=len(tries)))
    assert len(tries) <= attempts
