"""SIGTERM and a closed terminal are what Ctrl-C is: whatever was begun is ended or given back."""

import os
import signal
import stat
import sys
from types import FrameType

HANG_UP = getattr(signal, "SIGHUP", None)
"""What a terminal says as it is closed."""


def ending() -> tuple[signal.Signals, ...]:
    """The signals that ask a command to end. One started by nohup outlives its terminal."""
    hears = HANG_UP and signal.getsignal(HANG_UP) is not signal.SIG_IGN
    return (signal.SIGINT, signal.SIGTERM, *((HANG_UP,) if hears else ()))


def interrupt_on_all() -> None:
    """From now on each of them raises KeyboardInterrupt in the main thread, as Ctrl-C does."""
    for number in ending():
        if number is not signal.SIGINT:
            signal.signal(number, _interrupt)


def leave_terminal() -> None:
    """Let what is written from now on go nowhere, where it would go to the terminal that is closed.

    A terminal's shell says once more what the terminal has said, and tidying up must come to its end.
    """
    signal.signal(signal.SIGHUP, lambda *_: None)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that is closed says no more that it is one.
        if stat.S_ISCHR(os.fstat(stream.fileno()).st_mode):
            os.dup2(nowhere, stream.fileno())


def _interrupt(number: int, _frame: FrameType | None) -> None:
    if number == HANG_UP:
        leave_terminal()
    raise KeyboardInterrupt
