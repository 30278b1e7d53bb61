"""The script's entry: what Ctrl-C does before there is a command to stop."""

import signal
import subprocess
import sys

import pytest

_START = """
import signal, sys, os, importlib.abc
class Interrupting(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "cli.main":
            os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, {handler})
sys.meta_path.insert(0, Interrupting())
sys.argv = ["pagemill", "--version"]
from cli.entry import main
main()
"""


def started(handler: str) -> "subprocess.CompletedProcess[str]":
    """The command, interrupted in its first import."""
    command = [sys.executable, "-c", _START.format(handler=handler)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.slow
def test_ctrl_c_while_modules_are_imported_ends_the_command_without_a_word() -> None:
    done = started("signal.default_int_handler")
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


@pytest.mark.slow
def test_a_command_that_shall_not_hear_ctrl_c_does_not() -> None:
    done = started("signal.SIG_IGN")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("pagemill ")
