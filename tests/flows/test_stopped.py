"""A run that is stopped in the middle of a batch keeps what is done and leaves the rest as it was."""

import threading
from typing import Any

import pytest

from flows import ingesting
from models.claim import Claim
from models.stage import Stage
from tasks.drain import Line, drain
from tasks.load import load_batch
from tasks.mill import Mill
from tasks.preprocess import preprocess_batch
from tasks.register import register_roots
from tasks.split import split_batch
from tests import factories
from tests.flows.yard import Yard, saying
from tests.served import until

pytestmark = pytest.mark.slow

_PAGES = 120


def work(yard: Yard, line: Line, *, stopped: bool = False) -> None:
    """Work a line off in a mill of its own, to the end or stopped soon after it began."""
    mill, recipe_id = yard.mill(saying())
    register_roots(mill, [yard.inbox], recipe_id)
    if stopped:
        threading.Thread(target=stop, args=(yard, mill, line.stage), daemon=True).start()
    drain(mill, [line], lambda: not mill.outstanding([line.stage]))
    mill.close()


def stop(yard: Yard, mill: Mill, stage: Stage) -> None:
    until(lambda: yard.rows("claim", stage=stage, status="leased"))
    until(lambda: stage is Stage.SPLIT or any(yard.settings.store.rglob("*.*")))
    mill.stopping.set()


def claims_of(yard: Yard) -> set[tuple[Any, ...]]:
    return {(row.status, row.crashes, row.attempt) for row in yard.rows("claim", stage="preprocess")}


def test_pages_that_are_prepared_when_a_run_is_stopped_are_kept_and_the_others_are_as_they_were(
    yard: Yard,
) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf(*map(str, range(_PAGES))))
    work(yard, Line(Stage.SPLIT, split_batch, 8))
    whole = Line(Stage.PREPROCESS, preprocess_batch, 512)
    work(yard, whole, stopped=True)
    done = len(yard.rows("page_image"))
    assert done < _PAGES
    assert claims_of(yard) == {("ready", 0, 0)}
    assert len(yard.rows("claim", stage="ocr")) == done
    work(yard, whole)
    assert len(yard.rows("page_image")) == len(yard.rows("claim", stage="ocr")) == _PAGES


def test_documents_that_nobody_has_begun_when_a_run_is_stopped_are_left_alone(yard: Yard) -> None:
    for number in range(12):
        factories.write(yard.inbox / f"{number}.pdf", factories.pdf(*map(str, range(number + 5))))
    many = Line(Stage.SPLIT, split_batch, 128)
    work(yard, many, stopped=True)
    rows = [row for row in yard.rows("claim", page_no=0) if row.stage == "split"]
    assert {(row.crashes, row.code) for row in rows} == {(0, None)}
    work(yard, many)
    assert len(yard.rows("page")) == sum(number + 5 for number in range(12))


def test_a_stopped_mill_loads_no_further_document(yard: Yard) -> None:
    mill, _ = yard.mill(saying())
    mill.stopping.set()
    never: list[Claim] = [None]  # type: ignore[list-item]
    load_batch(mill, never)
    mill.close()


def test_what_ends_a_run_before_there_is_work_ends_its_scan(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    mill, recipe_id = yard.mill(saying())
    heard: list[bool] = []

    def ended(_: Mill) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(ingesting, "register_roots", lambda *_: heard.append(mill.stopping.wait(300)))
    monkeypatch.setattr(ingesting, "is_done", ended)
    with pytest.raises(KeyboardInterrupt):
        ingesting.work_off(mill, [yard.inbox], recipe_id)
    mill.close()
    assert heard == [True]
