import time
from concurrent.futures import wait
from dataclasses import replace
from pathlib import Path

import pytest

from models.engine import OcrEngine, OcrRequest
from models.errors import Code, ConfigurationError, EngineUnavailable, PageFailed
from models.geometry import Transform
from models.page import PageImage
from models.recipe import Recipe
from tasks.work.engines.fake import Awaiting, Delayed, FakeEngine, said
from tests.served import until


def _page(sha256: str = "a" * 64) -> OcrRequest:
    image = PageImage(sha256, ".jpg", 100, 200, Transform.scale(1, 1), 0.1, is_blank=False)
    return OcrRequest(image, Path("page.jpg"), 100, 200, Recipe())


def test_answers_come_in_the_order_of_the_script() -> None:
    engine = FakeEngine([said("one"), said("two")])
    assert [engine.submit(_page()).result().text for _ in range(2)] == ["one", "two"]


def test_an_image_has_its_own_answer_and_others_the_default() -> None:
    engine = FakeEngine({"b" * 64: said("known")}, default=said("other"))
    assert engine.submit(_page("b" * 64)).result().text == "known"
    assert engine.submit(_page()).result().text == "other"


def test_an_image_can_fail_once_and_then_be_read_for_ever() -> None:
    engine = FakeEngine({"a" * 64: [EngineUnavailable("down"), said("up")]})
    with pytest.raises(EngineUnavailable):
        engine.submit(_page()).result()
    assert [engine.submit(_page()).result().text for _ in range(2)] == ["up", "up"]


def test_errors_arrive_through_the_future_with_their_code() -> None:
    future = FakeEngine([PageFailed("torn", Code.OCR_FAILED)]).submit(_page())
    error = future.exception()
    assert isinstance(error, PageFailed)
    assert error.code is Code.OCR_FAILED


def test_a_page_that_the_script_forgot_says_so() -> None:
    with pytest.raises(ConfigurationError, match="no answer"):
        FakeEngine().submit(_page()).result()


def test_a_delay_is_waited_in_another_thread() -> None:
    engine = FakeEngine([Delayed(600.0, said("late")), said("at once")])
    late, early = engine.submit(_page()), engine.submit(_page())
    assert early.result().text == "at once"
    assert not late.done()
    until(late.running)
    engine.close()
    assert late.result().text == "late"


def test_at_most_so_many_pages_are_read_at_once_as_there_are_slots() -> None:
    engine = FakeEngine(default=Delayed(0.05, said("x")), slots=2)
    started = time.monotonic()
    wait([engine.submit(_page()) for _ in range(6)])
    assert time.monotonic() - started >= 0.15


def test_requests_are_kept_in_the_order_of_submission() -> None:
    engine = FakeEngine(default=said("x"))
    requests = [_page(str(number) * 64) for number in range(5)]
    wait([engine.submit(request) for request in requests])
    assert engine.requests == requests


def test_close_cancels_what_has_not_begun() -> None:
    engine = FakeEngine(default=Delayed(600.0, said("x")), slots=1)
    futures = [engine.submit(_page()) for _ in range(4)]
    until(futures[0].running)
    engine.close()
    assert futures[0].result().text == "x", "it was begun: its delay ended early"
    assert [future.cancelled() for future in futures[1:]] == [True] * 3


def test_an_answer_may_wait_for_something() -> None:
    come: list[bool] = []
    engine = FakeEngine([Awaiting(lambda: come, said("now"))])
    future = engine.submit(_page())
    until(future.running)
    assert not future.done()
    come.append(True)
    assert future.result().text == "now"


def test_said_makes_a_block_of_each_paragraph() -> None:
    reading = said("first\n\nsecond")
    assert [block.text for block in reading.blocks] == ["first", "second"]
    assert replace(reading, text="").engine == "fake"


def test_it_speaks_the_protocol_of_engines() -> None:
    engine: OcrEngine = FakeEngine()
    assert engine.facts() == {"fake": "scripted"}
