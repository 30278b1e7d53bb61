"""Pages in hand: who is sent next, what is under way, what a page has cost. No database, no engine."""

import datetime as dt
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest

from models.claim import Claim
from models.engine import OcrRequest
from models.errors import Code, PageFailed
from models.geometry import Box, Transform
from models.page import PageFacts, PageImage, Word
from models.reading import Reading
from models.recipe import Recipe
from models.stage import Stage
from models.verdict import Finding, Severity, Verdict
from models.work import PageResult, PageToRead
from tasks.hand import Hand, PageInHand, Tried
from tasks.work.engines.fake import said
from tasks.work.ladder import FIRST, Step

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
IMAGE = PageImage("a" * 64, ".jpg", 100, 200, Transform.scale(1, 1), 0.1, is_blank=False)


def page(number: int = 1, words: int = 0) -> PageInHand:
    claim = Claim(number, 1, 1, number, Stage.OCR, 1, "me", NOW, NOW)
    facts = PageFacts(number, 100, 200, words=(Word("word", Box(0, 0, 1, 1)),) * words)
    request = OcrRequest(IMAGE, Path("page.jpg"), 100, 200, Recipe())
    return PageInHand(PageToRead(claim, IMAGE, facts), request, "ppocr", parts=(request,))


def judged(
    of: PageInHand, *codes: str, severity: Severity = Severity.ERROR, reading: Reading | None = None
) -> Tried:
    findings = tuple(Finding(code, severity, "why") for code in codes)
    verdict = Verdict.BAD if codes and severity is Severity.ERROR else Verdict.GOOD
    result = PageResult(of.item.claim, reading or said("text"), verdict, findings)
    return Tried(FIRST, "ppocr", of.first, 2.0, result)


def failed(of: PageInHand, code: Code = Code.OCR_TIMEOUT) -> Tried:
    return Tried(Step(1, "sampling"), "ppocr", of.first, 3.0, error=PageFailed("late", code))


def again(number: int) -> PageInHand:
    one = page(number)
    one.tries.append(judged(one, "loop"))
    return one


def flown(hand: Hand, one: PageInHand) -> list[Future[Reading]]:
    futures: list[Future[Reading]] = [Future() for _ in one.parts]
    hand.fly(one, futures)
    return futures


def test_pages_are_sent_in_the_order_they_were_claimed() -> None:
    hand, pages = Hand(), [page(number) for number in (1, 2, 3)]
    for one in pages:
        hand.add(one)
    assert [hand.next_to_send(1) for _ in range(4)] == [*pages, None]


def test_one_page_that_was_read_before_goes_first_then_those_that_never_were() -> None:
    hand, retries = Hand(), [again(1), again(2)]
    hand.again.extend(retries)
    hand.add(fresh := page(3))
    first = hand.next_to_send(1)
    assert first is retries[0]
    flown(hand, retries[0])
    assert hand.next_to_send(1) is fresh
    assert hand.next_to_send(1) is retries[1]


def test_when_nothing_fresh_is_left_all_slots_are_for_those_read_before() -> None:
    hand, retries = Hand(), [again(number) for number in range(5)]
    hand.again.extend(retries)
    sent = []
    while one := hand.next_to_send(1):
        sent.append(one)
        flown(hand, one)
    assert sent == retries


def test_a_share_is_free_again_when_a_retry_has_landed() -> None:
    hand, first, second = Hand(), again(1), again(2)
    hand.again.extend([first, second])
    hand.add(page(3))
    assert hand.next_to_send(1) is first
    flown(hand, first)
    hand.recall(first)
    assert hand.next_to_send(1) is second


def test_requests_under_way_are_counted_by_part() -> None:
    hand, halves, whole = Hand(), page(1), page(2)
    halves.parts = (halves.first, halves.first)
    top, bottom = flown(hand, halves)
    flown(hand, whole)
    assert (hand.sent, len(hand)) == (3, 2)
    assert (hand.land(halves, bottom), hand.land(halves, top)) == (1, 0)
    assert hand.sent == 1


def test_an_answer_to_a_request_that_was_given_up_finds_nobody() -> None:
    hand, one = Hand(), page()
    (future,) = flown(hand, one)
    hand.recall(one)
    assert future.cancelled()
    assert hand.land(one, future) is None
    assert (hand.sent, hand.flying) == (0, set())


def test_parts_that_wait_are_given_up_before_those_under_way() -> None:
    hand, one, given_up = Hand(), page(), list[int]()
    one.parts = (one.first,) * 3
    for place, future in enumerate(flown(hand, one)):
        future.add_done_callback(lambda _, place=place: given_up.append(place))  # type: ignore[misc]
    hand.recall(one)
    assert given_up == [2, 1, 0]


def test_a_page_that_is_put_back_is_sent_before_the_others_of_its_kind() -> None:
    hand, first, second = Hand(), page(1), page(2)
    hand.add(first)
    hand.add(second)
    assert hand.next_to_send(1) is first
    flown(hand, first)
    hand.put_back(first)
    assert list(hand.fresh) == [first, second]
    assert first.elapsed_s == 0


def test_words_in_hand_go_with_their_pages() -> None:
    hand, one, other = Hand(), page(1, words=7), page(2, words=5)
    hand.add(one)
    hand.add(other)
    assert hand.words == 12
    hand.drop(one)
    assert hand.words == 5


def test_all_pages_are_met_wherever_they_wait() -> None:
    hand, fresh, retry, flying, preparing = Hand(), page(1), again(2), page(3), again(4)
    hand.add(fresh)
    hand.again.append(retry)
    flown(hand, flying)
    hand.preparing.add(preparing)
    assert list(hand) == [fresh, retry, flying, preparing]
    assert len(hand) == 4


def test_a_page_has_spent_what_its_tries_took_and_the_time_since_it_was_sent() -> None:
    hand, one = Hand(), again(1)
    assert (one.spent_s, one.elapsed_s) == (2.0, 0.0)
    flown(hand, one)
    assert one.spent_s > 2.0
    assert one.elapsed_s > 0


def test_only_findings_that_weigh_call_for_a_step() -> None:
    one = page()
    told = judged(one, "turned", severity=Severity.INFO)
    assert told.codes == ("turned",)
    assert told.as_try().codes == frozenset()
    assert judged(one, "loop").as_try().codes == {"loop"}


def test_an_error_is_worse_than_any_reading() -> None:
    one = page()
    one.tries = [failed(one), judged(one, "loop", "truncated", "empty-with-ink"), failed(one)]
    assert one.best() is one.tries[1]
    assert one.tries[0].as_try().codes == {"ocr-timeout"}
    assert one.tries[0].as_try().is_bad


@pytest.mark.parametrize(
    ("worse", "better"),
    [(("empty-with-ink",), ("loop",)), (("loop", "truncated"), ("truncated",)), (("loop",), ())],
    ids=["nothing is worse than half a page", "two faults are worse than one", "a fault is worse than none"],
)
def test_the_try_with_fewer_and_lighter_faults_is_kept(
    worse: tuple[str, ...], better: tuple[str, ...]
) -> None:
    one = page()
    one.tries = [judged(one, *worse), judged(one, *better), judged(one, *worse)]
    assert one.best() is one.tries[1]


def test_the_tokens_of_a_try_are_those_of_prompt_and_reply() -> None:
    one = page()
    reading = replace(said("text"), tokens_in=1500, tokens_out=600)
    assert judged(one, reading=reading).as_try().tokens == 2100
    assert judged(one).as_try().tokens == 0
