"""PDF documents that are open: the next page of one comes for less, and a broken one is repaired once.

Called in children.
"""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pymupdf

from models.document import MOST_OPEN
from models.errors import Code, DocumentRejected, PagemillError, SourceForbidden, SourceGone
from models.text import clean, printable

# PyMuPDF ships no types for what is used here.
_mu: Any = pymupdf
_mu.TOOLS.mupdf_display_errors(False)
_mu.TOOLS.mupdf_display_warnings(False)

_MOST_BYTES = 64 << 20
"""So large they may be together where they are several: a deleted file takes its place until it is closed."""


class _Key(NamedTuple):
    path: Path
    size: int
    mtime_ns: int
    passwords: tuple[str, ...]


_open_now = OrderedDict[_Key, Any]()
"""The last ones used. Size and time are part of the key, so that a changed file is another document."""


def opened(path: Path, passwords: tuple[str, ...]) -> Any:
    """The PDF at `path`, as PyMuPDF has it, opened for reading.

    Raises DocumentRejected (corrupt, needs-password); SourceGone or SourceForbidden.
    """
    try:
        facts = path.stat()
    except FileNotFoundError as error:
        raise SourceGone(f"{printable(str(path))} is not there any more.") from error
    except PermissionError as error:
        raise SourceForbidden(f"{printable(str(path))} may not be read: no permission.") from error
    key = _Key(path, facts.st_size, facts.st_mtime_ns, passwords)
    if key not in _open_now:
        _make_room(key)
        _open_now[key] = _open(path, passwords)
    _open_now.move_to_end(key)
    return _open_now[key]


@contextmanager
def damaged() -> Iterator[None]:
    """Whatever MuPDF raises means that the document is damaged: DocumentRejected (corrupt)."""
    try:
        yield
    except PagemillError:
        raise
    except Exception as error:
        # What cannot be opened at all is reported by the file's path, which says nothing of the cause.
        is_opened = not isinstance(error, _mu.FileDataError)
        cause = clean(str(error)).rstrip(".") if is_opened else "no document could be found in it"
        raise DocumentRejected(f"The PDF is damaged: {cause}.", Code.CORRUPT) from error


def _make_room(key: _Key) -> None:
    while _open_now and (
        len(_open_now) >= MOST_OPEN or key.size + sum(one.size for one in _open_now) > _MOST_BYTES
    ):
        _open_now.popitem(last=False)


def _open(path: Path, passwords: tuple[str, ...]) -> Any:
    with damaged(), _readable_name(path) as name:
        document = _mu.open(name, filetype="pdf")
        if document.needs_pass and not any(document.authenticate(password) for password in passwords):
            document.close()
            raise DocumentRejected(
                "The PDF needs a password. Put it on a line of the file that PAGEMILL_PASSWORD_FILE names "
                "(or --password-file) and ingest it again.",
                Code.NEEDS_PASSWORD,
            )
        return document


@contextmanager
def _readable_name(path: Path) -> Iterator[str]:
    """MuPDF takes names as UTF-8 only; a name in other bytes is reached through its descriptor."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        with path.open("rb") as file:
            yield f"/dev/fd/{file.fileno()}"
    else:
        yield str(path)
