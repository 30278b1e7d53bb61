"""Start, find and end a kept command by its name and folder.

Everything that descends from it carries a variable in its environment, so that the whole of it is found
again: what made a session of its own, and what lost its parent to a sudden death.
"""

import contextlib
import datetime as dt
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from models.errors import Code, EnvironmentFault
from tasks.work.processes import keeper

MARK = "PAGEMILL_PROCESS"
"""Variable that says which kept command a process belongs to."""

_LAST_S = 5.0


@dataclass(frozen=True, slots=True)
class Running:
    """A command that is kept running."""

    name: str
    pid: int
    """Of its keeper: lives as long as the command is wanted."""
    child: int
    """Of the command itself, at this moment."""
    starts: int
    """How often the command has been started, the first time included."""
    since: dt.datetime
    command: tuple[str, ...]
    log: Path


def start(name: str, command: Sequence[str], env: Mapping[str, str], folder: Path) -> Running:
    """Keep `command` running with the environment `env`, whole; what runs under this name already stays.

    The command gets a session of its own, no input, and `folder`/NAME.log for its output. Its remains, if an
    earlier one died without its keeper, are ended first. Raises EnvironmentFault: home-unwritable where
    `folder` cannot be written, package-missing where there is no such program.
    """
    with _locked(name, folder):
        if found := running(name, folder):
            return found
        program = shutil.which(command[0], path=env.get("PATH"))
        if program is None:
            raise EnvironmentFault(
                f"There is no program {command[0]} to run as {name}.", Code.PACKAGE_MISSING
            )
        _kill(name, folder)
        _launch(name, [str(Path(program).absolute()), *command[1:]], env, folder)
        if found := running(name, folder):
            return found
    raise EnvironmentFault(f"{name} could not be started. {folder / name}.log ends: {log_end(name, folder)}")


def running(name: str, folder: Path) -> Running | None:
    """The command kept under a name, None where there is none or its keeper has died."""
    try:
        told = json.loads((folder / f"{name}.json").read_text())
        process = psutil.Process(told["pid"])
        # A number may be anyone's by now: a keeper says whose it is.
        is_keeper = keeper.__file__ in process.cmdline() and _mark_of(process) == _mark(name, folder)
        since = dt.datetime.fromtimestamp(process.create_time(), dt.UTC)
    except (OSError, ValueError, psutil.Error):
        return None
    if not is_keeper:
        return None
    command, log = tuple(told["command"]), folder / f"{name}.log"
    return Running(name, told["pid"], told["child"], told["starts"], since, command, log)


def stop(name: str, folder: Path, grace_s: float = 30.0) -> bool:
    """End the command and everything that came of it; says whether there was anything.

    First the command alone is asked to end, then the sessions that it left, then what is left is killed. Each
    of the first two gets at most `grace_s` seconds.
    """
    if not folder.is_dir():
        return False
    with _locked(name, folder):
        was_there = bool(_family(name, folder))
        if found := running(name, folder):
            _ask_to_end([psutil.Process(found.pid)], grace_s)
        # Leaders alone: a parent tidies up after its children, and not the other way round.
        _ask_to_end([process for process in _family(name, folder) if _leads(process)], grace_s)
        _kill(name, folder)
        (folder / f"{name}.json").unlink(missing_ok=True)
        return was_there


def log_end(name: str, folder: Path, characters: int = 600) -> str:
    """The last lines that the command printed."""
    with contextlib.suppress(FileNotFoundError):
        return (folder / f"{name}.log").read_text(errors="replace").strip()[-characters:]
    return "(no log)"


def _launch(name: str, command: Sequence[str], env: Mapping[str, str], folder: Path) -> None:
    with (folder / f"{name}.log").open("ab") as log:
        subprocess.run(
            [sys.executable, "-I", "-S", keeper.__file__, str(folder.absolute()), name, *command],
            env={**env, MARK: _mark(name, folder)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            check=True,
        )


@contextlib.contextmanager
def _locked(name: str, folder: Path) -> Iterator[None]:
    """One process at a time starts or stops a command."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (folder / f"{name}.lock").open("a")
    except OSError as error:
        raise EnvironmentFault(
            f"{folder} cannot be written: {error.strerror}. Choose another folder with PAGEMILL_HOME.",
            Code.HOME_UNWRITABLE,
        ) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _kill(name: str, folder: Path) -> None:
    """Twice: what is being killed may just have started something."""
    for _ in range(2):
        family = _family(name, folder)
        for process in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        _wait(family, _LAST_S)


def _ask_to_end(processes: Sequence[psutil.Process], grace_s: float) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGTERM)
    _wait(processes, grace_s)


def _wait(processes: Sequence[psutil.Process], most_s: float) -> None:
    """Until they have ended. A zombie has: who inherits it may take seconds to bury it."""
    until = time.monotonic() + most_s
    while any(map(_lives, processes)) and time.monotonic() < until:
        time.sleep(0.02)


def _family(name: str, folder: Path) -> list[psutil.Process]:
    """All living processes that came of the command."""
    marked = [process for process in psutil.process_iter() if _mark_of(process) == _mark(name, folder)]
    # Programs that set their own title write over their environment: those are found by descent.
    found = {process.pid: process for process in marked}
    for process in marked:
        with contextlib.suppress(psutil.NoSuchProcess):
            found |= {child.pid: child for child in process.children(recursive=True)}
    return list(found.values())


def _mark(name: str, folder: Path) -> str:
    return str(folder.resolve() / name)


def _mark_of(process: psutil.Process) -> str | None:
    try:
        return process.environ().get(MARK) if _lives(process) else None
    except (psutil.Error, OSError):
        return None


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _leads(process: psutil.Process) -> bool:
    try:
        return bool(os.getsid(process.pid) == process.pid)
    except ProcessLookupError:
        return False
