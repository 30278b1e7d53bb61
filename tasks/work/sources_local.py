"""Files on this machine: what lies at and below a path, and what a path is now."""

import hashlib
import os
import stat
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from models.document import ScanProblem, SourceFile
from models.errors import SourceBusy, SourceForbidden, SourceGone
from models.text import printable
from tasks.work.sources_names import LINK, LOOP, OUTPUT, SPECIAL, ignored_name, passed_over

Found = SourceFile | ScanProblem
T = TypeVar("T")

# Opening a fifo that took the place of a file must not wait for a writer. Windows has no such flag.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

_Identity = tuple[int, int]
"""Device and inode: what a folder is whatever path leads to it."""


def at(path: str, output: str | None, *, follows_links: bool) -> Iterator[Found]:
    """What is at or below an absolute path, as `sources.find` tells it."""
    try:
        facts = os.stat(path)  # noqa: PTH116 (undecodable and very long names)
    except OSError as error:
        yield problem(path, error)
        return
    if stat.S_ISDIR(facts.st_mode):
        yield from _Walk(path, output, follows_links=follows_links).found()
    elif stat.S_ISREG(facts.st_mode):
        yield SourceFile(path, facts.st_size, facts.st_mtime_ns)
    else:
        yield passed_over(path, SPECIAL)


def check_unchanged(source: SourceFile) -> None:
    """Raise SourceBusy, SourceGone or SourceForbidden unless the file is as it was listed."""
    try:
        _check_same(source, os.stat(source.uri))  # noqa: PTH116 (undecodable and very long names)
    except OSError as error:
        raise translate(error, source.uri) from error


def sha256_of(source: SourceFile) -> str:
    """The SHA-256 of the file's bytes. Raises as `check_unchanged`, also for a change while it is read."""
    try:
        with open(os.open(source.uri, _READ), "rb") as file:  # noqa: PTH123 (a descriptor, opened with flags)
            _check_same(source, os.fstat(file.fileno()))
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise translate(error, source.uri) from error
    check_unchanged(source)
    return sha256


def reading(
    listed: SourceFile | None, sha256: str | None, function: Callable[..., T], path: Path, *args: object
) -> T:
    """`function(path, *args)`, which reads that file; raises as `check_unchanged`, before and after.

    With `sha256` also SourceBusy unless those are its bytes afterwards: size and time can stay as they were
    while a file is written, since a writer may set the time back. `listed` is None for a file of our own.
    """
    if listed is None:
        return function(path, *args)
    check_unchanged(listed)
    result = function(path, *args)
    if sha256 is None:
        check_unchanged(listed)
    elif sha256_of(listed) != sha256:
        raise changed(listed)
    return result


def is_gone(path: str) -> bool:
    """Whether nothing stands under the path; a path that may not be looked at is not known to be gone."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def problem(path: str, error: OSError) -> ScanProblem:
    """An error of the file system as a scan notes it."""
    translated = translate(error, path)
    return ScanProblem(path, translated.code.value, translated.message)


def translate(error: OSError, path: str) -> SourceGone | SourceForbidden | SourceBusy:
    """An error of the file system in our terms."""
    shown = printable(path)
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return SourceGone(f"{shown} is not there (any more).")
    if isinstance(error, PermissionError):
        return SourceForbidden(f"{shown} may not be read: no permission.")
    return SourceBusy(f"{shown} cannot be read now: {error.strerror or error}.")


class _Walk:
    """Everything below a folder, each file by one name.

    Depth first with an own stack: folders may be nested deeper than calls can be. Links, where they are
    followed, come after everything real, so that a folder keeps its own name where it also lies behind a
    link; each folder is entered once, since links may lead in circles.
    """

    def __init__(self, folder: str, output: str | None, *, follows_links: bool) -> None:
        self._output, self._follows_links = output, follows_links
        self._stack, self._links = [folder], deque[str]()
        self._entered: set[_Identity] = set()
        if follows_links and output and Path(output).exists():
            self._entered.add(_identity(output))

    def found(self) -> Iterator[Found]:
        while self._stack or self._links:
            is_real = bool(self._stack)
            path = self._stack.pop() if is_real else self._links.popleft()
            try:
                yield from self._folder(path) if is_real else self._behind(path)
            except OSError as error:
                yield problem(path, error)

    def _folder(self, path: str) -> Iterator[Found]:
        if self._follows_links:
            identity = _identity(path)
            if identity in self._entered:
                yield passed_over(path, LOOP)
                return
            self._entered.add(identity)
        with os.scandir(path) as entries:
            ordered = sorted(entries, key=lambda entry: entry.name)
        folders: list[str] = []
        for entry in ordered:
            found = self._entry(entry, folders)
            if found is not None:
                yield found
        self._stack.extend(reversed(folders))

    def _behind(self, link: str) -> Iterator[Found]:
        if Path(link).is_dir():
            self._stack.append(link)
        else:
            yield from at(link, self._output, follows_links=False)

    def _entry(self, entry: os.DirEntry[str], folders: list[str]) -> Found | None:
        """A file or why it is passed over; a folder and a link to follow are put down for later."""
        ignored = OUTPUT if entry.path == self._output else ignored_name(entry.name)
        if entry.is_symlink() and not self._follows_links:
            ignored = LINK
        if ignored:
            return passed_over(entry.path, ignored)
        if entry.is_symlink():
            self._links.append(entry.path)
            return None
        if entry.is_dir(follow_symlinks=False):
            folders.append(entry.path)
            return None
        return _file(entry)


def _file(entry: os.DirEntry[str]) -> Found:
    try:
        facts = entry.stat(follow_symlinks=False)
    except OSError as error:
        return problem(entry.path, error)
    if not stat.S_ISREG(facts.st_mode):
        return passed_over(entry.path, SPECIAL)
    return SourceFile(entry.path, facts.st_size, facts.st_mtime_ns)


def _check_same(source: SourceFile, now: os.stat_result) -> None:
    if not stat.S_ISREG(now.st_mode):
        raise SourceBusy(f"{printable(source.uri)} is no longer a file.")
    if (now.st_size, now.st_mtime_ns) != (source.size, source.mtime_ns):
        raise changed(source)


def changed(source: SourceFile) -> SourceBusy:
    """What is raised for a file that is not as it was listed."""
    return SourceBusy(f"{printable(source.uri)} changed while it was read; the next scan tries again.")


def _identity(path: str) -> _Identity:
    facts = os.stat(path)  # noqa: PTH116 (undecodable and very long names)
    return facts.st_dev, facts.st_ino
