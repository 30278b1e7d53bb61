"""One client at work: its CPU time and memory, and how it filled the server meanwhile."""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.peers.server import Asking
from bench.served import free_port
from bench.watch import CpuClock
from tasks.work.serving.supervisor import end_group

_LOOK_S = 0.2
_GRACE_S = 5.0
_SAID_CHARS = 200


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command used, with everything that it started and waited for."""

    cpu_s: float
    """User and system."""
    peak_mb: float
    """Most proportional memory (PSS) of all its processes together, looked at five times a second."""
    wall_s: float
    failed: str = ""
    """Why it counts for nothing: how it ended, and its last words."""


def run(
    command: Sequence[str],
    variables: Mapping[str, str],
    log: Path,
    *,
    deadline_s: float = 1_800.0,
    fine: Sequence[int] = (0,),
) -> Cost:
    """Run a command to its end; `fine` are the codes that count as success."""
    before, started = _reaped_s(), time.monotonic()
    environ = os.environ | dict(variables)
    # The machine that measures may forbid bytecode files: every start would pay for compiling again.
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with log.open("wb") as out:
        process = psutil.Popen(
            command, env=environ, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            start_new_session=True,
        )  # fmt: skip
    clock, peak_mb, why = CpuClock(process.pid), 0.0, ""
    try:
        while process.poll() is None:
            clock.look()
            peak_mb = max(peak_mb, family_mb(process.pid))
            if time.monotonic() - started > deadline_s:
                end_group(process, _GRACE_S)
                why = f"not done after {deadline_s:g} s"
            time.sleep(_LOOK_S)
    except KeyboardInterrupt:
        end_group(process, _GRACE_S)
        raise
    if not why and process.returncode not in fine:
        why = f"ended with {process.returncode}: {last_words(log)}"
    # What was not waited for is seen by looking alone.
    cpu_s = max(_reaped_s() - before, clock.seconds)
    return Cost(cpu_s, peak_mb, time.monotonic() - started, why)


def family_mb(pid: int) -> float:
    """Proportional memory of a process and its descendants now."""
    try:
        root = psutil.Process(pid)
        family = [root, *root.children(recursive=True)]
    except psutil.Error:
        return 0.0
    total = 0
    for process in family:
        try:
            total += process.memory_full_info().pss
        except psutil.Error:
            continue
    return total / 2**20


def last_words(log: Path) -> str:
    """The end of what a command said."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1][:_SAID_CHARS] if lines else "it said nothing"


class Server:
    """The server of all clients, in a process of its own."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        self._process = process
        self.url = process.stdout.readline().strip()

    def asked(self) -> Asking:
        """What it was asked since this was called last."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return Asking(**json.loads(self._process.stdout.readline()))


@contextmanager
def serving(slots: int, seconds: float) -> Iterator[Server]:
    """The server for the time of a `with`."""
    command = [sys.executable, "-m", "bench.peers.server", "--port", str(free_port())]
    command += ["--slots", str(slots), "--seconds", str(seconds)]
    # In a session of its own, so that Ctrl-C is ours alone.
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        # Leaving closes its input, which ends it.
        yield Server(process)


def _reaped_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
