"""Drains and what they rest on: lanes, lingering, budgets, error families, cache keys."""

import datetime as dt
import time
from types import SimpleNamespace

import pytest

from models.claim import Claim
from models.errors import Code, DatabaseBusy, DatabaseUnreachable, PageFailed, TransientError
from models.stage import Stage
from tasks import drain as drains
from tasks.drain import Line, drain, lingering
from tasks.ledger import failure_of
from tasks.manifest import Refusal
from tasks.mill import Mill, is_alive, owner_name
from tasks.policies import cache_key
from tasks.register import register_roots
from tasks.split import split_batch
from tests import factories
from tests.flows.yard import Yard, saying

_NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def test_a_lane_outlives_a_database_that_is_busy_for_a_moment(yard: Yard) -> None:
    mill, _ = yard.mill(saying())
    tries: list[int] = []

    def work(_mill: Mill, _claims: list[Claim]) -> None:
        raise AssertionError("there is nothing to work on")

    def is_over() -> bool:
        tries.append(1)
        if len(tries) < 3:
            raise DatabaseBusy("one moment")
        return True

    drain(mill, [Line(Stage.SPLIT, work, limit=1)], is_over)
    mill.close()
    assert len(tries) == 3


def test_what_a_passing_error_broke_off_is_claimed_again_as_if_it_never_had_been(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE"))
    mill, recipe_id = yard.mill(saying())
    register_roots(mill, [yard.inbox], recipe_id)
    tried: list[int] = []

    def work(mill: Mill, claims: list[Claim]) -> None:
        tried.extend(claim.attempt for claim in claims)
        if len(tried) < 3:
            raise DatabaseUnreachable("It is away.")
        split_batch(mill, claims)

    has_ended = drain(mill, [Line(Stage.SPLIT, work, 4)], lambda: not mill.outstanding([Stage.SPLIT]), 30.0)
    mill.close()
    assert has_ended
    assert tried == [1, 1, 1]
    assert [row.stage for row in yard.rows("claim", page_no=1)] == ["preprocess"]


def test_an_unforeseen_error_in_a_lane_stops_the_drain_and_is_told(yard: Yard) -> None:
    mill, _ = yard.mill(saying())

    def is_over() -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        drain(mill, [Line(Stage.SPLIT, lambda *_: None, limit=1, lanes=2)], is_over)
    assert mill.stopping.is_set()
    mill.close()


def test_a_drain_ends_when_its_time_is_up_though_there_is_work(yard: Yard) -> None:
    mill, _ = yard.mill(saying())
    started = time.monotonic()
    drain(mill, [Line(Stage.SPLIT, lambda *_: None, limit=1)], lambda: False, budget_s=0.3)
    mill.close()
    assert time.monotonic() - started >= 0.3


def test_lingering_starts_anew_with_every_piece_of_work(monkeypatch: pytest.MonkeyPatch) -> None:
    idle = iter([True, False, True, True])
    now = [0.0]
    monkeypatch.setattr(drains, "time", SimpleNamespace(monotonic=lambda: now[0]))
    is_over = lingering(lambda: next(idle), linger_s=5.0)
    assert not is_over()
    now[0] = 6.0
    assert not is_over()
    assert not is_over()
    now[0] = 12.0
    assert is_over()


def test_an_owner_is_alive_only_as_the_very_process_it_was() -> None:
    owner = owner_name()
    host, pid, started, suffix = owner.rsplit(":", 3)
    assert is_alive(owner)
    assert not is_alive(f"{host}:{pid}:{int(started) - 10}:{suffix}")


def test_equal_work_has_one_key_whatever_its_order_and_another_in_each_stage() -> None:
    assert cache_key(Stage.SPLIT, ["b", "a"]) == cache_key(Stage.SPLIT, ["a", "b"])
    assert cache_key(Stage.SPLIT, ["a"]) != cache_key(Stage.PREPROCESS, ["a"])


def test_an_error_keeps_family_and_code_as_data() -> None:
    for error in (TransientError("later", Code.STORE_FULL), PageFailed("torn", Code.RENDER_FAILED)):
        again = Refusal.model_validate_json(Refusal.of(error).model_dump_json()).error()
        assert (again.code, again.message) == (error.code, error.message)
        assert isinstance(again, TransientError) == isinstance(error, TransientError)


def test_an_interrupt_is_never_entered_as_a_failure_of_the_work(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE"))
    mill, recipe_id = yard.mill(saying())
    claim = Claim(1, 1, recipe_id, 0, Stage.SPLIT, 1, "x", *[_NOW] * 2)
    with pytest.raises(KeyboardInterrupt):
        failure_of(claim, KeyboardInterrupt())
    assert failure_of(claim, ValueError("odd")).error.code is Code.INTERNAL
    mill.close()
