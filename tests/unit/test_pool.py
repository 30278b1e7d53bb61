import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from models.errors import Code, DocumentRejected, PageFailed, PagemillError, TransientError
from tasks.work.pool import WorkerPool
from tests.served import until

pytestmark = pytest.mark.slow

_state: list[str] = []


def _double(number: int) -> int:
    return 2 * number


def _pid() -> int:
    return os.getpid()


def _remember(word: str) -> None:
    _state.append(word)


def _remembered() -> list[str]:
    return _state


def _die(number: int) -> None:
    os.kill(os.getpid(), number)


def _leave(number: int) -> None:
    os._exit(number)


def _compute_for_ever() -> None:
    """Native code that holds the interpreter: no Python signal handler gets a turn."""
    pow(7, 10**9)


def _reject() -> None:
    raise DocumentRejected("No pages.", Code.ZERO_PAGES)


class _UnpicklableError(Exception):
    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def _fail() -> None:
    raise _UnpicklableError(1, 2)


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    made = WorkerPool(2)
    yield made
    made.close()


def _run(pool: WorkerPool, fn: object, *args: object, timeout_s: float = 120) -> object:
    submitted = pool.submit(fn, *args, timeout_s=timeout_s, timeout_code=Code.RENDER_TIMEOUT)  # type: ignore[arg-type]
    return submitted.result(300)


def _works(pool: WorkerPool) -> bool:
    try:
        return _run(pool, _double, 1) == 2
    except TransientError:
        return False


def test_a_task_runs_in_another_process(pool: WorkerPool) -> None:
    assert _run(pool, _double, 21) == 42
    assert _run(pool, _pid) != os.getpid()


def test_a_task_that_overruns_is_killed_even_inside_native_code(pool: WorkerPool) -> None:
    with pytest.raises(PageFailed) as caught:
        _run(pool, _compute_for_ever, timeout_s=0.5)
    assert caught.value.code is Code.RENDER_TIMEOUT
    assert "0.5 s" in caught.value.message


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL])
def test_a_crash_names_the_signal_and_the_next_task_runs(pool: WorkerPool, number: signal.Signals) -> None:
    with pytest.raises(TransientError) as caught:
        _run(pool, _die, int(number))
    assert caught.value.code is Code.WORKER_DIED
    assert f"signal {int(number)}" in caught.value.message
    assert _run(pool, _double, 1) == 2


def test_a_child_that_leaves_by_itself_names_its_exit_number(pool: WorkerPool) -> None:
    with pytest.raises(TransientError, match="exit number 3"):
        _run(pool, _leave, 3)


def test_a_crash_takes_only_its_own_task_with_it(pool: WorkerPool) -> None:
    options = {"timeout_s": 120, "timeout_code": Code.RENDER_TIMEOUT, "crash_code": Code.RENDER_CRASH}
    futures = [pool.submit(_double, number, **options) for number in range(20)]  # type: ignore[arg-type]
    crash = pool.submit(_die, int(signal.SIGSEGV), **options)  # type: ignore[arg-type]
    futures += [pool.submit(_double, number, **options) for number in range(20, 40)]  # type: ignore[arg-type]
    assert [future.result(300) for future in futures] == [2 * number for number in range(40)]
    with pytest.raises(TransientError) as caught:
        crash.result(300)
    assert caught.value.code is Code.RENDER_CRASH


def test_an_error_of_ours_keeps_its_code_over_the_border(pool: WorkerPool) -> None:
    with pytest.raises(DocumentRejected) as caught:
        _run(pool, _reject)
    assert (caught.value.code, caught.value.message) == (Code.ZERO_PAGES, "No pages.")


def test_an_error_that_cannot_be_pickled_becomes_one_of_ours(pool: WorkerPool) -> None:
    with pytest.raises(PagemillError, match="_UnpicklableError: 1 and 2") as caught:
        _run(pool, _fail)
    assert caught.value.code is Code.INTERNAL
    assert _run(pool, _double, 1) == 2


def test_a_killed_idle_child_does_not_break_the_pool(pool: WorkerPool) -> None:
    for _ in range(3):
        os.kill(int(str(_run(pool, _pid))), signal.SIGKILL)
        # A task that is given to it before its death is noticed dies with it.
        until(lambda: _works(pool))


def test_children_are_recycled() -> None:
    pool = WorkerPool(1, recycle_after=3)
    pids = [_run(pool, _pid) for _ in range(7)]
    pool.close()
    assert [pids.count(pid) for pid in dict.fromkeys(pids)] == [3, 3, 1]


def test_each_child_is_initialised_once() -> None:
    pool = WorkerPool(1, initializer=_remember, initargs=("ready",))
    _run(pool, _double, 1)
    assert _run(pool, _remembered) == ["ready"]
    pool.close()


_FROZEN = """
import gc
from models.errors import Code
from tasks.work.pool import WorkerPool
pool = WorkerPool(1)
print(pool.submit(gc.get_freeze_count, timeout_s=120, timeout_code=Code.RENDER_TIMEOUT).result(300))
pool.close()
"""


def test_children_do_not_look_for_garbage_in_what_their_server_imported() -> None:
    # In a process of its own: here, somebody may have started the server of children before the pool.
    command = [sys.executable, "-c", _FROZEN]
    frozen = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
    assert int(frozen) > 10_000


def test_a_child_that_cannot_start_fails_its_tasks_instead_of_hanging() -> None:
    pool = WorkerPool(1, initializer=_leave, initargs=(5,))
    with pytest.raises(TransientError) as caught:
        _run(pool, _double, 1)
    assert caught.value.code is Code.WORKER_DIED
    pool.close()


def test_closing_kills_what_runs_and_cancels_what_waits() -> None:
    pool = WorkerPool(1)
    child = int(str(_run(pool, _pid)))
    options = {"timeout_s": 600, "timeout_code": Code.OCR_TIMEOUT}
    futures = [pool.submit(_compute_for_ever, **options) for _ in range(3)]  # type: ignore[arg-type]
    time.sleep(0.3)
    pool.close()
    assert len(wait(futures, timeout=120).done) == 3
    for future in futures:
        with pytest.raises(CancelledError):
            future.result()
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE
    with pytest.raises(RuntimeError):
        _run(pool, _double, 1)


def test_cancelling_frees_the_child(pool: WorkerPool) -> None:
    options = {"timeout_s": 600, "timeout_code": Code.OCR_TIMEOUT}
    futures = [pool.submit(_compute_for_ever, **options) for _ in range(2)]  # type: ignore[arg-type]
    time.sleep(0.3)
    assert all(future.cancel() for future in futures)
    assert _run(pool, _double, 4) == 8


def _has_imported(module: str) -> bool:
    return module in sys.modules


_OWN_MAIN = """
import sys, sched
from models.errors import Code
from tasks.work.pool import WorkerPool
from tests.unit.test_pool import _has_imported
if __name__ == "__main__":
    workers = WorkerPool(1)
    options = dict(timeout_s=120, timeout_code=Code.OCR_TIMEOUT)
    print([workers.submit(_has_imported, name, **options).result() for name in ("pebble", "sched")])
    workers.close()
"""


def test_a_child_does_not_import_the_program_that_started_it(tmp_path: Path) -> None:
    """Under a Prefect worker the main module is all of Prefect."""
    (tmp_path / "program.py").write_text(_OWN_MAIN)
    root = Path(__file__).parents[2]
    command = [sys.executable, str(tmp_path / "program.py")]
    environment = os.environ | {"PYTHONPATH": str(root)}
    said = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert said.strip() == "[True, False]"


_ORPHANS = """
import os, time
from models.errors import Code
from tasks.work import pool
from tests.unit.test_pool import _compute_for_ever, _pid
pool._ORPHAN_GRACE_S = 1.0
if __name__ == "__main__":
    workers = pool.WorkerPool(1)
    code = Code.OCR_TIMEOUT
    print(workers.submit(_pid, timeout_s=120.0, timeout_code=code).result(), flush=True)
    workers.submit(_compute_for_ever, timeout_s=1.0, timeout_code=code)
    time.sleep(0.5)
    os.kill(os.getpid(), 9)
"""


def test_a_child_whose_parent_was_killed_does_not_compute_for_ever() -> None:
    root = Path(__file__).parents[2]
    ended = subprocess.run(
        [sys.executable, "-c", _ORPHANS], cwd=root, stdout=subprocess.PIPE, text=True, check=False
    )
    assert ended.returncode == -signal.SIGKILL
    child = int(ended.stdout)
    until(lambda: not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE)


class Broken:
    """A pool whose children have ended, and what starts them as well."""

    def schedule(self, *_: object, **_named: object) -> None:
        raise BrokenProcessPool


def test_a_pool_that_can_start_no_child_says_so_in_the_future(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(WorkerPool(1)) as pool, monkeypatch.context() as broken:
        broken.setattr(pool, "_pool", Broken())
        broken.setattr(pool, "_new_pool", Broken)
        future = pool.submit(abs, -1, timeout_s=60, timeout_code=Code.OCR_TIMEOUT)
    with pytest.raises(TransientError, match="died") as raised:
        future.result()
    assert raised.value.code == Code.WORKER_DIED


_CHILD_S_SIGNALS = """
from pathlib import Path
from models.errors import Code
from tasks.work.pool import WorkerPool
pool = WorkerPool(1)
told = pool.submit(Path.read_text, Path("/proc/self/status"), timeout_s=60, timeout_code=Code.OCR_TIMEOUT)
print(next(line for line in told.result().splitlines() if line.startswith("SigBlk:")))
pool.close()
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells")
def test_a_child_never_hears_what_the_terminal_tells_its_parent() -> None:
    command = [sys.executable, "-c", _CHILD_S_SIGNALS]
    told = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
    blocked = int(told.split()[1], 16)
    assert [number for number in (signal.SIGINT, signal.SIGHUP) if not blocked & 1 << number - 1] == []
