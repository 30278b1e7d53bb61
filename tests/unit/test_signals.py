"""What a closed terminal, SIGTERM and nohup mean to a command."""

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tasks.work.processes import signals

_IMPORT = "from tasks.work.processes import signals"
TIDY = f"""
import os, signal, sys, time
{_IMPORT}
signals.interrupt_on_all()
try:
    print("begun", flush=True)
    while True:
        time.sleep(0.05)
except KeyboardInterrupt:
    print("tidying up", flush=True)
    os.kill(os.getpid(), signal.SIGHUP)
    open(sys.argv[1], "w").close()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_sigterm_and_a_closed_terminal_interrupt_as_ctrl_c_does(number: signal.Signals) -> None:
    code = f"{_IMPORT}; import os; signals.interrupt_on_all(); os.kill(os.getpid(), {number})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "KeyboardInterrupt" in done.stderr
    assert done.returncode == -signal.SIGINT


def test_a_command_whose_terminal_is_closed_tidies_up_undisturbed(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", TIDY, str(tmp_path / "tidied")]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, start_new_session=True) as process:
        while not os.read(ours, 100).endswith(b"\n"):
            pass
        os.close(theirs)
        os.close(ours)
        process.send_signal(signal.SIGHUP)
        assert process.wait(120) == 0
    assert (tmp_path / "tidied").exists()


def test_what_is_written_to_a_file_goes_on_when_the_terminal_is_closed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", TIDY, str(tmp_path / "tidied")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGHUP)
        assert process.stdout.read() == "tidying up\n"


def test_a_command_started_by_nohup_outlives_its_terminal() -> None:
    assert signal.SIGHUP in signals.ending()
    code = f"{_IMPORT}; import signal; assert signal.SIGHUP not in signals.ending()"
    subprocess.run(["sh", "-c", 'trap "" HUP; exec "$0" -c "$1"', sys.executable, code], check=True)
