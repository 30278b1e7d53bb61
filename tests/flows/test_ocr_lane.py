"""The lane that reads, beside the others: task runs, patience, batches that begin small."""

import math
import threading
import time

import pytest

from bench.drain import seed
from models import profiles
from models.claim import Claim
from models.errors import DatabaseBusy, EnvironmentFault
from models.stage import Stage
from tasks import drain as drains
from tasks import ocr
from tasks.drain import Line, Patience, drain
from tasks.feed import Feed
from tasks.mill import Mill
from tasks.ocr import OcrLane
from tasks.policies import perform
from tasks.work.engines.fake import Delayed, FakeEngine, said
from tests import factories
from tests.flows.yard import Yard, saying

PROFILE = profiles.get("ppocr").model_copy(update={"batch_pages": 16})


def mill_for(yard: Yard, engine: FakeEngine, pages: int) -> Mill:
    run_id = seed(yard.database, pages, PROFILE, words=())
    return Mill(
        settings=yard.settings,
        database=yard.database,
        profile=PROFILE,
        run_id=run_id,
        engine=engine,
        jobs=1,
    )


@pytest.fixture
def task_runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Pages of each task run there would be with a server."""
    pages: list[int] = []

    def counted(*args: object) -> int:
        pages.append(perform(*args))  # type: ignore[arg-type]
        return pages[-1]

    monkeypatch.setattr(ocr, "perform", counted)
    return pages


def test_a_task_run_is_so_many_pages_whatever_batches_they_came_in(yard: Yard, task_runs: list[int]) -> None:
    mill = mill_for(yard, FakeEngine(default=said("Words on paper"), slots=4), 300)
    drain(mill, [OcrLane(limit=128)], lambda: mill.outstanding([Stage.OCR]) == 0)
    mill.close()
    assert len(yard.rows("reading")) == 300
    assert len(task_runs) <= 3
    # Before the first page is in hand there is nothing to have a task run for.
    assert 280 <= sum(task_runs) <= 300


def test_pages_are_in_work_across_the_borders_of_task_runs(yard: Yard, task_runs: list[int]) -> None:
    engine = FakeEngine(default=Delayed(0.1, said("Words on paper")), slots=8)
    mill = mill_for(yard, engine, 64)
    left: list[int] = []

    def is_over() -> bool:
        return mill.outstanding([Stage.OCR]) == 0

    reader = Feed(mill, is_over)
    while reader.goes_on:
        ocr.read_pages.fn(mill, reader, 16)
        left.append(reader._hand.sent)
    reader.finish()
    mill.close()
    assert len(yard.rows("reading")) == 64
    # When one ends, the next finds the engine at work.
    assert max(left) > 0


def test_nothing_to_read_is_no_task_run(yard: Yard, task_runs: list[int]) -> None:
    mill = mill_for(yard, FakeEngine(default=said("Words on paper")), 0)
    drain(mill, [OcrLane(limit=128)], lambda: True)
    mill.close()
    assert task_runs == []


def test_work_that_arrives_later_is_read_by_a_drain_that_lingers(yard: Yard) -> None:
    mill = mill_for(yard, FakeEngine(default=said("Words on paper")), 0)
    threading.Timer(0.5, seed, args=(yard.database, 5, PROFILE, ())).start()
    drain(mill, [OcrLane(limit=128)], lambda: len(yard.rows("reading")) == 5, 300.0)
    mill.close()
    assert len(yard.rows("reading")) == 5


def test_an_error_that_will_not_pass_ends_the_lane_and_keeps_what_is_read(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    mill = mill_for(yard, FakeEngine(default=said("Words on paper"), slots=2), 40)
    turn = Feed.turn

    def failing(feed: Feed) -> None:
        if feed.count or feed._desk.ended:
            raise EnvironmentFault("no space left")
        turn(feed)

    monkeypatch.setattr(Feed, "turn", failing)
    with pytest.raises(EnvironmentFault):
        drain(mill, [OcrLane(limit=128)], lambda: mill.outstanding([Stage.OCR]) == 0)
    mill.close()
    assert len(yard.rows("reading")) > 0
    assert yard.rows("claim", status="leased") == []


def test_patience_ends_after_so_many_failures_in_a_row_and_is_restored_by_success(yard: Yard) -> None:
    mill, _ = yard.mill(saying())
    patience, busy = Patience(mill, Stage.OCR), DatabaseBusy("one moment")
    for _ in range(7):
        assert patience.after(busy) >= 0
    patience.restore()
    for _ in range(7):
        patience.after(busy)
    with pytest.raises(DatabaseBusy):
        patience.after(busy)
    mill.close()


def test_batches_begin_small_and_grow(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE"))
    mill, sizes = mill_for(yard, saying(), 60), []

    def work(mill: Mill, claims: list[Claim]) -> None:
        sizes.append(len(claims))

    left = iter(range(100))
    line = Line(Stage.OCR, work, limit=32, first=1)
    line.run(mill, lambda: next(left) > 0, math.inf)
    mill.close()
    assert sizes[:4] == [1, 4, 16, 32]
    assert sum(sizes) == 60


def test_an_idle_lane_is_woken_by_the_stage_before_it(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drains, "LONGEST_PAUSE_S", 300.0)
    monkeypatch.setattr(drains, "SHORTEST_PAUSE_S", 300.0)
    mill = mill_for(yard, saying(), 0)
    asked: list[float] = []

    def is_over() -> bool:
        asked.append(time.monotonic())
        return len(asked) > 1

    threading.Timer(0.5, mill.bells.worked, args=(Stage.SPLIT,)).start()
    Line(Stage.PREPROCESS, lambda *_: None, limit=1).run(mill, is_over, math.inf)
    mill.close()
    assert asked[1] - asked[0] < 100
