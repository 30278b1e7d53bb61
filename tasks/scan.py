"""Look before anything is done: what is there, what is gone, and whether that can be true."""

import datetime as dt
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from db import scans
from models.document import ScanProblem, SourceFile
from models.errors import Code, ConfigurationError, ScanStopped
from models.intake import KnownSource, ScanRules
from models.settings import Settings
from models.text import printable
from tasks.mill import Mill
from tasks.work import remote, sources

log = logging.getLogger(__name__)

_FEW = 10
"""So many files may go at once whatever their share: of three, two are soon removed on purpose."""

_ON_PURPOSE = (
    "If they were removed on purpose, scan once with PAGEMILL_GONE_SHARE=1 (gone_share of the flow)."
)

# Times that count in whole seconds, or in two, cannot tell a file from what was written over it right after.
_COARSEST_TIME_NS = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Survey:
    """Everything at and below the roots, before anything is changed."""

    files: tuple[SourceFile, ...]
    problems: tuple[ScanProblem, ...]
    gone: tuple[int, ...]
    """Rows of names whose files are not there any more."""
    listed_at: dt.datetime
    """Before the listing, by the database's clock."""


def roots_of(settings: Settings, paths: Sequence[Path | str]) -> list[str]:
    """Normal roots, each once.

    Raises as `sources.normal`; ConfigurationError when there is none, and (output-in-input) for a root that
    holds pagemill's own files, or lies among them: it would read what it writes.
    """
    home, store = settings.root.resolve(), settings.store.resolve()
    roots = list(dict.fromkeys(map(sources.normal, paths)))
    if not roots:
        raise ConfigurationError("There is nothing to read: name at least one folder or file (paths).")
    for root in roots:
        if remote.is_url(root):
            continue
        place = Path(root).resolve()
        if home.is_relative_to(place) or place.is_relative_to(store):
            raise ConfigurationError(
                f"pagemill keeps its own files in {home} and would find them in {printable(root)}: read "
                "another folder, or set PAGEMILL_HOME to one outside.",
                Code.OUTPUT_IN_INPUT,
            )
    return roots


def survey(mill: Mill, roots: Sequence[str], rules: ScanRules) -> Survey:
    """List the roots, and compare with what is known there.

    Takes memory for the list: a few hundred bytes a file. Raises ScanStopped (root-unavailable,
    too-many-gone) when a root cannot be listed or too much of it is gone, before anything is changed.
    """
    listed_at = mill.database.run(scans.clock)
    found = list(sources.find(roots, mill.settings.root, follows_links=rules.follows_links))
    problems = tuple(item for item in found if isinstance(item, ScanProblem))
    files = tuple(item for item in found if isinstance(item, SourceFile))
    for problem in problems:
        if problem.uri in roots and problem.code.startswith("source-"):
            raise ScanStopped(f"Nothing was scanned: {problem.message}")
    gone = {row for root in roots for row in _gone(mill, root, files, rules)}
    return Survey(files, problems, tuple(sorted(gone)), listed_at)


def unchanged(mill: Mill, files: Sequence[SourceFile]) -> list[KnownSource]:
    """Those of the files that are as they were when they were read: name, size and time say so."""
    known = mill.database.run(lambda conn: scans.known(conn, [file.uri for file in files]))
    matches = (_match(file, known.get(file.uri, ())) for file in files)
    return [match for match in matches if match is not None]


def _match(file: SourceFile, known: Sequence[KnownSource]) -> KnownSource | None:
    for candidate in known:
        seen_ns = round(candidate.seen_at.timestamp() * 1e9)
        is_sure = file.mtime_ns and seen_ns - file.mtime_ns > _COARSEST_TIME_NS
        if candidate.source != file or not is_sure:
            continue
        # What this version of pagemill reads, an earlier one may have refused.
        return None if candidate.is_refused and sources.media_type_now(file) else candidate
    return None


def _gone(mill: Mill, root: str, files: Sequence[SourceFile], rules: ScanRules) -> list[int]:
    """Rows of names below a root that are gone."""
    present = {file.uri for file in files}
    absent = mill.database.run(lambda conn: scans.absent(conn, root, present))
    # Not found may as well be: in a folder that may not be read, behind a link, a name now passed over.
    names = [source for source in absent.names if sources.is_gone(source.uri)]
    if names and rules.gone_share < 1:
        _check_share(root, absent.known, names, files, rules)
    log.info("known=%d gone=%d", absent.known, len(names))
    return [row for source in names for row in absent.names[source]]


def _check_share(
    root: str, known: int, gone: Sequence[SourceFile], files: Sequence[SourceFile], rules: ScanRules
) -> None:
    """A file that was renamed is not lost: another name shows its size and time."""
    shown = printable(root)
    if not any(file.uri == root or file.uri.startswith(f"{root.rstrip('/')}/") for file in files):
        raise ScanStopped(
            f"Nothing was scanned: {shown} holds no files, but {known} are known there. Is it mounted? "
            f"{_ON_PURPOSE}"
        )
    there = {(file.size, file.mtime_ns) for file in files}
    lost = sum((source.size, source.mtime_ns) not in there for source in gone)
    if lost >= _FEW and lost > rules.gone_share * known:
        raise ScanStopped(
            f"Nothing was scanned: {lost} of {known} files known in {shown} are gone. Is everything mounted? "
            f"{_ON_PURPOSE}",
            Code.TOO_MANY_GONE,
        )
