"""Pages that have been read are let go at once, and not when Python looks for circles of garbage."""

import gc
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import httpx
import pytest

from models.errors import Code
from tasks.work.doubles.vllm_server import Said, ScriptedVllm
from tasks.work.pool import WorkerPool, pass_cancelling
from tests.served import page, reading


@pytest.fixture(autouse=True)
def no_search() -> Iterator[None]:
    """Nothing is found by a search for garbage."""
    gc.disable()
    yield
    gc.enable()


def gone(held: "weakref.ref[object]", within_s: float = 60.0) -> bool:
    until = time.monotonic() + within_s
    while held() is not None and time.monotonic() < until:
        time.sleep(0.02)
    return held() is None


def test_a_page_and_its_answer_are_let_go_when_it_was_read(tmp_path: Path) -> None:
    with ScriptedVllm(lambda _: Said("the words")) as server, reading(server) as engine:
        asked = engine.submit(page(tmp_path))
        answer = asked.result(120)
        held = weakref.ref(asked)
        del asked
        assert answer.text == "the words"
        assert gone(held)


def test_a_request_is_let_go_with_the_picture_that_it_sent(tmp_path: Path) -> None:
    with ScriptedVllm(lambda _: Said("the words")) as server, reading(server) as engine:
        gc.collect()
        for _ in range(8):
            engine.submit(page(tmp_path)).result(120)
        kept = [one for one in gc.get_objects() if isinstance(one, httpx.Request) and one.method == "POST"]
        assert len(kept) < 4


@pytest.mark.slow
def test_what_workers_return_is_let_go() -> None:
    pool = WorkerPool(1)
    held = []
    for _ in range(3):
        done = pool.submit(len, "abc", timeout_s=30, timeout_code=Code.INTERNAL)
        assert done.result(120) == 3
        held.append(weakref.ref(done))
        del done
    # The pool remembers the message it had last.
    assert all(gone(one) for one in held[:-1])
    pool.close()


def test_cancelling_is_passed_on_to_what_is_under_way() -> None:
    outer: Future[int] = Future()
    inner: Future[int] = Future()
    pass_cancelling(outer, inner)
    outer.cancel()
    assert inner.cancelled()


def test_an_end_without_cancelling_is_not_passed_on() -> None:
    outer: Future[int] = Future()
    inner: Future[int] = Future()
    pass_cancelling(outer, inner)
    outer.set_result(1)
    assert not inner.cancelled()


def test_cancelling_after_the_end_finds_nothing_to_cancel() -> None:
    outer: Future[int] = Future()
    inner: Future[int] = Future()
    pass_cancelling(outer, inner)
    del inner
    assert outer.cancel()
