"""The rows that registering writes: contents, names, first claims."""

import hashlib
from collections.abc import Collection, Iterable

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from db import tables
from models.document import DocumentStatus, IntakeFile
from models.intake import Registered
from models.stage import ClaimStatus, Stage
from models.text import clean, printable

SEEN_AS = ("new", "known", "again", "rejected")


def uri_sha256(uri: str) -> str:
    """The name of a name: long and undecodable ones fit into an index too."""
    return hashlib.sha256(uri_bytes(uri)).hexdigest()


def uri_bytes(uri: str) -> bytes:
    """A file name as the system has it."""
    return uri.encode("utf-8", "surrogateescape")


def save_documents(connection: sa.Connection, files: Iterable[IntakeFile]) -> tuple[dict[str, int], set[int]]:
    """Ids by content of all files, and which of them are new."""
    t = tables.document
    rows = {file.sha256: _document_row(file) for file in files}
    if not rows:
        return {}, set()
    ordered = [rows[sha256] for sha256 in sorted(rows)]
    added = insert(t).on_conflict_do_nothing(index_elements=["sha256"]).returning(t.c.id)
    new = set(connection.scalars(added, ordered))
    known = connection.execute(sa.select(t.c.sha256, t.c.id).where(t.c.sha256.in_(rows)))
    return {row.sha256: row.id for row in known}, new


def _document_row(file: IntakeFile) -> dict[str, object]:
    status = DocumentStatus.PENDING if file.rejection is None else DocumentStatus.REJECTED
    return {
        "sha256": file.sha256,
        "media_type": file.media_type,
        "size": file.source.size,
        "status": status.value,
        "code": file.rejection,
        "message": None if file.message is None else clean(file.message),
    }


def save_sources(connection: sa.Connection, files: Iterable[IntakeFile], ids: dict[str, int]) -> set[int]:
    """Upsert the names; says which documents now stand under a name that another one still holds."""
    t = tables.source
    rows = {(uri_sha256(file.source.uri), ids[file.sha256]): file for file in files}
    if not rows:
        return set()
    added = insert(t)
    seen = {name: added.excluded[name] for name in ("size", "mtime_ns", "last_seen")}
    connection.execute(
        added.on_conflict_do_update(
            index_elements=["uri_sha256", "document_id"],
            set_=seen | {"gone_at": None, "superseded_at": None},
        ),
        [_source_row(*key, rows[key]) for key in sorted(rows)],
    )
    return contested(connection, {name for name, _ in rows})


def contested(connection: sa.Connection, names: Collection[str]) -> set[int]:
    """Of the documents seen in this transaction under names (by hash): those that share one with another."""
    t = tables.source
    other = t.alias("other")
    shared = sa.select(t.c.document_id).join(
        other,
        (other.c.uri_sha256 == t.c.uri_sha256)
        & (other.c.document_id != t.c.document_id)
        & other.c.superseded_at.is_(None),
    )
    return set(connection.scalars(shared.where(t.c.uri_sha256.in_(names), t.c.last_seen == sa.func.now())))


def _source_row(name: str, document_id: int, file: IntakeFile) -> dict[str, object]:
    shown = printable(file.source.uri)
    return {
        "document_id": document_id,
        "uri_sha256": name,
        "uri": shown,
        "raw": None if shown == file.source.uri else uri_bytes(file.source.uri),
        "size": file.source.size,
        "mtime_ns": file.source.mtime_ns,
    }


def make_claims(
    connection: sa.Connection, run_id: int, recipe_id: int, documents: Collection[int]
) -> set[int]:
    """A split claim for each document that has none under this recipe; says for which."""
    t = tables.claim
    document, recipe = tables.document, tables.recipe
    wanted = (
        sa.select(
            document.c.id,
            recipe.c.id,
            sa.literal(0),
            sa.literal(Stage.SPLIT.value),
            sa.literal(ClaimStatus.READY.value),
            recipe.c.profile,
            sa.literal(run_id),
        )
        .join_from(document, recipe, recipe.c.id == recipe_id)
        .where(document.c.id.in_(documents))
        .order_by(document.c.id)
    )
    columns = ["document_id", "recipe_id", "page_no", "stage", "status", "profile", "run_id"]
    added = insert(t).from_select(columns, wanted).on_conflict_do_nothing().returning(t.c.document_id)
    return set(connection.scalars(added))


def mark_pending(connection: sa.Connection, documents: Collection[int]) -> None:
    """Their earlier end is forgotten: there is work on them again."""
    t = tables.document
    values = {"status": DocumentStatus.PENDING.value, "code": None, "message": None}
    connection.execute(sa.update(t).where(t.c.id.in_(documents)).values(values))


def remember(
    connection: sa.Connection, run_id: int, registered: Registered, kinds: Collection[str] = SEEN_AS
) -> None:
    """Which documents this run is about."""
    rows = [
        {"run_id": run_id, "document_id": document_id, "seen_as": seen_as}
        for seen_as in kinds
        for document_id in getattr(registered, seen_as)
    ]
    if rows:
        connection.execute(insert(tables.run_document).on_conflict_do_nothing(), rows)
