"""Find files and take them: which paths and URLs are candidates, and what their bytes are."""

import datetime as dt
from collections.abc import Iterator, Sequence
from pathlib import Path

from models.document import IntakeFile, MediaType, SourceFile
from models.errors import Code, DocumentRejected, SourceBusy
from models.text import printable
from tasks.work import remote, sources_local
from tasks.work.media import recognise, sniff
from tasks.work.remote_copies import Copies
from tasks.work.sources_local import Found

_CLOCKS_APART_S = 3_600.0
"""A time so far ahead is taken for a clock of another machine that runs ahead; beyond, for a wrong one."""


def normal(root: Path | str) -> str:
    """A root as the names below it begin: an absolute path, or a URL without a slash at its end.

    Raises ConfigurationError and EnvironmentFault as `remote.normal`.
    """
    text = str(root)
    return remote.normal(text) if remote.is_url(text) else str(Path(text).expanduser().absolute())


def find(
    roots: Sequence[Path | str], root_output: Path | None = None, *, follows_links: bool = False
) -> Iterator[Found]:
    """Every file at or below `roots`, each once, by name; what is left out says why.

    Below a folder, hidden, temporary and system files, symbolic links (unless `follows_links`) and everything
    that is no file are passed over with a code `ignored-…`; a file that is named itself is taken whatever its
    name, and through a link. `root_output` (pagemill's own folder) is never entered. A place that is not
    there or may not be read is a problem with code `source-gone`, `source-forbidden` or `source-busy`. Names
    that are not UTF-8 keep working.
    """
    output = str(root_output.absolute()) if root_output else None
    seen: set[str] = set()
    for root in map(normal, roots):
        is_remote = remote.is_url(root)
        for found in (
            remote.at(root) if is_remote else sources_local.at(root, output, follows_links=follows_links)
        ):
            if found.uri not in seen:
                if len(roots) > 1:
                    seen.add(found.uri)
                yield found


def take(source: SourceFile, settle_s: float = 0.0, copies: Copies | None = None) -> IntakeFile:
    """Read the file once: the SHA-256 of its bytes and its kind, or why its content is refused.

    Raises SourceBusy when size or modification time differ between the listing, the begin and the end of
    reading, or when it was changed less than `settle_s` seconds ago (ignored-unsettled); SourceGone when it
    vanished and SourceForbidden when it may not be read. All are tried again at the next scan. A remote file
    is read into `copies`. Raises StoreFull where no copy can be written.
    """
    check_settled(source, settle_s)
    if remote.is_url(source.uri):
        if copies is None:
            raise RuntimeError("a remote file was to be taken without room for a copy")
        with copies.fetched(source) as (path, sha256):
            return _intake(source, path, sha256)
    taken = _intake(source, Path(source.uri), sources_local.sha256_of(source))
    check_unchanged(source)
    return taken


def check_settled(source: SourceFile, settle_s: float) -> None:
    """Raise SourceBusy (ignored-unsettled) when the file was changed less than `settle_s` seconds ago.

    A time up to an hour ahead is that of a file server whose clock runs ahead: such a file waits. A time
    further ahead says nothing about when the file was written.
    """
    age_s = dt.datetime.now(dt.UTC).timestamp() - source.mtime_ns / 1e9
    if settle_s and -_CLOCKS_APART_S <= age_s < settle_s:
        raise SourceBusy(
            f"{printable(source.uri)} changed a moment ago; a later scan takes it.", Code.IGNORED_UNSETTLED
        )


def check_unchanged(source: SourceFile) -> None:
    """Raise SourceBusy, SourceGone or SourceForbidden unless the file is as it was listed."""
    if remote.is_url(source.uri):
        remote.check_unchanged(source)
    else:
        sources_local.check_unchanged(source)


def is_gone(uri: str) -> bool:
    """Whether nothing stands there; a place that cannot be looked at is not known to be gone."""
    return remote.is_gone(uri) if remote.is_url(uri) else sources_local.is_gone(uri)


def media_type_now(source: SourceFile) -> MediaType | None:
    """The kind of a local file by its first bytes, None where it is none that is read or cannot be opened."""
    try:
        return None if remote.is_url(source.uri) else recognise(Path(source.uri))
    except OSError:
        return None


def _intake(source: SourceFile, path: Path, sha256: str) -> IntakeFile:
    try:
        return IntakeFile(source, sha256, sniff(path))
    except DocumentRejected as error:
        return IntakeFile(source, sha256, None, error.code.value, error.message)
    except OSError as error:
        raise sources_local.translate(error, source.uri) from error
