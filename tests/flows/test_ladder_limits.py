"""What a page may cost, what does not count against it, and that bad pages do not keep good ones waiting."""

from dataclasses import replace

import pytest

from models.errors import Code, EngineUnavailable, EnvironmentFault, PageFailed, TransientError
from models.vlm import Rung
from tasks import desk
from tasks.work.engines.fake import Delayed, FakeEngine
from tests.flows.climbing import GOOD, HOTTER, LOOP, WORDS, climbing, costing, page, tries
from tests.flows.yard import Yard

SAMPLING = Rung(kind="sampling")
TURNS = Rung(kind="turn", degrees=(90, 180, 270))


def test_a_page_that_nothing_helps_ends_after_so_many_attempts(yard: Yard) -> None:
    page(climbing(yard, SAMPLING, TURNS, attempts=3))
    assert len(yard.ingest(FakeEngine(default=LOOP)).requests) == 3
    (row,) = yard.rows("reading")
    assert (row.verdict, row.attempts, row.trial) == ("bad", 3, None)
    assert tries(yard) == [("first", "bad", True), ("sampling", "bad", False), ("turn 90", "bad", False)]


@pytest.mark.parametrize("limits", [{"seconds": 100}, {"tokens": 100}], ids=["seconds", "tokens"])
def test_a_page_that_has_cost_enough_is_not_asked_for_again(yard: Yard, limits: dict[str, int]) -> None:
    page(climbing(yard, SAMPLING, TURNS, **limits))
    engine = yard.ingest(FakeEngine(default=costing(LOOP, seconds=60.0, tokens=60)))
    assert len(engine.requests) == 2
    assert [(row.seconds, row.tokens_out) for row in yard.rows("attempt")] == [(60.0, 60)] * 2


def test_the_time_of_all_tries_is_the_page_s_and_the_reading_has_its_own(yard: Yard) -> None:
    page(climbing(yard, HOTTER))
    yard.ingest(FakeEngine([costing(LOOP, 5.0), costing(GOOD, 2.0)]))
    assert [row.seconds for row in yard.rows("stage_run", stage="ocr")] == [7.0]
    assert yard.rows("reading")[0].seconds == 2.0


def test_a_connection_error_between_tries_uses_up_none_and_forgets_none(yard: Yard) -> None:
    page(climbing(yard, SAMPLING, attempts=2))
    engine = yard.ingest(FakeEngine([LOOP, EngineUnavailable("no answer"), EngineUnavailable("no"), GOOD]))
    assert [request.trial.rung for request in engine.requests] == ["first"] + ["sampling"] * 3
    assert tries(yard) == [("first", "bad", False), ("sampling", "good", True)]
    assert yard.rows("reading")[0].attempts == 2


def test_an_engine_that_is_down_at_first_leaves_the_whole_ladder(yard: Yard) -> None:
    page(climbing(yard, SAMPLING, attempts=2))
    yard.ingest(FakeEngine([EngineUnavailable("no"), EngineUnavailable("no"), LOOP, GOOD]))
    assert [verdict for _, verdict, _ in tries(yard)] == ["bad", "good"]


def test_a_crash_at_a_later_step_keeps_what_was_read_before(yard: Yard) -> None:
    page(climbing(yard, SAMPLING))
    yard.ingest(FakeEngine([replace(LOOP), TransientError("killed by signal 11", Code.WORKER_DIED)]))
    assert yard.rows("reading")[0].verdict == "bad"
    assert [row.codes for row in yard.rows("attempt")][1:] == [("worker-died",)]


def test_a_page_that_cannot_be_read_at_first_is_read_in_another_way(yard: Yard) -> None:
    page(climbing(yard, SAMPLING))
    yard.ingest(FakeEngine([PageFailed("no deadline was met", Code.OCR_TIMEOUT), GOOD]))
    assert [(row.text, row.attempts) for row in yard.rows("reading")] == [(WORDS, 2)]


def test_a_page_that_passes_all_its_seconds_is_given_up(yard: Yard) -> None:
    page(climbing(yard, SAMPLING, seconds=0.3))
    yard.settings = yard.settings.model_copy(update={"ocr_wait_s": 0.0})
    yard.ingest(FakeEngine(default=Delayed(600.0, GOOD)))
    assert yard.document("a.pdf").code == "ocr-timeout"
    assert yard.rows("reading") == []


def test_an_engine_that_is_silent_for_long_ends_the_run_and_loses_no_page(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk, "_LEAST_SILENCE_S", 0.0)
    yard.settings = yard.settings.model_copy(update={"ocr_wait_s": 0.0})
    page(yard)
    with pytest.raises(EnvironmentFault, match="has not answered") as raised:
        yard.ingest(FakeEngine(default=EngineUnavailable("connection refused")))
    assert raised.value.code is Code.ENGINE_UNAVAILABLE
    assert {row.status for row in yard.rows("claim", stage="ocr")} == {"ready"}
    yard.ingest()
    assert len(yard.rows("reading")) == 1


def test_a_stopped_run_leaves_a_page_between_two_tries_to_the_next_one(yard: Yard) -> None:
    page(climbing(yard, SAMPLING))
    engine = FakeEngine([LOOP, Delayed(600.0, GOOD)])
    yard.ingest(engine, stop_when=lambda: len(engine.requests) == 2)
    assert (yard.rows("reading"), yard.rows("attempt")) == ([], [])
    assert [row.status for row in yard.rows("claim", stage="ocr")] in ([], ["ready"])
    yard.ingest(FakeEngine(default=GOOD))
    assert yard.rows("reading")[0].attempts == 1
