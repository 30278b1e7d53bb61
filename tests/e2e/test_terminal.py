"""The command in a real terminal and in a pipe."""

import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from fcntl import ioctl
from pathlib import Path

import pytest

from cli.exits import Exit
from tests import factories
from tests.e2e.shell import PAGEMILL, Shell

pytestmark = pytest.mark.slow

PATIENCE_S = 120.0


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A shell with a fresh home, whose Postgres is stopped at the end."""
    shell = Shell(tmp_path_factory.mktemp("home"))
    yield shell
    shell.run("down")


def in_terminal(shell: Shell, *arguments: object) -> tuple[int, str]:
    """Exit code and all that was drawn on a terminal of 100 columns."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    environment = shell.environment(TERM="xterm-256color", COLUMNS="100", LINES="40")
    command = [*PAGEMILL, *map(str, arguments)]
    with subprocess.Popen(command, env=environment, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        drawn = drain(ours)
        os.close(ours)
        return process.wait(timeout=PATIENCE_S), drawn


def drain(terminal: int) -> str:
    """All that is written until the other side is closed."""
    drawn, until = b"", time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        ready, _, _ = select.select([terminal], [], [], 1.0)
        if not ready:
            continue
        try:
            data = os.read(terminal, 65_536)
        except OSError:  # Linux's way to say that the other side is closed
            break
        if not data:
            break
        drawn += data
    return drawn.decode("utf-8", "replace")


def test_a_terminal_shows_a_live_table_then_the_summary(shell: Shell, tmp_path: Path) -> None:
    path = factories.write(tmp_path / "manual.pdf", factories.pdf(*[f"Page {n}" for n in range(4)]))
    code, drawn = in_terminal(shell, "ingest", path)
    assert code == 0
    assert "preprocess" in drawn
    assert "━" in drawn
    assert "\x1b[" in drawn
    assert "1 document: 1 complete. 4 pages read" in drawn
    assert drawn.rindex("1 document: 1 complete") > drawn.rindex("━")


def test_search_in_a_terminal_is_in_colour(shell: Shell, tmp_path: Path) -> None:
    path = factories.write(tmp_path / "pump.pdf", factories.pdf("The hydraulic pump"))
    assert shell.run("ingest", path).returncode == 0
    _, drawn = in_terminal(shell, "search", "hydraulic", "--mode", "text")
    assert "\x1b[1;33mhydraulic\x1b[0m" in drawn


def test_a_pipe_that_is_closed_early_leaves_no_traceback(shell: Shell) -> None:
    command = f"{' '.join(PAGEMILL)} checks | head -n 1"
    done = subprocess.run(
        ["sh", "-c", command], env=shell.environment(), capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("check")
    assert "Traceback" not in done.stderr


def test_a_reader_that_goes_away_ends_the_run_and_a_next_one_finishes_it(
    shell: Shell, tmp_path: Path
) -> None:
    for number in range(2):
        factories.write(
            tmp_path / f"{number}.pdf", factories.pdf(*[f"Page {n} of {number}" for n in range(4)])
        )
    words = [*PAGEMILL, "ingest", str(tmp_path), "--jobs", "1"]
    with subprocess.Popen(words, env=shell.environment(), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=PATIENCE_S) == Exit.PIPE_CLOSED
    summary = shell.json("ingest", tmp_path)
    assert "pending" not in {document["status"] for document in summary["documents"]}


def test_an_ascii_terminal_gets_marks_for_what_it_cannot_show(shell: Shell, tmp_path: Path) -> None:
    path = factories.write(tmp_path / "größe-硬.pdf", factories.pdf("Hello"))
    assert shell.run("ingest", path).returncode == 0
    done = shell.run("status", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "gr\\xf6\\xdfe-\\u786c.pdf" in done.stdout
    assert "größe" in json_bytes(shell, "status").decode("utf-8")


def json_bytes(shell: Shell, command: str) -> bytes:
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", command, "--json"],
        env=shell.environment(PYTHONIOENCODING="ascii"),
        capture_output=True,
        check=True,
    )
    return done.stdout
