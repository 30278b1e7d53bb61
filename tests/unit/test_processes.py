"""Commands kept running in the background, and what ends with them."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from models.errors import Code, EnvironmentFault
from tasks.work.processes import Running, keeper, running, start, stop
from tests.permissions import as_nobody

pytestmark = pytest.mark.slow

_SLEEP = "import time; print('up', flush=True); time.sleep(600)"
_FAMILY = """
import subprocess, sys, time
sleep = "import time; time.sleep(600)"
ours = subprocess.Popen([sys.executable, "-c", sleep])
apart = subprocess.Popen([sys.executable, "-c", sleep], start_new_session=True)
print(ours.pid, apart.pid, flush=True)
time.sleep(600)
"""
_DEAF = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print('up', flush=True)
time.sleep(600)
"""
_TIDY = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (print('tidied', flush=True), sys.exit(0)))
print('up', flush=True)
time.sleep(600)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Where commands are kept; whatever a test leaves is ended."""
    yield tmp_path
    for state in tmp_path.glob("*.lock"):
        stop(state.stem, tmp_path, 0.1)


def begin(folder: Path, program: str, name: str = "one") -> Running:
    return start(name, [sys.executable, "-c", program], os.environ, folder)


def wait_for(truth: Callable[[], object], seconds: float = 120.0) -> None:
    until = time.monotonic() + seconds
    while not truth():
        assert time.monotonic() < until
        time.sleep(0.02)


def printed(folder: Path, name: str = "one") -> list[str]:
    log = folder / f"{name}.log"
    return log.read_text().split() if log.exists() else []


def lives(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def test_a_started_command_is_found_again_by_its_name(folder: Path) -> None:
    started = begin(folder, _SLEEP)
    assert running("one", folder) == started
    assert started.starts == 1
    assert started.command[1:] == ("-c", _SLEEP)
    wait_for(lambda: printed(folder) == ["up"])
    assert started.log == folder / "one.log"
    assert running("two", folder) is None


def test_a_command_has_a_session_of_its_own_and_no_input(folder: Path) -> None:
    begin(
        folder,
        "import os, sys, time; print(os.getsid(0), repr(sys.stdin.read()), flush=True); time.sleep(60)",
    )
    wait_for(lambda: len(printed(folder)) == 2)
    session, told = printed(folder)
    assert int(session) != os.getsid(0)
    assert told == "''"


def test_a_command_gets_the_environment_it_was_given_and_no_other(folder: Path) -> None:
    program = "import os, time; print(os.environ['HERE'], 'HOME' in os.environ, flush=True); time.sleep(60)"
    start("one", [sys.executable, "-c", program], {"HERE": "yes"}, folder)
    wait_for(lambda: printed(folder) == ["yes", "False"])


def test_starting_twice_starts_once(folder: Path) -> None:
    assert begin(folder, _SLEEP) == begin(folder, _SLEEP)


def test_starting_at_the_same_time_starts_once(folder: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        started = list(pool.map(lambda _: begin(folder, _SLEEP), range(4)))
    assert len({one.pid for one in started}) == 1


def test_two_names_are_two_commands(folder: Path) -> None:
    one, two = begin(folder, _SLEEP, "one"), begin(folder, _SLEEP, "two")
    assert one.pid != two.pid
    assert stop("one", folder, 5)
    assert running("two", folder) == two


def test_a_stopped_command_is_gone_and_leaves_its_log(folder: Path) -> None:
    started = begin(folder, _TIDY)
    wait_for(lambda: printed(folder) == ["up"])
    assert stop("one", folder, 60)
    assert not lives(started.pid)
    assert not lives(started.child)
    assert printed(folder) == ["up", "tidied"]
    assert running("one", folder) is None
    assert not (folder / "one.json").exists()


def test_stopping_what_does_not_run_says_so(folder: Path) -> None:
    assert not stop("one", folder, 1)
    assert not stop("one", folder / "nowhere", 1)
    begin(folder, _SLEEP)
    assert stop("one", folder, 5)
    assert not stop("one", folder, 1)


def test_children_end_with_their_command_even_in_sessions_of_their_own(folder: Path) -> None:
    begin(folder, _FAMILY)
    wait_for(lambda: len(printed(folder)) == 2)
    ours, apart = map(int, printed(folder))
    assert lives(ours)
    assert lives(apart)
    stop("one", folder, 0.5)
    assert not lives(ours)
    assert not lives(apart)


def test_what_does_not_listen_is_killed(folder: Path) -> None:
    started = begin(folder, _DEAF)
    wait_for(lambda: printed(folder) == ["up"])
    stop("one", folder, 0.2)
    assert not lives(started.child)


def test_a_command_that_dies_is_started_again(folder: Path) -> None:
    first = begin(folder, _SLEEP)
    os.kill(first.child, signal.SIGKILL)
    wait_for(lambda: (found := running("one", folder)) and found.starts == 2)
    second = running("one", folder)
    assert second is not None
    assert second.pid == first.pid
    assert second.child != first.child
    assert lives(second.child)


def test_a_command_that_ends_at_once_is_tried_ever_more_slowly(tmp_path: Path) -> None:
    kept = keeper.Keeper(tmp_path, "one", ["true"])
    kept.pause_s = 0.01
    pauses = []
    for _ in range(4):
        pauses.append(kept.pause_s)
        kept._rest()
    assert pauses == [0.01, 0.02, 0.04, 0.08]


def test_a_command_that_rests_before_its_next_start_can_be_stopped(folder: Path) -> None:
    begin(folder, "print('x')")
    wait_for(lambda: printed(folder) == ["x", "x"])
    assert stop("one", folder, 60)
    assert running("one", folder) is None


def test_what_a_dead_keeper_left_is_ended_before_the_next_start(folder: Path) -> None:
    first = begin(folder, _SLEEP)
    os.kill(first.pid, signal.SIGKILL)
    wait_for(lambda: not lives(first.pid))
    assert running("one", folder) is None
    assert lives(first.child)
    second = begin(folder, _SLEEP)
    assert not lives(first.child)
    assert lives(second.child)


def test_what_a_dead_keeper_left_can_be_stopped(folder: Path) -> None:
    first = begin(folder, _FAMILY)
    wait_for(lambda: len(printed(folder)) == 2)
    os.kill(first.pid, signal.SIGKILL)
    os.kill(first.child, signal.SIGKILL)
    assert stop("one", folder, 0.2)
    assert not [pid for pid in map(int, printed(folder)) if lives(pid)]


def test_the_number_of_another_process_is_not_taken_for_ours(folder: Path) -> None:
    told = {"pid": os.getpid(), "child": os.getpid(), "starts": 1, "command": ["x"]}
    (folder / "one.json").write_text(json.dumps(told))
    assert running("one", folder) is None
    assert not stop("one", folder, 0.1)


@pytest.mark.parametrize("content", ["", "{", '{"pid": 0}', '{"pid": 999999999}'])
def test_a_broken_record_means_that_nothing_runs(folder: Path, content: str) -> None:
    (folder / "one.json").write_text(content)
    assert running("one", folder) is None


def test_a_missing_program_is_told_before_anything_starts(folder: Path) -> None:
    with pytest.raises(EnvironmentFault) as caught:
        start("one", ["no-such-program"], os.environ, folder)
    assert caught.value.code is Code.PACKAGE_MISSING
    assert not (folder / "one.json").exists()


def test_a_folder_that_cannot_be_written_is_told(folder: Path) -> None:
    closed = folder / "closed"
    closed.mkdir(mode=0o500)
    with as_nobody(folder), pytest.raises(EnvironmentFault) as caught:
        begin(closed / "inner", _SLEEP)
    assert caught.value.code is Code.HOME_UNWRITABLE


def test_a_long_log_is_put_aside(tmp_path: Path) -> None:
    kept = keeper.Keeper(tmp_path, "one", ["true"])
    kept.log.write_bytes(b"x" * 10_000_001)
    keeper.mind_log(kept.log)
    assert kept.log.stat().st_size == 0
    assert (tmp_path / "one.log.1").stat().st_size == 10_000_001
