"""The server's process: found, launched, ended, and its traces after a sudden death."""

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil

from db.binaries import Account
from models.errors import EnvironmentFault

PORT = 5432
_STOP_S = 60.0
_LOG_BYTES = 5_000_000
_NO_PROCESS = "2147483647"
"""A number above every possible process id."""

_SETTINGS = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "jit": "off",
    "log_checkpoints": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
}

# Its child outlives it and belongs to process 1, which reaps it: no zombie hangs on the process that asked.
_LAUNCHER = (
    "import subprocess,sys;"
    "print(subprocess.Popen(sys.argv[1:],start_new_session=True,cwd='/',"
    "stdin=subprocess.DEVNULL,stdout=sys.stderr).pid)"
)


def find_server(data: Path) -> psutil.Process | None:
    """The living server of this data folder, whatever the pid file says of others."""
    try:
        process = psutil.Process(int((data / "postmaster.pid").read_text().split(maxsplit=1)[0]))
        # Not its working folder: root in a container may not look at that of another account's process.
        is_ours = process.name().startswith("postgres") and str(data) in process.cmdline()
    except (OSError, ValueError, IndexError, psutil.NoSuchProcess, psutil.AccessDenied):
        return None
    return process if is_ours and lives(process.pid) else None


def is_deaf(data: Path, sockets: Path) -> bool:
    """Whether a server that has said it is ready has lost its socket, so that nobody can reach it any more.

    Cleaners of temporary folders remove one, and so does a server that was forgotten: after `rm -rf HOME`
    the old one notices within a minute, ends, and takes with it the socket of the new one in the same place.
    """
    try:
        is_ready = (data / "postmaster.pid").read_text().split()[-1] == "ready"
    except (OSError, IndexError):
        return False
    return is_ready and not (sockets / f".s.PGSQL.{PORT}").exists()


def lives(pid: int) -> bool:
    """Whether there is such a process and it has not ended; a zombie has."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def launch(data: Path, sockets: Path, binaries: Path, account: Account) -> int:
    """Launch a server that listens in the folder `sockets`; its process id. It may end at once."""
    options = _SETTINGS | {"unix_socket_directories": '"' + str(sockets).replace('"', '""') + '"'}
    command: list[str | Path] = [binaries / "postgres", "-D", data]
    for name, value in options.items():
        command += ["-c", f"{name}={value}"]
    is_long = log_of(data).exists() and log_of(data).stat().st_size > _LOG_BYTES
    with log_of(data).open("wb" if is_long else "ab") as output:
        launched = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _LAUNCHER, *account.command(command)],
            stdout=subprocess.PIPE,
            stderr=output,
            check=True,
            env=_without_mark(),
            user=account.uid if account.drops else None,
            group=account.gid if account.drops else None,
            extra_groups=[] if account.drops else None,
        )
    return int(launched.stdout)


def _without_mark() -> dict[str, str]:
    """The server belongs to the home, not to the kept process that happened to start it and may be ended."""
    return {name: value for name, value in os.environ.items() if name != "PAGEMILL_PROCESS"}


def disown(data: Path, sockets: Path) -> None:
    """Let a dead server's lock files name no process.

    After a restart of the machine or container its pid may be anyone's, and a killed server whose parent
    does not reap it stays a zombie: Postgres takes either for a running server and refuses to start. The
    files stay, because Postgres reads in them which shared memory it must find unused.
    """
    for path in (data / "postmaster.pid", sockets / f".s.PGSQL.{PORT}.lock"):
        with contextlib.suppress(FileNotFoundError):
            first, newline, rest = path.read_text().partition("\n")
            if first.strip() != _NO_PROCESS:
                path.write_text(_NO_PROCESS + newline + rest)


def wait_until_ended(server: psutil.Process) -> None:
    """Raises EnvironmentFault for a server that goes on for a minute after it was told to stop."""
    until = time.monotonic() + _STOP_S
    while lives(server.pid):
        if time.monotonic() > until:
            raise EnvironmentFault(
                f"Postgres (process {server.pid}) did not stop within {_STOP_S:.0f} seconds."
            )
        time.sleep(0.02)


def log_of(data: Path) -> Path:
    """Where the server writes what it has to say."""
    return data.with_name("postgres.log")


def log_end(data: Path) -> str:
    """The last lines of that."""
    with contextlib.suppress(FileNotFoundError):
        return log_of(data).read_text(errors="replace").strip()[-600:]
    return "(no log)"
