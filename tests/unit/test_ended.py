"""What becomes of a page whose tries are over: which reading is kept, what it cost, what is remembered."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import Code, PageFailed
from models.reading import FinishReason, Reading, Trial
from models.verdict import Severity, Verdict
from tasks.hand import PageInHand, Tried
from tasks.keeping import ended
from tasks.work.engines.fake import said
from tasks.work.ladder import Step
from tests.unit.test_hand import failed, judged, page

LARGER = Step(2, "larger")
tries = st.tuples(
    st.booleans(), st.floats(0, 100), st.none() | st.integers(0, 9_000), st.none() | st.integers(0, 9_000)
)


def tried(*readings: Reading | Code, bad: int = 0) -> PageInHand:
    """A page that was read so often; the first `bad` readings are."""
    one = page()
    for number, reading in enumerate(readings):
        if isinstance(reading, Code):
            one.tries.append(failed(one, reading))
        else:
            one.tries.append(judged(one, *["loop"] * (number < bad), reading=reading))
    return one


@given(st.lists(tries, min_size=1, max_size=6))
def test_seconds_and_tokens_are_those_of_all_tries(
    made: list[tuple[bool, float, int | None, int | None]],
) -> None:
    one = page()
    for is_bad, seconds, tokens_in, tokens_out in made:
        reading = replace(said("words"), tokens_in=tokens_in, tokens_out=tokens_out)
        taken = judged(one, *["loop"] * is_bad, reading=reading)
        one.tries.append(replace(taken, seconds=seconds, judging_s=seconds / 10))
    over = ended(one)
    assert over.seconds == pytest.approx(sum(seconds for _, seconds, _, _ in made))
    assert over.judging_s == pytest.approx(over.seconds / 10)
    assert over.tokens == (sum(i or 0 for _, _, i, _ in made), sum(o or 0 for _, _, _, o in made))


@given(st.lists(st.booleans(), min_size=2, max_size=6))
def test_of_several_tries_exactly_one_is_kept_and_the_others_keep_their_answers(are_bad: list[bool]) -> None:
    one = page()
    for number, is_bad in enumerate(are_bad):
        one.tries.append(judged(one, *["loop"] * is_bad, reading=said(f"text {number}")))
    over = ended(one)
    (kept,) = [attempt for attempt in over.attempts if attempt.is_kept]
    assert [attempt.number for attempt in over.attempts] == list(range(1, len(are_bad) + 1))
    assert over.result is not None
    assert over.result.reading.text == f"text {kept.number - 1}"
    assert kept.number - 1 == (are_bad.index(False) if False in are_bad else 0)
    assert [attempt.raw for attempt in over.attempts if not attempt.is_kept] == [
        f"text {number}" for number in range(len(are_bad)) if number != kept.number - 1
    ]
    assert kept.raw is None


def test_a_page_read_at_once_leaves_no_attempts_and_tells_of_one() -> None:
    over = ended(tried(said("words")))
    assert over.attempts == ()
    assert over.failure is None
    assert over.result is not None
    assert over.result.reading.attempts == 1


def test_the_reading_that_is_kept_tells_how_often_the_page_was_tried() -> None:
    over = ended(tried(Code.OCR_TIMEOUT, said("bad"), said("good"), bad=2))
    assert over.result is not None
    assert (over.result.reading.text, over.result.reading.attempts) == ("good", 3)
    assert over.result.verdict is Verdict.GOOD


def test_any_reading_is_kept_before_an_error() -> None:
    over = ended(tried(Code.OCR_TIMEOUT, said("bad"), Code.OCR_FAILED, bad=2))
    assert over.failure is None
    assert over.result is not None
    assert over.result.verdict is Verdict.BAD
    assert [attempt.is_kept for attempt in over.attempts] == [False, True, False]


def test_a_page_without_any_reading_fails_with_the_last_of_its_errors() -> None:
    over = ended(tried(Code.TOO_LARGE, Code.OCR_TIMEOUT))
    assert over.result is None
    assert over.failure is not None
    assert over.failure.error.code is Code.OCR_TIMEOUT
    assert [(attempt.codes, attempt.verdict) for attempt in over.attempts] == [
        (("too-large",), Verdict.BAD),
        (("ocr-timeout",), Verdict.BAD),
    ]


def test_a_single_error_is_its_own_story() -> None:
    over = ended(tried(Code.OCR_FAILED))
    assert (over.result, over.attempts, over.seconds) == (None, (), 3.0)


def test_an_answer_that_differs_from_its_text_is_remembered_as_it_came() -> None:
    answers = [replace(said("a table"), raw="<table>"), said("good")]
    over = ended(tried(*answers, bad=1))
    assert [attempt.raw for attempt in over.attempts] == ["<table>", None]


@pytest.mark.parametrize("reason", FinishReason)
def test_an_attempt_tells_why_the_answer_ended(reason: FinishReason) -> None:
    over = ended(tried(replace(said("bad"), finish_reason=reason), said("good"), bad=1))
    assert over.attempts[0].finish_reason == reason.value


def test_what_was_asked_differently_stays_with_the_reading_of_a_step() -> None:
    one = tried(said("bad"), bad=1)
    asked = replace(one.first, trial=Trial(rung="larger"))
    good = judged(one, reading=said("good"))
    one.tries.append(replace(good, step=LARGER, request=asked))
    over = ended(one)
    assert over.result is not None
    assert over.result.reading.trial == Trial(rung="larger")
    assert [attempt.trial for attempt in over.attempts] == [Trial(), Trial(rung="larger")]


def test_warnings_make_a_page_no_worse_than_the_error_before_it() -> None:
    one = tried(said("looped"), bad=1)
    one.tries.append(judged(one, "low-confidence", severity=Severity.WARNING, reading=said("doubtful")))
    one.tries.append(Tried(LARGER, "other", one.first, 1.0, error=PageFailed("no", Code.OCR_FAILED)))
    over = ended(one)
    assert over.result is not None
    assert over.result.reading.text == "doubtful"
    assert [attempt.profile for attempt in over.attempts] == ["ppocr", "ppocr", "other"]
