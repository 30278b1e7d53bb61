"""A run in a thread of its own, while the main thread shows how far it is and hears Ctrl-C."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

from cli.exits import Exit
from tasks.work.processes import signals
from tasks.work.processes.signals import HANG_UP

_LET_GO_S = 3.0


@dataclass
class Run:
    """A run under way. `stop` asks it to end after the pages in hand."""

    started: Future[int] = field(default_factory=Future)
    """The run's id, as soon as there is one."""
    ended: Future[int] = field(default_factory=Future)
    """The run's id, or what ended it."""
    stop: threading.Event = field(default_factory=threading.Event)
    let_go: Callable[[], object] = lambda: None
    """Gives back what the run holds, where the process ends before the run does."""


Work = Callable[[Callable[[int], None], threading.Event], int]


def start(work: Work, let_go: Callable[[], object] = lambda: None) -> Run:
    """Begin `work(started, stop)` in a thread; `let_go` is called in another where that is ended at once."""
    # Who tidies up after multiprocessing complains, on the terminal, of what such an end leaves.
    sys.warnoptions.append("ignore:resource_tracker")
    run = Run(let_go=let_go)
    # Not waited for at exit: after a second Ctrl-C nothing shall hold the terminal back.
    threading.Thread(target=_perform, args=(work, run), name="run", daemon=True).start()
    return run


def _perform(work: Work, run: Run) -> None:
    try:
        run.ended.set_result(work(run.started.set_result, run.stop))
    except BaseException as error:
        run.ended.set_exception(error)


@contextmanager
def stopping_on_signals(run: Run, told: Callable[[], None]) -> Iterator[threading.Event]:
    """While the body runs, Ctrl-C or SIGTERM stops the run gently and calls `told`; a second one ends all.

    So does a terminal that is closed: nobody is there to wait. Yields an event that says whether that has
    happened. An error in the body stops the run as well. Ending at once loses no work: what was leased comes
    free again, another signal does not wait for that.
    """
    interrupted, ending = threading.Event(), threading.Event()
    # A signal may come in the midst of a line; only another thread can wait for its end.
    teller = threading.Thread(target=told, daemon=True)

    def on_signal(number: int, _frame: FrameType | None) -> None:
        if number == HANG_UP:
            signals.leave_terminal()
        if interrupted.is_set() or number == HANG_UP:
            _end_at_once(run, ending)
        interrupted.set()
        run.stop.set()
        teller.start()

    before = {number: signal.signal(number, on_signal) for number in signals.ending()}
    try:
        yield interrupted
    except BaseException:
        # Whoever looked at the run is gone, as with `| head`: what nobody sees must not go on for hours.
        run.stop.set()
        _let_go(run)
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if teller.ident:
            teller.join()


def _end_at_once(run: Run, ending: threading.Event) -> None:
    if not ending.is_set():
        ending.set()
        _let_go(run)
    os._exit(Exit.INTERRUPTED)


def _let_go(run: Run) -> None:
    """By a thread, so that a database that does not answer holds nobody up."""
    if not run.ended.done():
        giver = threading.Thread(target=run.let_go, daemon=True)
        giver.start()
        giver.join(_LET_GO_S)
