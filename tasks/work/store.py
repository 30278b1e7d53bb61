"""The content-addressed store: files named by the SHA-256 of their bytes."""

import errno
import hashlib
import os
import tempfile
from pathlib import Path

from models.errors import Code, EnvironmentFault, StoreFull

_FULL = {errno.ENOSPC, errno.EDQUOT}


class Store:
    """Files under `root`, two levels of folders deep. Safe for several processes at once.

    A file appears under its name only when complete (written beside it, then renamed). It is not synced to
    disk one by one, because everything here can be made again: after a power cut a name may hold fewer
    bytes than it should, so `put` compares sizes and writes such a file anew.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, sha256: str, suffix: str) -> Path:
        """Where the file of that hash lies or would lie. `suffix` with its dot."""
        return self.root / sha256[:2] / sha256[2:4] / f"{sha256}{suffix}"

    def exists(self, sha256: str, suffix: str) -> bool:
        """Whether the file is there and not empty."""
        return self.size(sha256, suffix) > 0

    def size(self, sha256: str, suffix: str) -> int:
        """Bytes of the file of that hash; 0 where there is none."""
        try:
            return self.path(sha256, suffix).stat().st_size
        except FileNotFoundError:
            return 0

    def put(self, data: bytes, suffix: str) -> str:
        """Keep `data` and return its SHA-256 (hex). What is there already is not written, but young again.

        Raises StoreFull when no space is left, EnvironmentFault (`home-unwritable`) when writing is
        impossible for another reason.
        """
        sha256 = hashlib.sha256(data).hexdigest()
        target = self.path(sha256, suffix)
        try:
            if not _renewed(target, len(data)):
                _written(target, data)
        except OSError as error:
            raise _translated(error, self.root) from error
        return sha256


def _renewed(path: Path, size: int) -> bool:
    """Whether the file is there and whole. It is young then: old ones are purged one day."""
    try:
        if path.stat().st_size != size:
            return False
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


def _written(target: Path, data: bytes) -> None:
    """Folders are made where one is missing: soon all of them are there."""
    try:
        _write(target, data)
    except FileNotFoundError:
        target.parent.mkdir(parents=True, exist_ok=True)
        _write(target, data)


def _write(target: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(prefix=".part-", dir=target.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _translated(error: OSError, root: Path) -> StoreFull | EnvironmentFault:
    if error.errno in _FULL:
        return StoreFull(f"No space is left for page images in {root}. Free some and start again.")
    return EnvironmentFault(
        f"Page images cannot be written to {root}: {error.strerror or error}. "
        "Set PAGEMILL_HOME to a folder that you may write to.",
        Code.HOME_UNWRITABLE,
    )
