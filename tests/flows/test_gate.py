"""The gate before a stage: batches that are worth a task run, and nobody who waits for nothing."""

import time
from typing import Any

import pytest

from db import claims
from models.claim import Outstanding
from models.stage import Stage
from tasks.drain import Line, Shift
from tasks.gate import Gate
from tests.flows.yard import Yard, saying

WORTH = 4


def standing(monkeypatch: pytest.MonkeyPatch, ready: int, coming: int) -> None:
    """So many pages are ready, so many documents are still being split."""

    def outstanding(_conn: object, stages: list[Stage], _profile: str) -> Outstanding:
        return Outstanding(ready if stages == [Stage.PREPROCESS] else coming, 0, 0)

    monkeypatch.setattr(claims, "outstanding", outstanding)


def gate(most_s: float = 60.0) -> Gate:
    return Gate(Stage.PREPROCESS, Stage.SPLIT, WORTH, most_s)


@pytest.mark.parametrize(
    ("ready", "coming", "is_open"), [(WORTH, 9, True), (WORTH - 1, 9, False), (1, 0, True), (0, 9, False)]
)
def test_a_gate_opens_for_enough_or_when_no_more_can_come(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, ready: int, coming: int, is_open: bool
) -> None:
    mill, _ = yard.mill(saying())
    shut = gate()
    assert shut.opens(mill)
    standing(monkeypatch, ready, coming)
    assert shut.opens(mill) is is_open
    mill.close()


def test_a_gate_opens_when_it_was_closed_for_long(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    mill, _ = yard.mill(saying())
    shut = gate(most_s=60.0)
    standing(monkeypatch, 1, 9)
    assert [shut.opens(mill), shut.opens(mill)] == [True, False]
    monkeypatch.setattr(shut, "_opened_at", time.monotonic() - 60.0)
    assert shut.opens(mill)
    mill.close()


def test_first_batches_pass_and_grown_ones_wait_without_becoming_small_again(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    mill, _ = yard.mill(saying())
    asked: list[int] = []

    def claim(_stage: Stage, limit: int) -> list[Any]:
        asked.append(limit)
        return [object()]

    monkeypatch.setattr(mill, "claim", claim)
    standing(monkeypatch, 1, 9)
    line = Line(Stage.PREPROCESS, lambda *_: None, limit=16, first=1, gate=gate())
    assert line.gate is not None
    line.gate.opens(mill)
    shift = Shift(line, mill, lambda: True, float("inf"))
    for _ in range(4):
        shift.turn(lambda *_: None)
    assert (asked, shift.goes_on) == ([1], True)
    standing(monkeypatch, WORTH, 9)
    for _ in range(2):
        shift.turn(lambda *_: None)
    mill.close()
    assert asked == [1, 4, 16]


def test_a_drain_behind_a_gate_ends_when_nothing_is_left(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    mill, _ = yard.mill(saying())
    shift = Shift(
        Line(Stage.PREPROCESS, lambda *_: None, limit=16, gate=gate()), mill, lambda: True, float("inf")
    )
    shift.turn(lambda *_: None)
    mill.close()
    assert not shift.goes_on
