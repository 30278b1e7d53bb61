import os
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from models.errors import Code, PageFailed, TransientError
from tasks.work.crew import WorkerCrew
from tests.served import until
from tests.unit.test_pool import _die, _double, _pid

pytestmark = pytest.mark.slow

OPTIONS: dict[str, Any] = {"timeout_s": 60, "timeout_code": Code.RENDER_TIMEOUT}


@pytest.fixture
def crew() -> Iterator[WorkerCrew]:
    made = WorkerCrew(2, documents=2)
    yield made
    made.close()


def _pid_when(begun: Path, gate: Path) -> int:
    """This process, as soon as the gate is there."""
    begun.touch()
    while not gate.exists():
        time.sleep(0.01)
    return os.getpid()


def _held(crew: WorkerCrew, gate: Path, near: str = "", name: str = "begun") -> Future[int]:
    """A task that lasts until there is a gate, and says that it has begun by a file of that name."""
    return crew.submit(_pid_when, gate.with_name(name), gate, near=near, **OPTIONS)


def test_pages_of_a_document_are_drawn_by_the_child_that_has_it_open(
    crew: WorkerCrew, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    begun = [_held(crew, gate, near) for near in "ab"]
    gate.touch()
    of_a, of_b = (future.result(60) for future in begun)
    assert of_a != of_b
    # One at a time both children are free, and whoever has been so for longest would be asked.
    found = [crew.submit(_pid, near=near, **OPTIONS).result(60) for near in "aabbbaab"]
    assert found == [{"a": of_a, "b": of_b}[near] for near in "aabbbaab"]


def test_a_child_without_work_does_not_wait_for_the_other(crew: WorkerCrew, tmp_path: Path) -> None:
    gate, other = tmp_path / "gate", tmp_path / "other"
    other.touch()
    first = _held(crew, gate, "a")
    second = _held(crew, other, "a")
    assert second.result(60) > 0
    assert not first.done()
    gate.touch()
    assert first.result(60) != second.result(60)


def test_a_document_that_nobody_has_goes_before_one_that_is_worked_on(
    crew: WorkerCrew, tmp_path: Path
) -> None:
    hold, free, go = (tmp_path / name for name in ("hold", "free", "go"))
    of_a, of_b = _held(crew, hold, "a"), _held(crew, free, "b")
    waits, goes = _held(crew, go, "a", "waits"), _held(crew, go, "c", "goes")
    free.touch()
    until((tmp_path / "goes").exists)
    assert not (tmp_path / "waits").exists()
    hold.touch()
    until((tmp_path / "waits").exists)
    go.touch()
    assert [waits.result(60), goes.result(60)] == [of_a.result(60), of_b.result(60)]


def test_a_child_forgets_documents_beyond_those_it_keeps_open(crew: WorkerCrew) -> None:
    for near in "abcdef":
        crew.submit(_double, 1, near=near, **OPTIONS).result(60)
    assert [list(child.documents) for child in crew._children] == [["c", "e"], ["d", "f"]]


def test_a_task_that_was_cancelled_while_it_waited_is_never_begun(crew: WorkerCrew, tmp_path: Path) -> None:
    gate, mark = tmp_path / "gate", tmp_path / "mark"
    held = [_held(crew, gate) for _ in range(2)]
    waits = crew.submit(Path.touch, mark, **OPTIONS)
    last = crew.submit(_double, 4, **OPTIONS)
    assert waits.cancel()
    gate.touch()
    assert last.result(60) == 8
    assert all(future.result(60) for future in held)
    assert not mark.exists()


def test_cancelling_what_has_begun_frees_its_child(crew: WorkerCrew, tmp_path: Path) -> None:
    held = [_held(crew, tmp_path / "never") for _ in range(2)]
    for future in held:
        future.cancel()
    assert crew.submit(_double, 4, **OPTIONS).result(60) == 8


def test_a_crash_and_a_task_that_overruns_take_only_themselves_along(
    crew: WorkerCrew, tmp_path: Path
) -> None:
    crash = crew.submit(_die, 11, near="a", crash_code=Code.RENDER_CRASH, **OPTIONS)
    late = crew.submit(
        _pid_when,
        tmp_path / "late",
        tmp_path / "never",
        near="b",
        timeout_s=0.5,
        timeout_code=Code.RENDER_TIMEOUT,
    )
    others = [crew.submit(_double, number, near=near, **OPTIONS) for number in range(6) for near in "ab"]
    assert [future.result(60) for future in others] == [2 * number for number in range(6) for _ in "ab"]
    with pytest.raises(TransientError) as caught:
        crash.result(60)
    assert caught.value.code is Code.RENDER_CRASH
    with pytest.raises(PageFailed):
        late.result(60)


def test_closing_cancels_what_waits_and_what_runs(tmp_path: Path) -> None:
    crew = WorkerCrew(1, documents=2)
    begun, waits = (_held(crew, tmp_path / "never", "a") for _ in range(2))
    until((tmp_path / "begun").exists)
    crew.close()
    assert begun.cancelled()
    assert waits.cancelled()
    with pytest.raises(RuntimeError, match="closed"):
        crew.submit(_double, 1, **OPTIONS)
