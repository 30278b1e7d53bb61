"""The OCR drain against an engine that only waits: full, bounded, soon begun, telling of its tail."""

import logging
import re
import tempfile
import threading
import time
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path

import pytest

from bench.drain import Wish, measure_afresh, report, seed
from flows import lines
from flows.lines import ocr_lines
from models import profiles
from models.claim import Claim
from models.engine import OcrEngine, OcrRequest
from models.errors import DatabaseBusy
from models.profile import Profile
from models.reading import Reading
from models.stage import Stage
from models.vlm import Rung
from tasks import feed, keeping
from tasks.drain import drain
from tasks.feed import Feed
from tasks.mill import Mill
from tasks.preprocess import preprocess_batch
from tasks.work.engines.fake import Awaiting, Delayed, FakeEngine, said
from tests import factories
from tests.flows.yard import Yard, saying

PROFILE = profiles.get("ppocr").model_copy(update={"batch_pages": 16})


def mill_for(yard: Yard, engine: OcrEngine, pages: int, profile: Profile = PROFILE) -> Mill:
    run_id = seed(yard.database, pages, profile, words=())
    return Mill(
        settings=yard.settings, database=yard.database, profile=profile, run_id=run_id, engine=engine, jobs=1
    )


def read_all(mill: Mill) -> None:
    drain(mill, ocr_lines(mill.profile), lambda: mill.outstanding([Stage.OCR]) == 0)
    mill.close()


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many pages each commit had."""
    sizes: list[int] = []

    def keep(mill: Mill, ended: list[keeping.Ended]) -> None:
        sizes.append(len(ended))
        keeping.keep(mill, ended)

    monkeypatch.setattr(feed, "keep", keep)
    return sizes


def test_pages_of_a_batch_that_are_late_hold_up_no_other_batch(yard: Yard) -> None:
    until = time.monotonic() + 300
    late = Awaiting(lambda: len(engine.requests) == 160 or time.monotonic() > until, said("late"))
    engine = FakeEngine([late] * 15, default=said("Words on paper"), slots=16)
    read_all(mill_for(yard, engine, 160))
    assert time.monotonic() < until
    assert len(yard.rows("reading")) == 160


def test_pages_are_committed_in_groups_and_soon(yard: Yard, batches: list[int]) -> None:
    read_all(mill_for(yard, FakeEngine(default=Delayed(0.05, said("Words on paper")), slots=16), 160))
    assert sum(batches) == 160
    assert len(batches) <= 80


@pytest.mark.slow
def test_an_instant_engine_and_many_pages_make_no_threads_and_hold_few_pages(yard: Yard) -> None:
    engine = FakeEngine(default=said("Words on paper"), slots=4)
    mill, most = mill_for(yard, engine, 700), [0, 0]
    reader = Feed(mill, lambda: mill.outstanding([Stage.OCR]) == 0)
    before = threading.active_count()
    while reader.goes_on:
        reader.turn()
        most = [max(most[0], threading.active_count() - before), max(most[1], len(reader._hand))]
    reader.finish()
    mill.close()
    assert most[0] <= engine.slots
    assert most[1] <= 4 * (4 + 2) + PROFILE.batch_pages
    assert len(yard.rows("reading")) == 700


def test_an_engine_that_gets_more_slots_is_given_more_pages(yard: Yard) -> None:
    engine = FakeEngine(default=Delayed(0.3, said("Words on paper")), slots=32)
    engine.slots = 2
    mill = mill_for(yard, engine, 64)
    reader = Feed(mill, lambda: mill.outstanding([Stage.OCR]) == 0)
    reader.turn()
    assert len(engine.requests) == 2 + 2
    engine.slots = 32
    reader.turn()
    reader.turn()
    assert len(engine.requests) >= 32
    mill.stopping.set()
    reader.finish()
    mill.close()


def test_the_first_page_is_sent_while_others_are_still_to_be_prepared(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf(*(f"page {number}" for number in range(20))))
    engine, until = FakeEngine(default=said("Words on paper")), time.monotonic() + 300

    def prepare(mill: Mill, claimed: list[Claim]) -> None:
        while yard.rows("page_image") and not engine.requests and time.monotonic() < until:
            time.sleep(0.02)
        preprocess_batch(mill, claimed)

    monkeypatch.setattr(lines, "preprocess_batch", prepare)
    assert len(yard.ingest(engine).requests) == 20
    assert time.monotonic() < until


def test_pages_that_take_long_are_told_with_their_time(
    yard: Yard, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "_TOLD_EVERY_S", 0.3)
    caplog.set_level(logging.INFO, "tasks.feed")
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO"))

    def told() -> list[logging.LogRecord]:
        return [record for record in caplog.records if "longest" in record.getMessage()]

    began = time.time()
    yard.ingest(
        saying(said("fine"), Awaiting(lambda: len(told()) >= 3 or time.time() > began + 300, said("late")))
    )
    assert len(told()) >= 3
    assert all(
        re.search(r"reading pages=\d.*document=1 page=\d step=first", one.getMessage()) for one in told()
    )
    assert told()[-1].created - began >= 0.3 * (len(told()) - 1)


def test_a_budget_ends_the_drain_with_what_is_in_work_and_leaves_the_rest(yard: Yard) -> None:
    engine = FakeEngine(default=Delayed(0.3, said("Words on paper")), slots=4)
    mill = mill_for(yard, engine, 200)
    reader = Feed(mill, lambda: False)
    while len(engine.requests) < 4:
        reader.turn()
    reader._deadline = time.monotonic()
    while reader.goes_on:
        reader.turn()
    reader.finish()
    mill.close()
    assert 4 <= len(engine.requests) == len(yard.rows("reading")) < 100
    assert {row.attempt for row in yard.rows("claim", stage="ocr", status="ready")} == {0}


def test_a_stop_closes_requests_and_keeps_what_is_read(yard: Yard) -> None:
    mill: Mill
    until = time.monotonic() + 300

    def late() -> bool:
        if len(yard.rows("reading")) == 4:
            mill.stopping.set()
        return time.monotonic() > until

    engine = FakeEngine([said("Words on paper")] * 4, default=Awaiting(late, said("Too late")), slots=2)
    mill = mill_for(yard, engine, 60)
    read_all(mill)
    assert [row.text for row in yard.rows("reading")] == ["Words on paper"] * 4
    assert len(engine.requests) <= 4 + 2 + 2
    assert yard.rows("claim", status="leased") == []


class NextInLine:
    """Reads one page for ever; the next one is begun as soon as it is cancelled, as at a served model."""

    name, slots = "next", 1

    def __init__(self) -> None:
        self.begun = 0
        self._line: deque[Future[Reading]] = deque()

    def submit(self, request: OcrRequest) -> Future[Reading]:
        self._line.append(future := Future())
        future.add_done_callback(self._ended)
        self.begun += len(self._line) == 1
        return future

    def _ended(self, future: Future[Reading]) -> None:
        is_first = self._line[0] is future
        self._line.remove(future)
        self.begun += is_first and len(self._line) > 0

    def facts(self) -> Mapping[str, str]:
        return {}

    def close(self) -> None:
        while self._line:
            self._line[-1].cancel()


def test_a_stop_begins_no_page_that_waited(yard: Yard) -> None:
    engine = NextInLine()
    mill = mill_for(yard, engine, 8)
    reader = Feed(mill, lambda: False)
    while not engine._line:
        reader.turn()
    assert len(engine._line) == 1 + 2
    reader.finish()
    assert (engine.begun, len(engine._line)) == (1, 0)
    mill.close()


def test_a_database_that_is_away_for_a_moment_loses_no_page_that_was_read(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = [DatabaseBusy("one moment")] * 2

    def keep(mill: Mill, ended: list[keeping.Ended]) -> None:
        if away:
            raise away.pop()
        keeping.keep(mill, ended)

    monkeypatch.setattr(feed, "keep", keep)
    engine = FakeEngine(default=said("Words on paper"), slots=2)
    read_all(mill_for(yard, engine, 20))
    assert len(yard.rows("reading")) == len(engine.requests) == 20


def test_a_page_that_is_prepared_wakes_the_reader_at_once(yard: Yard) -> None:
    mill = mill_for(yard, FakeEngine(default=said("Words on paper")), 0)
    woken: list[float] = []
    with mill.bells.listening(Stage.OCR, lambda: woken.append(time.monotonic())):
        mill.bells.worked(Stage.SPLIT)
        assert woken == []
        mill.bells.worked(Stage.PREPROCESS)
    mill.bells.worked(Stage.PREPROCESS)
    mill.close()
    assert len(woken) == 1


def test_bad_pages_take_a_share_of_the_slots_while_others_wait(yard: Yard) -> None:
    rungs = (Rung(kind="sampling"), Rung(kind="sampling", sampling={"temperature": 0.5}))
    profile = PROFILE.model_copy(update={"ladder": rungs, "finds_lines": False, "batch_pages": 60})

    def script(request: OcrRequest) -> Reading | Awaiting:
        is_again = request.trial.rung != "first"
        return again if is_again else said("" if len(firsts()) <= 12 else "Words on paper")

    def firsts() -> list[int]:
        return [at for at, one in enumerate(engine.requests) if one.trial.rung == "first"]

    until = time.monotonic() + 300
    again = Awaiting(lambda: len(firsts()) == 60 or time.monotonic() > until, said(""))
    engine = FakeEngine(script, slots=8)
    read_all(mill_for(yard, engine, 60, profile))
    assert len(engine.requests) == 60 + 2 * 12
    # All have been sent for the first time while one was sent again: one slot of eight is for those.
    assert firsts()[-1] <= 60
    assert sorted({row.attempts for row in yard.rows("reading")}) == [1, 3]


@pytest.mark.slow
def test_the_benchmark_of_the_drain_runs_at_toy_size(yard: Yard) -> None:
    with tempfile.TemporaryDirectory(prefix="pm-") as folder:
        measured = measure_afresh(Path(folder), wish := Wish(pages=100, slots=8, seconds=0.2))
    assert measured.requests > measured.pages == 100
    assert "slots filled" in report(measured, "x", wish)
