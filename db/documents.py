"""Documents: registered as a scan finds them, taken to be split, looked up by people."""

import os
import re
from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import distinct_on

from db import intake, scans, tables
from db.requeue import hasten, put_back
from models.claim import Claim
from models.document import Document, DocumentStatus, IntakeFile, MediaType, SourceFile
from models.errors import Code, ConfigurationError
from models.intake import KnownSource, Registered
from models.stage import STAGE_VERSION, Stage
from models.text import printable
from models.work import DocumentToSplit

_LEAST_HASH_DIGITS = 6


def register(
    connection: sa.Connection,
    run_id: int,
    recipe_id: int,
    files: Sequence[IntakeFile],
    *,
    has_passwords: bool = False,
) -> Registered:
    """Write down what a scan found and make work of what is new under the recipe.

    The same bytes under several names are one document. A name whose content changed keeps its old document
    in the knowledge base until the new one is loaded. Work that failed for a passing cause is put back, and
    so are documents that need a password when there are passwords (`has_passwords`).
    """
    ids, new = intake.save_documents(connection, files)
    moved = intake.save_sources(connection, files, ids)
    accepted = {ids[file.sha256] for file in files if file.rejection is None}
    claimed = intake.make_claims(connection, run_id, recipe_id, accepted)
    known = accepted - claimed
    again = put_back(connection, recipe_id, known, moved, has_passwords=has_passwords)
    again |= claimed - new
    hasten(connection, recipe_id, known)
    intake.mark_pending(connection, again)
    registered = _registered(accepted, set(ids.values()) - accepted, new, again)
    intake.remember(connection, run_id, registered)
    return registered


def register_unchanged(
    connection: sa.Connection,
    run_id: int,
    recipe_id: int,
    found: Sequence[KnownSource],
    *,
    has_passwords: bool = False,
    lists_all: bool = True,
) -> Registered:
    """As `register`, of files that need no reading: they are as they were when they were read.

    `lists_all` False: only those with work to do are noted with the run.
    """
    moved = scans.touch(connection, found)
    accepted = {known.document_id for known in found if not known.is_refused}
    claimed = intake.make_claims(connection, run_id, recipe_id, accepted)
    others = accepted - claimed
    again = claimed | put_back(connection, recipe_id, others, moved, has_passwords=has_passwords)
    hasten(connection, recipe_id, others, only_hidden=not lists_all)
    intake.mark_pending(connection, again)
    refused = {known.document_id for known in found if known.is_refused}
    registered = _registered(accepted, refused, set(), again)
    intake.remember(connection, run_id, registered, intake.SEEN_AS if lists_all else ("again",))
    return registered


def _registered(accepted: set[int], rejected: set[int], new: set[int], again: set[int]) -> Registered:
    return Registered(
        new=tuple(sorted(new - rejected)),
        known=tuple(sorted(accepted - new - again)),
        again=tuple(sorted(again)),
        rejected=tuple(sorted(rejected)),
    )


def to_split(connection: sa.Connection, leased: Sequence[Claim]) -> tuple[DocumentToSplit, ...]:
    """What split needs of claimed documents, in the order of `leased`."""
    t, page = tables.document, tables.page
    ids = {claim.document_id for claim in leased}
    current = (page.c.document_id == t.c.id) & (page.c.split_version == STAGE_VERSION[Stage.SPLIT])
    saved = sa.select(sa.func.count()).where(current).scalar_subquery()
    rows = connection.execute(sa.select(t.c.id, t.c.sha256, t.c.media_type, saved).where(t.c.id.in_(ids)))
    found = {row.id: row for row in rows}
    sources = sources_of(connection, ids)
    return tuple(
        DocumentToSplit(
            claim=claim,
            sha256=found[claim.document_id].sha256,
            media_type=MediaType(found[claim.document_id].media_type),
            sources=sources[claim.document_id],
            pages_saved=found[claim.document_id][3],
        )
        for claim in leased
    )


def sources_of(
    connection: sa.Connection, documents: Collection[int], *, only_gone: bool = False
) -> dict[int, tuple[SourceFile, ...]]:
    """Places of documents, named as the system has them: those still there first, then the last seen.

    `only_gone`: those whose files are not there any more, or hold something else now.
    """
    t = tables.source
    is_gone = t.c.gone_at.is_not(None) | t.c.superseded_at.is_not(None)
    query = (
        sa.select(t.c.document_id, t.c.uri, t.c.raw, t.c.size, t.c.mtime_ns)
        .where(t.c.document_id.in_(documents), is_gone if only_gone else sa.true())
        .order_by(t.c.gone_at.desc().nulls_first(), t.c.superseded_at.desc().nulls_first())
        .order_by(t.c.last_seen.desc(), t.c.id)
    )
    places: dict[int, list[SourceFile]] = {document_id: [] for document_id in documents}
    for row in connection.execute(query):
        places[row.document_id].append(scans.source_of(row))
    return {document_id: tuple(found) for document_id, found in places.items()}


def get(connection: sa.Connection, ref: str) -> Document:
    """A document by its id, the first six or more digits of its SHA-256, a path or a file name.

    Raises ConfigurationError (not-found) when there is none, or more than one that it could mean.
    """
    for found in (_by_id(connection, ref), _by_hash(connection, ref), _by_name(connection, ref)):
        if len(found) > 1:
            listed = ", ".join(str(document_id) for document_id in sorted(found)[:10])
            raise ConfigurationError(f"'{ref}' may mean the documents {listed}: name one.", Code.NOT_FOUND)
        if found:
            return _load(connection, found)[0]
    raise ConfigurationError(
        f"There is no document '{printable(ref)}'. 'pagemill status' lists them.", Code.NOT_FOUND
    )


def listing(connection: sa.Connection) -> tuple[Document, ...]:
    """All documents by id, the newest last."""
    return _load(connection, set(connection.scalars(sa.select(tables.document.c.id))))


def counts(connection: sa.Connection) -> dict[DocumentStatus, int]:
    """How many documents there are of each status."""
    t = tables.document
    rows = connection.execute(sa.select(t.c.status, sa.func.count()).group_by(t.c.status))
    return {DocumentStatus(status): number for status, number in rows}


def _by_id(connection: sa.Connection, ref: str) -> set[int]:
    if not re.fullmatch(r"[0-9]{1,18}", ref):
        return set()
    t = tables.document
    return set(connection.scalars(sa.select(t.c.id).where(t.c.id == int(ref))))


def _by_hash(connection: sa.Connection, ref: str) -> set[int]:
    if not re.fullmatch(rf"[0-9a-fA-F]{{{_LEAST_HASH_DIGITS},64}}", ref):
        return set()
    t = tables.document
    # A range, not a prefix: it uses the index of the bytes.
    within = t.c.sha256.between(ref.ljust(64, "0"), ref.ljust(64, "f"))
    return set(connection.scalars(sa.select(t.c.id).where(within)))


def _by_name(connection: sa.Connection, ref: str) -> set[int]:
    """Documents that stand under a path now, or failing that under a file name; of each name the newest.

    Files that are there come before files that are gone.
    """
    t = tables.source
    newest = (
        sa.select(t.c.document_id, t.c.gone_at)
        .ext(distinct_on(t.c.uri_sha256))
        .where(t.c.superseded_at.is_(None))
        .order_by(t.c.uri_sha256, t.c.last_seen.desc(), t.c.id.desc())
    )
    names = [intake.uri_sha256(ref), intake.uri_sha256(os.path.abspath(ref))]  # noqa: PTH100 (no symlinks)
    for wanted in (t.c.uri_sha256.in_(names), t.c.uri.endswith(f"/{printable(ref)}", autoescape=True)):
        rows = connection.execute(newest.where(wanted)).all()
        if rows:
            there = {row.document_id for row in rows if row.gone_at is None}
            return there or {row.document_id for row in rows}
    return set()


def _load(connection: sa.Connection, ids: Collection[int]) -> tuple[Document, ...]:
    t = tables.document
    places = sources_of(connection, ids)
    gone = sources_of(connection, ids, only_gone=True)
    rows = connection.execute(sa.select(t).where(t.c.id.in_(ids)).order_by(t.c.id))
    return tuple(_document(row, _uris(places[row.id]), _uris(gone[row.id])) for row in rows)


def _uris(sources: Sequence[SourceFile]) -> tuple[str, ...]:
    return tuple(source.uri for source in sources)


def _document(row: sa.Row[Any], sources: tuple[str, ...], gone: tuple[str, ...]) -> Document:
    return Document(
        id=row.id,
        sha256=row.sha256,
        media_type=None if row.media_type is None else MediaType(row.media_type),
        size=row.size,
        status=DocumentStatus(row.status),
        page_count=row.page_count,
        code=row.code,
        message=row.message,
        is_repaired=row.is_repaired,
        title=row.title,
        edition_id=row.edition_id,
        created_at=row.created_at,
        sources=sources,
        gone=gone,
    )
