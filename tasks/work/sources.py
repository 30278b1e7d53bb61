"""Find files and take them: which paths are candidates, and what their bytes are."""

import datetime as dt
import fnmatch
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from models.document import IntakeFile, ScanProblem, SourceFile
from models.errors import DocumentRejected, SourceBusy, SourceForbidden, SourceGone
from models.text import printable
from tasks.work.media import sniff

_SYSTEM = {
    "thumbs.db",
    "ehthumbs.db",
    "desktop.ini",
    "__macosx",
    "@eadir",
    "$recycle.bin",
    "lost+found",
    "system volume information",
}
_TEMPORARY = ("~$*", "*.part", "*.partial", "*.crdownload", "*.download", "*.tmp", "*.temp", "*.swp", "*~")

_SPECIAL = ("ignored-special", "This is a device, pipe or socket, not a file.")

# Opening a fifo that took the place of a file must not wait for a writer. Windows has no such flag.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def find(paths: Sequence[Path], root_output: Path | None = None) -> Iterator[SourceFile | ScanProblem]:
    """Every file at or below `paths`, each once, by name; what is left out says why.

    Below a folder, hidden, temporary and system files, symbolic links and everything that is no file are
    passed over with a code `ignored-…`; a file that is named itself is taken whatever its name, and through
    a link. `root_output` (pagemill's own folder) is never entered. A path that is not there or may not be
    read is a problem with code `source-gone` or `source-forbidden`. Names that are not UTF-8 keep working.
    """
    output = str(root_output.absolute()) if root_output else None
    seen: set[str] = set()
    for path in paths:
        for found in _at(str(path.absolute()), output):
            if found.uri not in seen:
                if len(paths) > 1:
                    seen.add(found.uri)
                yield found


def take(source: SourceFile, settle_s: float = 0.0) -> IntakeFile:
    """Read the file once: the SHA-256 of its bytes and its kind, or why its content is refused.

    Raises SourceBusy when size or modification time differ between the listing, the begin and the end of
    reading, or when it was changed less than `settle_s` seconds ago; SourceGone when it vanished and
    SourceForbidden when it may not be read. All three are tried again at the next scan.
    """
    path = Path(source.uri)
    try:
        with open(os.open(path, _READ), "rb") as file:  # noqa: PTH123 (a descriptor, opened with flags)
            _check_same(source, os.fstat(file.fileno()), settle_s)
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        media_type, refused = None, None
        try:
            media_type = sniff(path)
        except DocumentRejected as error:
            refused = error
        check_unchanged(source)
    except OSError as error:
        raise _translated(error, source.uri) from error
    if refused:
        return IntakeFile(source, sha256, None, refused.code.value, refused.message)
    return IntakeFile(source, sha256, media_type)


def check_unchanged(source: SourceFile) -> None:
    """Raise SourceBusy, SourceGone or SourceForbidden unless the file is as it was listed."""
    try:
        _check_same(source, Path(source.uri).stat())
    except OSError as error:
        raise _translated(error, source.uri) from error


def _check_same(source: SourceFile, now: os.stat_result, settle_s: float = 0.0) -> None:
    if not stat.S_ISREG(now.st_mode):
        raise SourceBusy(f"{printable(source.uri)} is no longer a file.")
    if (now.st_size, now.st_mtime_ns) != (source.size, source.mtime_ns):
        raise SourceBusy(f"{printable(source.uri)} changed while it was read; the next scan tries again.")
    age_s = dt.datetime.now(dt.UTC).timestamp() - now.st_mtime_ns / 1e9
    if 0 <= age_s < settle_s:
        raise SourceBusy(f"{printable(source.uri)} changed {age_s:.1f} s ago; the next scan tries again.")


def _at(path: str, output: str | None) -> Iterator[SourceFile | ScanProblem]:
    try:
        facts = Path(path).stat()
    except OSError as error:
        yield _problem(path, error)
        return
    if stat.S_ISDIR(facts.st_mode):
        yield from _below(path, output)
    elif stat.S_ISREG(facts.st_mode):
        yield SourceFile(path, facts.st_size, facts.st_mtime_ns)
    else:
        yield ScanProblem(path, *_SPECIAL)


def _below(folder: str, output: str | None) -> Iterator[SourceFile | ScanProblem]:
    """Depth first with an own stack: folders may be nested deeper than calls can be."""
    stack = [folder]
    while stack:
        path = stack.pop()
        try:
            with os.scandir(path) as entries:
                ordered = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield _problem(path, error)
            continue
        folders = []
        for entry in ordered:
            found = _entry(entry, output)
            if found is None:
                folders.append(entry.path)
            else:
                yield found
        stack.extend(reversed(folders))


def _entry(entry: os.DirEntry[str], output: str | None) -> SourceFile | ScanProblem | None:
    """A file, why it is passed over, or None for a folder to enter."""
    ignored = _ignored(entry, output)
    if ignored:
        return ScanProblem(entry.path, *ignored)
    if entry.is_dir(follow_symlinks=False):
        return None
    try:
        facts = entry.stat(follow_symlinks=False)
    except OSError as error:
        return _problem(entry.path, error)
    if not stat.S_ISREG(facts.st_mode):
        return ScanProblem(entry.path, *_SPECIAL)
    return SourceFile(entry.path, facts.st_size, facts.st_mtime_ns)


def _ignored(entry: os.DirEntry[str], output: str | None) -> tuple[str, str] | None:
    if entry.path == output:
        return "ignored-output", "This is pagemill's own folder."
    if entry.is_symlink():
        return "ignored-symlink", "Symbolic links are not followed."
    return _ignored_name(entry.name)


def _ignored_name(name: str) -> tuple[str, str] | None:
    lower = name.lower()
    if lower in _SYSTEM:
        return "ignored-system", "The operating system keeps this for itself."
    if lower.startswith("."):
        return "ignored-hidden", "Hidden files and folders are passed over."
    if any(fnmatch.fnmatchcase(lower, pattern) for pattern in _TEMPORARY):
        return "ignored-temporary", "The name says that this is a temporary or unfinished file."
    return None


def _problem(path: str, error: OSError) -> ScanProblem:
    translated = _translated(error, path)
    return ScanProblem(path, translated.code.value, translated.message)


def _translated(error: OSError, path: str) -> SourceGone | SourceForbidden | SourceBusy:
    shown = printable(path)
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return SourceGone(f"{shown} is not there (any more).")
    if isinstance(error, PermissionError):
        return SourceForbidden(f"{shown} may not be read: no permission.")
    return SourceBusy(f"{shown} cannot be read now: {error.strerror or error}.")
