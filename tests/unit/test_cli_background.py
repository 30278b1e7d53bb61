"""A run in its own thread: how it is started, watched and stopped."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from cli import background
from models.errors import ConfigurationError

Started = Callable[[int], None]
PATIENCE_S = 120.0


def until_stopped(started: Started, stop: threading.Event) -> int:
    started(5)
    assert stop.wait(PATIENCE_S)
    return 5


def test_the_id_is_known_before_the_end() -> None:
    run = background.start(until_stopped)
    assert run.started.result(PATIENCE_S) == 5
    assert not run.ended.done()
    run.stop.set()
    assert run.ended.result(PATIENCE_S) == 5


def test_what_ends_a_run_is_raised_where_it_is_watched() -> None:
    def refuse(_started: Started, _stop: threading.Event) -> int:
        raise ConfigurationError("no such profile")

    with pytest.raises(ConfigurationError, match="no such profile"):
        background.start(refuse).ended.result(PATIENCE_S)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_run_gently_and_is_told_once(number: signal.Signals) -> None:
    run = background.start(until_stopped)
    told: list[str] = []
    with background.stopping_on_signals(run, lambda: told.append("stopping")) as interrupted:
        os.kill(os.getpid(), number)
        assert run.ended.result(PATIENCE_S) == 5
    assert interrupted.is_set()
    assert told == ["stopping"]


def test_a_signal_in_the_midst_of_a_line_is_told_after_it() -> None:
    run, line, said = background.start(until_stopped), threading.Lock(), list[str]()

    def tell() -> None:
        with line:
            said.append("stopping")

    with background.stopping_on_signals(run, tell), line:
        os.kill(os.getpid(), signal.SIGINT)
        run.ended.result(PATIENCE_S)
        said.append("the line")
    assert said == ["the line", "stopping"]


def test_without_a_signal_nothing_was_interrupted() -> None:
    run = background.start(until_stopped)
    with background.stopping_on_signals(run, lambda: None) as interrupted:
        run.stop.set()
        run.ended.result(PATIENCE_S)
    assert not interrupted.is_set()


def test_the_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with background.stopping_on_signals(background.Run(), lambda: None):
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before


TWICE = """
import os, signal, threading
from cli import background
run = background.start(lambda started, stop: threading.Event().wait() or 0)
with background.stopping_on_signals(run, lambda: os.kill(os.getpid(), signal.SIGINT)):
    os.kill(os.getpid(), signal.SIGINT)
    run.ended.result(120)
"""


def test_a_second_ctrl_c_ends_at_once_with_130() -> None:
    done = subprocess.run([sys.executable, "-c", TWICE], check=False, timeout=300)
    assert done.returncode == 130


HANGING_UP = TWICE.replace(
    "    os.kill(os.getpid(), signal.SIGINT)\n    run", "    os.kill(os.getpid(), signal.SIGHUP)\n    run"
)


def test_a_closed_terminal_ends_at_once_and_lets_go_though_it_is_told_twice() -> None:
    letting_go = HANGING_UP.replace(
        "or 0)", "or 0, lambda: (os.kill(os.getpid(), signal.SIGHUP), print('let go', flush=True)))"
    )
    command = [sys.executable, "-c", letting_go]
    done = subprocess.run(command, check=False, timeout=300, capture_output=True, text=True)
    assert "SIGHUP" in HANGING_UP
    assert (done.returncode, done.stdout, done.stderr) == (130, "let go\n", "")


LETTING_GO = TWICE.replace("or 0)", "or 0, lambda: print('let go', flush=True))")
STUCK = TWICE.replace(
    "or 0)", "or 0, lambda: (os.kill(os.getpid(), signal.SIGINT), threading.Event().wait()))"
)


@pytest.mark.parametrize(("code", "said"), [(LETTING_GO, "let go\n"), (STUCK, "")])
def test_before_that_it_lets_go_of_its_work_and_a_third_does_not_wait_for_it(code: str, said: str) -> None:
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=False, timeout=30, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, said, "")


def test_a_run_that_nobody_can_see_any_more_is_stopped_and_lets_go() -> None:
    let_go = threading.Event()
    run = background.start(lambda started, _stop: until_stopped(started, let_go), let_go.set)
    with pytest.raises(BrokenPipeError), background.stopping_on_signals(run, lambda: None) as interrupted:
        raise BrokenPipeError
    assert run.ended.result(PATIENCE_S) == 5
    assert not interrupted.is_set()
