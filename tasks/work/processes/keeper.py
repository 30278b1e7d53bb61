"""Keeps one command running, away from any terminal: `python -I -S keeper.py FOLDER NAME COMMAND…`.

The command is started again when it ends, at once after a long life and ever more slowly after short ones.
SIGTERM is passed on, and ends the keeper as soon as the command has ended. Standard library alone, so that a
keeper holds a few megabytes. Its output is the command's log, which it keeps from growing without bound.
"""

import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path

_SIGNALS = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_LOOK_S = 60.0
_LOG_BYTES = 10_000_000
_LONG_LIFE_S = 60.0
_MOST_PAUSE_S = 60.0


class Keeper:
    """One command: NAME.json in `folder` says its process, NAME.log is what it prints."""

    def __init__(self, folder: Path, name: str, command: list[str]) -> None:
        self.state = folder / f"{name}.json"
        self.log = folder / f"{name}.log"
        self.command = command
        self.is_stopping = False
        self.starts = 0
        self.pause_s = 1.0

    def run(self, told: int) -> None:
        """Until a signal ends it; closes the descriptor `told` when the command has been started once."""
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        while not self.is_stopping:
            born = time.monotonic()
            child = self._start()
            if self.starts == 1:
                os.close(told)
            self._watch(child)
            if time.monotonic() - born > _LONG_LIFE_S:
                self.pause_s = 1.0
            self._rest()
        self.state.unlink(missing_ok=True)

    def _start(self) -> int:
        self.starts += 1
        # Our own mask is not for the command, which has to hear its signals.
        child = os.posix_spawn(
            self.command[0], self.command, os.environ, setsigmask=(), setsigdef=(signal.SIGPIPE,)
        )
        told = {"pid": os.getpid(), "child": child, "starts": self.starts, "command": self.command}
        part = self.state.with_suffix(".part")
        part.write_text(json.dumps(told))
        part.replace(self.state)
        return child

    def _watch(self, child: int) -> None:
        """Until `child` has ended."""
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            got = signal.sigtimedwait(_SIGNALS, _LOOK_S)
            if got is not None and got.si_signo != signal.SIGCHLD:
                self.is_stopping = True
                os.kill(child, signal.SIGTERM)
            mind_log(self.log)

    def _rest(self) -> None:
        """The pause before the next start; a signal to end ends it."""
        until = time.monotonic() + self.pause_s
        while not self.is_stopping and (left := until - time.monotonic()) > 0:
            got = signal.sigtimedwait(_SIGNALS, left)
            self.is_stopping = got is not None and got.si_signo != signal.SIGCHLD
        self.pause_s = min(self.pause_s * 2, _MOST_PAUSE_S)


def mind_log(log: Path) -> None:
    """Keep a log from growing without bound; the part before is LOG.1."""
    # Whoever writes holds the file open to append: it is copied and emptied, not moved away.
    if log.exists() and log.stat().st_size > _LOG_BYTES:
        shutil.copyfile(log, log.with_suffix(".log.1"))
        os.truncate(log, 0)


def main() -> None:
    """Fork away from the caller, who waits until the command has been started."""
    folder, name, *command = sys.argv[1:]
    ready, told = os.pipe()
    if os.fork():
        os.close(told)
        os.read(ready, 1)
        return
    os.close(ready)
    os.setsid()
    Keeper(Path(folder), name, command).run(told)


if __name__ == "__main__":
    main()
