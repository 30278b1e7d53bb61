"""Task runs that go on from batch to batch: few of them, whatever the batches, and nothing worked twice."""

from typing import Any

import pytest

from models.claim import Claim
from models.errors import DatabaseBusy
from models.stage import Stage
from tasks import span
from tasks.drain import Line, Shift, drain
from tasks.mill import Mill
from tasks.span import Span
from tests import factories
from tests.flows.yard import Yard, saying


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many claims each task run began with."""
    begun: list[int] = []
    perform = span.perform

    def counted(task: Any, mill: Mill, claims: list[Claim], *more: Any) -> Any:
        begun.append(len(claims))
        return perform(task, mill, claims, *more)

    monkeypatch.setattr(span, "perform", counted)
    return begun


def scripted(mill: Mill, monkeypatch: pytest.MonkeyPatch, batches: list[int | Exception]) -> None:
    """What the mill's claims bring, one after the other; nothing after that."""
    left = iter(batches)

    def claim(_stage: Stage, limit: int) -> list[Any]:
        found = next(left, 0)
        if isinstance(found, Exception):
            raise found
        return [object()] * min(found, limit)

    monkeypatch.setattr(mill, "claim", claim)


@pytest.mark.parametrize(("limit", "begun"), [(100, [1]), (2, [1, 1]), (1, [1, 1, 1])])
def test_a_task_run_takes_batches_until_it_has_had_enough(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, runs: list[int], limit: int, begun: list[int]
) -> None:
    mill, _ = yard.mill(saying())
    scripted(mill, monkeypatch, [1, 1, 1])
    worked: list[int] = []
    line = Line(Stage.LOAD, lambda _mill, claims: worked.append(len(claims)), limit=4)
    drain(mill, [Span(line, limit)], lambda: True)
    mill.close()
    assert worked == [1, 1, 1]
    assert runs == begun


def test_no_task_run_is_made_for_nothing(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, runs: list[int]
) -> None:
    mill, _ = yard.mill(saying())
    scripted(mill, monkeypatch, [])
    drain(mill, [Span(Line(Stage.LOAD, lambda *_: None, limit=4), 10)], lambda: True)
    mill.close()
    assert runs == []


def test_a_task_run_outlives_a_database_that_is_busy_for_a_moment(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, runs: list[int]
) -> None:
    mill, _ = yard.mill(saying())
    scripted(mill, monkeypatch, [2, DatabaseBusy("one moment"), 3])
    monkeypatch.setattr("tasks.drain.Patience.after", lambda *_: 0.0)
    worked: list[int] = []
    line = Line(Stage.VALIDATE, lambda _mill, claims: worked.append(len(claims)), limit=4)
    drain(mill, [Span(line, 10)], lambda: True)
    mill.close()
    assert worked == [2, 3]
    assert runs == [2]


def test_a_task_run_ends_with_its_mill(yard: Yard, monkeypatch: pytest.MonkeyPatch, runs: list[int]) -> None:
    mill, _ = yard.mill(saying())
    scripted(mill, monkeypatch, [1] * 50)
    worked: list[int] = []

    def work(_mill: Mill, claims: list[Claim]) -> None:
        worked.append(len(claims))
        if len(worked) == 3:
            mill.stopping.set()

    drain(mill, [Span(Line(Stage.LOAD, work, limit=1), 1_000)], lambda: False)
    mill.close()
    assert (len(worked), runs) == (3, [1])


def test_a_turn_counts_what_it_worked_off(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    mill, _ = yard.mill(saying())
    scripted(mill, monkeypatch, [3, 2])
    shift = Shift(Line(Stage.LOAD, lambda *_: None, limit=2), mill, lambda: True, float("inf"))
    shift.turn(lambda *_: None)
    assert (shift.count, shift.goes_on) == (2, True)
    for _ in range(2):
        shift.turn(lambda *_: None)
    mill.close()
    assert (shift.count, shift.goes_on) == (4, False)


def test_documents_that_end_one_by_one_are_loaded_in_one_task_run_a_lane(yard: Yard, runs: list[int]) -> None:
    for number in range(6):
        factories.write(yard.inbox / f"{number}.pdf", factories.pdf(f"Document {number}"))
    yard.ingest(saying())
    assert [row.status for row in yard.rows("document")] == ["complete"] * 6
    assert len(yard.rows("edition")) == 6
    assert 1 <= len(runs) <= 2
