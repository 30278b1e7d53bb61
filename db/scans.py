"""What a scan asks the ledger about names, and what it notes of them."""

import datetime as dt
import json
from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from db import intake
from db.tables import document, run
from db.tables import source as t
from models.document import SourceFile
from models.intake import KnownSource
from models.text import printable

ROOTS = "scan: roots"
"""Fact of a run: the roots it scanned, as JSON."""

_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True)
class Absent:
    """What is known below a root and was not found there."""

    known: int
    """Names that stand there, found or not."""
    names: dict[SourceFile, list[int]] = field(default_factory=dict)
    """Those not found, with their rows: two while a new content waits to be loaded."""


def clock(connection: sa.Connection) -> dt.datetime:
    """Now, as the database counts: hosts need not agree."""
    moment: dt.datetime = connection.execute(sa.select(sa.func.clock_timestamp())).scalar_one()
    return moment


def known(connection: sa.Connection, uris: Collection[str]) -> dict[str, tuple[KnownSource, ...]]:
    """What stands under names, the last seen first; a name that is gone may be among them."""
    query = (
        sa.select(t.c.id, t.c.document_id, t.c.uri, t.c.raw, t.c.size, t.c.mtime_ns, t.c.last_seen)
        .add_columns(document.c.media_type.is_(None).label("is_refused"))
        .join(document, document.c.id == t.c.document_id)
        .where(t.c.uri_sha256.in_({intake.uri_sha256(uri) for uri in uris}), t.c.superseded_at.is_(None))
        .order_by(t.c.last_seen.desc(), t.c.id.desc())
    )
    found: dict[str, tuple[KnownSource, ...]] = {}
    for row in connection.execute(query):
        source = source_of(row)
        known = KnownSource(row.id, row.document_id, source, row.last_seen, row.is_refused)
        found[source.uri] = (*found.get(source.uri, ()), known)
    return found


def absent(connection: sa.Connection, root: str, present: Set[str]) -> Absent:
    """Names at or below a root that are not among those `present`. Memory grows with those absent alone."""
    prefix = printable(root).rstrip("/") + "/"
    below = (t.c.uri == printable(root)) | sa.func.starts_with(t.c.uri, prefix)
    query = (
        sa.select(t.c.id, t.c.uri, t.c.raw, t.c.size, t.c.mtime_ns)
        .where(below, t.c.superseded_at.is_(None), t.c.gone_at.is_(None))
        .order_by(t.c.id)
        .execution_options(yield_per=_AT_ONCE)
    )
    names: dict[SourceFile, list[int]] = {}
    known = 0
    for row in connection.execute(query):
        known += 1
        source = source_of(row)
        if source.uri not in present:
            names.setdefault(source, []).append(row.id)
    return Absent(known, names)


def watched(connection: sa.Connection) -> frozenset[str]:
    """Roots that scans nobody waits for have gone through: they come again."""
    noted = run.c.facts.op("->>")(ROOTS)
    lists = connection.scalars(sa.select(noted).distinct().where(noted.is_not(None)))
    return frozenset(root for roots in lists for root in json.loads(roots))


def mark_gone(connection: sa.Connection, sources: Sequence[int], listed_at: dt.datetime) -> int:
    """Names whose files are gone, but for those that another scan has seen since `listed_at`; how many."""
    ordered, marked = sorted(sources), 0
    for first in range(0, len(ordered), _AT_ONCE):
        rows = t.c.id.in_(ordered[first : first + _AT_ONCE]) & t.c.gone_at.is_(None)
        locked = connection.scalars(
            sa.select(t.c.id).where(rows, t.c.last_seen < listed_at).order_by(t.c.id).with_for_update()
        ).all()
        connection.execute(sa.update(t).where(t.c.id.in_(locked)).values(gone_at=sa.func.now()))
        marked += len(locked)
    return marked


def touch(connection: sa.Connection, found: Sequence[KnownSource]) -> set[int]:
    """Names whose files are as they were: seen now, and not gone.

    Says which of their documents stand under a name that another content still holds too.
    """
    ids = [known.id for known in found]
    current = sa.select(t.c.id).where(t.c.id.in_(ids), t.c.superseded_at.is_(None))
    locked = connection.scalars(current.order_by(t.c.id).with_for_update()).all()
    seen = {"last_seen": sa.func.now(), "gone_at": None}
    connection.execute(sa.update(t).where(t.c.id.in_(locked)).values(seen))
    return intake.contested(connection, {intake.uri_sha256(known.source.uri) for known in found})


def source_of(row: Any) -> SourceFile:
    """A name as the system has it."""
    uri = row.uri if row.raw is None else row.raw.decode("utf-8", "surrogateescape")
    return SourceFile(uri, row.size, row.mtime_ns)
