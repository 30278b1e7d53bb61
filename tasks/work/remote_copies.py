"""Local copies of remote files: children that are killed on time-out open paths, not connections."""

import errno
import logging
import shutil
import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from models.document import SourceFile
from models.errors import Code, EnvironmentFault, SourceBusy, StoreFull
from models.text import printable
from tasks.work import remote

log = logging.getLogger(__name__)

_GIB = 1024**3


@dataclass(slots=True)
class _Copy:
    size: int
    users: int = 0


class Copies:
    """Copies by content in a folder of this process, together never more than `most_bytes`.

    The least recently used makes room for the next, but never one in use: then the next waits. May be used
    from any thread.
    """

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self._folder, self._most = folder, most_bytes
        self._kept: OrderedDict[str, _Copy] = OrderedDict()
        self._taken = 0
        self._changed = threading.Condition()

    @contextmanager
    def fetched(self, source: SourceFile) -> Iterator[tuple[Path, str]]:
        """The copy of a file that was not read before, and the SHA-256 of its bytes.

        Raises as `remote.download`; SourceBusy (too-large) for a file of more bytes than all copies may have;
        StoreFull where the disk is full.
        """
        sha256 = self._fetch(source)
        try:
            yield self._folder / sha256, sha256
        finally:
            self.release(sha256)

    def acquire(self, source: SourceFile, sha256: str) -> Path:
        """A copy of these bytes, which stays until it is released.

        Raises as `fetched`, and SourceBusy when the file holds other bytes now.
        """
        if kept := self.kept(sha256):
            return kept
        found = self._fetch(source)
        if found != sha256:
            self.release(found)
            raise SourceBusy(
                f"{printable(source.uri)} changed since it was listed; the next scan tries again."
            )
        return self._folder / sha256

    def kept(self, sha256: str) -> Path | None:
        """As `acquire`, where the copy is there already."""
        with self._changed:
            if sha256 not in self._kept:
                return None
            self._use(sha256)
            return self._folder / sha256

    def release(self, sha256: str) -> None:
        """One user less: without any, the copy may make room for others."""
        with self._changed:
            self._kept[sha256].users -= 1
            self._changed.notify_all()

    def close(self) -> None:
        """Remove all copies."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _use(self, sha256: str) -> None:
        self._kept[sha256].users += 1
        self._kept.move_to_end(sha256)

    def _fetch(self, source: SourceFile) -> str:
        """Download and keep a copy, in use; the SHA-256 of its bytes."""
        self._make_room(source)
        part = self._folder / f"{uuid.uuid4().hex}.part"
        try:
            part.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            sha256 = remote.download(source, part)
        except BaseException as error:
            part.unlink(missing_ok=True)
            self._give_back(source.size)
            if isinstance(error, OSError):
                raise _translated(error, self._folder) from error
            raise
        log.info("copied bytes=%d", source.size)
        return self._keep(part, sha256, source.size)

    def _keep(self, part: Path, sha256: str, size: int) -> str:
        with self._changed:
            if sha256 in self._kept:
                part.unlink()
                self._give_back(size)
            else:
                part.replace(self._folder / sha256)
                self._kept[sha256] = _Copy(size)
            self._use(sha256)
        return sha256

    def _make_room(self, source: SourceFile) -> None:
        if source.size > self._most:
            raise SourceBusy(
                f"{printable(source.uri)} has {source.size / _GIB:.1f} GiB; copies of remote files may take "
                f"{self._most / _GIB:.1f} GiB (PAGEMILL_COPIES_GIB).",
                Code.TOO_LARGE,
            )
        with self._changed:
            while self._taken + source.size > self._most:
                unused = next((name for name, copy in self._kept.items() if not copy.users), None)
                if unused is None:
                    self._changed.wait()
                    continue
                self._taken -= self._kept.pop(unused).size
                (self._folder / unused).unlink(missing_ok=True)
            self._taken += source.size

    def _give_back(self, size: int) -> None:
        with self._changed:
            self._taken -= size
            self._changed.notify_all()


def sweep(folder: Path, is_dead: Callable[[str], bool]) -> None:
    """Remove the copies of processes that were killed: folders in `folder`, each named by its owner."""
    for left in folder.iterdir() if folder.exists() else ():
        if is_dead(left.name):
            shutil.rmtree(left, ignore_errors=True)


def _translated(error: OSError, folder: Path) -> StoreFull | EnvironmentFault:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return StoreFull(
            f"No space is left for copies of remote files in {folder}. Free some and start again."
        )
    return EnvironmentFault(f"{folder} cannot be written: {error.strerror or error}.", Code.HOME_UNWRITABLE)
