"""Files on other machines, by URL, through fsspec: `s3://bucket/prefix`, `sftp://host/folder`, `memory://…`.

Where an account is needed it comes from the environment: the variables of the service's own client
(AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL …) or of fsspec (FSSPEC_<PROTOCOL>_<OPTION>), never from the URL, which
is stored and shown.
"""

import datetime as dt
import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import fsspec

from models.document import ScanProblem, SourceFile
from models.errors import (
    Code,
    ConfigurationError,
    EnvironmentFault,
    SourceBusy,
    SourceForbidden,
    SourceGone,
)
from models.text import printable
from tasks.work.sources_local import Found, changed, translate
from tasks.work.sources_names import ignored_name, passed_over

T = TypeVar("T")

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_LOCAL = {"file", "local"}
# Keys of an object store know no folders: one listing of all of them takes a request for each 1,000.
_FLAT = {"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss"}
_TIMES = ("LastModified", "last_modified", "mtime", "modified", "updated", "created")
_CHUNK = 8 * 1024 * 1024


def is_url(text: str) -> bool:
    """Whether a place is named by a URL rather than a path."""
    return _URL.match(text) is not None


def normal(url: str) -> str:
    """A root as its files' names begin: without a slash at the end; of `file://` the path.

    Raises ConfigurationError for a protocol that fsspec does not know and for a URL that holds a password,
    EnvironmentFault (package-missing) where the protocol needs a package that is not installed.
    """
    protocol = _protocol(url)
    system = _system_class(protocol)
    if protocol in _LOCAL:
        return str(Path(system._strip_protocol(url)).absolute())  # noqa: SLF001 (fsspec's own way, so named)
    if protocol not in _FLAT and urlsplit(url).password:
        raise ConfigurationError(
            "A URL is stored and shown: leave the password out of it and set "
            f"FSSPEC_{protocol.upper()}_PASSWORD."
        )
    return protocol + url.strip()[len(protocol) :].rstrip("/")


def at(url: str) -> Iterator[Found]:
    """What is at or below a normal URL, as `sources.find` tells it, in the order of the store."""
    system, path = _open(url)
    try:
        root = _asked(url, lambda: system.info(path))
        if root["type"] == "directory":
            listed = _flat if _protocol(url) in _FLAT else _nested
            yield from listed(url, system, path)
        else:
            yield _source(url, root)
    except (SourceGone, SourceForbidden, SourceBusy) as error:
        yield ScanProblem(url, error.code.value, error.message)


def facts(url: str) -> SourceFile:
    """The file as it is now. Raises SourceGone, SourceForbidden, SourceBusy."""
    system, path = _open(url)
    info = _asked(url, lambda: system.info(path))
    if info["type"] == "directory":
        raise SourceBusy(f"{printable(url)} is no longer a file.")
    return _source(url, info)


def is_gone(url: str) -> bool:
    """Whether nothing stands under the URL; one that cannot be asked for is not known to be gone."""
    try:
        facts(url)
    except SourceGone:
        return True
    except (SourceForbidden, SourceBusy):
        return False
    return False


def download(source: SourceFile, target: Path) -> str:
    """Write the file's bytes to `target`, in pieces; their SHA-256.

    Raises SourceBusy when it is not as it was listed, before or after; SourceGone, SourceForbidden; and
    OSError where `target` cannot be written.
    """
    check_unchanged(source)
    system, path = _open(source.uri)
    digest, left = hashlib.sha256(), source.size
    reader = _asked(source.uri, lambda: system.open(path, "rb", block_size=_CHUNK, cache_type="none"))
    with target.open("wb") as file, reader:
        while chunk := _asked(source.uri, lambda: reader.read(_CHUNK)):
            left -= len(chunk)
            if left < 0:
                break
            digest.update(chunk)
            file.write(chunk)
    if left:
        raise changed(source)
    check_unchanged(source)
    return digest.hexdigest()


def check_unchanged(source: SourceFile) -> None:
    """Raise SourceBusy, SourceGone or SourceForbidden unless the file is as it was listed."""
    now = facts(source.uri)
    if (now.size, now.mtime_ns) != (source.size, source.mtime_ns):
        raise changed(source)


def _flat(root: str, system: Any, path: str) -> Iterator[Found]:
    """All keys in one listing; a key is passed over for any of its parts."""
    found = _asked(root, lambda: system.find(path, detail=True))
    for name in sorted(found):
        inner = name[len(path) :].strip("/")
        if found[name]["type"] != "file" or name.endswith("/") or not inner:
            continue
        url = f"{root}/{inner}"
        why = next(filter(None, map(ignored_name, inner.split("/"))), None)
        yield passed_over(url, why) if why else _source(url, found[name])


def _nested(root: str, system: Any, path: str) -> Iterator[Found]:
    """Folder by folder; one that cannot be listed is a problem of its own."""
    top = path.rstrip("/")
    stack, entered = [top], {top}
    while stack:
        folder = stack.pop()
        url = root + folder[len(top) :]
        try:
            entries = _asked(url, lambda at=folder: system.ls(at or "/", detail=True))  # type: ignore[misc]
        except (SourceGone, SourceForbidden, SourceBusy) as error:
            yield ScanProblem(url, error.code.value, error.message)
            continue
        folders = []
        for info in sorted(entries, key=lambda info: info["name"]):
            name = info["name"].rstrip("/")
            why = ignored_name(name.rsplit("/", 1)[-1])
            if why:
                yield passed_over(root + name[len(top) :], why)
            elif info["type"] == "file":
                yield _source(root + name[len(top) :], info)
            elif info["type"] == "directory" and name not in entered:
                entered.add(name)
                folders.append(name)
        stack.extend(reversed(folders))


def _source(url: str, info: dict[str, Any]) -> SourceFile:
    return SourceFile(url, int(info.get("size") or 0), _mtime_ns(info))


def _mtime_ns(info: dict[str, Any]) -> int:
    """To the microsecond. File systems name their times differently, and give seconds or moments."""
    value = next((info[name] for name in _TIMES if info.get(name)), 0)
    if isinstance(value, dt.datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=dt.UTC)
        return (moment - dt.datetime.fromtimestamp(0, dt.UTC)) // dt.timedelta(microseconds=1) * 1_000
    return round(float(value) * 1e6) * 1_000 if isinstance(value, int | float) else 0


def _protocol(url: str) -> str:
    match = _URL.match(url.strip())
    if match is None:
        raise ConfigurationError(f"'{printable(url)}' is no URL.")
    return match[1].lower()


def _system_class(protocol: str) -> Any:
    try:
        return fsspec.get_filesystem_class(protocol)
    except ValueError as error:
        raise ConfigurationError(f"pagemill knows no {protocol}:// (fsspec does not).") from error
    except ImportError as error:
        extra = "'pagemill[s3]'" if protocol in {"s3", "s3a"} else f"what fsspec needs for {protocol}"
        raise EnvironmentFault(
            f"{protocol}:// needs a package that is not installed: pip install {extra}.", Code.PACKAGE_MISSING
        ) from error


def _open(url: str) -> tuple[Any, str]:
    """The file system of a URL and the path in it. Not through chains of URLs: a key may well hold `::`."""
    protocol = _protocol(url)
    system = _system_class(protocol)
    options = system._get_kwargs_from_urls(url)  # noqa: SLF001 (fsspec's own way, so named)
    opened = _asked(url, lambda: fsspec.filesystem(protocol, use_listings_cache=False, **options))
    return opened, str(system._strip_protocol(url))  # noqa: SLF001


def _asked(url: str, ask: Callable[[], T]) -> T:
    """What a file system answers, its errors in our terms.

    Each has kinds of its own: what is no error of the system is an unreachable service, a missing account and
    the like, and worth another try.
    """
    try:
        return ask()
    except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
        raise translate(error, url) from error
    except Exception as error:
        told = f"{type(error).__name__}: {_line(error)}"
        raise SourceBusy(f"{printable(url)} cannot be read now: {told}.") from error


def _line(error: Exception) -> str:
    return printable(str(error).partition("\n")[0][:200]).rstrip(".")
