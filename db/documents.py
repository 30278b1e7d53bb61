"""Contents and the names they are seen under: registering what a scan found."""

import hashlib
from collections.abc import Collection, Iterable, Sequence

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from db import tables
from db.requeue import put_back
from models.claim import Claim
from models.document import DocumentStatus, IntakeFile, MediaType
from models.intake import Registered
from models.stage import STAGE_VERSION, ClaimStatus, Stage
from models.text import clean, printable
from models.work import DocumentToSplit


def register(
    connection: sa.Connection,
    run_id: int,
    recipe_id: int,
    files: Sequence[IntakeFile],
    *,
    priority: int = 0,
    has_passwords: bool = False,
) -> Registered:
    """Write down what a scan found and make work of what is new under the recipe.

    The same bytes under several names are one document. A name whose content changed keeps its old document
    in the knowledge base until the new one is loaded. Work that failed for a passing cause is put back, and
    so are documents that need a password when there are passwords (`has_passwords`).
    """
    ids, new = _save_documents(connection, files)
    moved = _save_sources(connection, files, ids)
    accepted = {ids[file.sha256] for file in files if file.rejection is None}
    claimed = _make_claims(connection, run_id, recipe_id, accepted, priority)
    again = put_back(connection, recipe_id, accepted - claimed, moved, has_passwords=has_passwords)
    again |= claimed - new
    _mark_pending(connection, again)
    rejected = set(ids.values()) - accepted
    registered = Registered(
        new=tuple(sorted(new - rejected)),
        known=tuple(sorted(accepted - new - again)),
        again=tuple(sorted(again)),
        rejected=tuple(sorted(rejected)),
    )
    _remember(connection, run_id, registered)
    return registered


def to_split(connection: sa.Connection, leased: Sequence[Claim]) -> tuple[DocumentToSplit, ...]:
    """What split needs of claimed documents, in the order of `leased`."""
    t, page = tables.document, tables.page
    ids = {claim.document_id for claim in leased}
    current = (page.c.document_id == t.c.id) & (page.c.split_version == STAGE_VERSION[Stage.SPLIT])
    saved = sa.select(sa.func.count()).where(current).scalar_subquery()
    rows = connection.execute(sa.select(t.c.id, t.c.sha256, t.c.media_type, saved).where(t.c.id.in_(ids)))
    found = {row.id: row for row in rows}
    paths = paths_of(connection, ids)
    return tuple(
        DocumentToSplit(
            claim=claim,
            sha256=found[claim.document_id].sha256,
            media_type=MediaType(found[claim.document_id].media_type),
            paths=paths[claim.document_id],
            pages_saved=found[claim.document_id][3],
        )
        for claim in leased
    )


def paths_of(connection: sa.Connection, documents: Collection[int]) -> dict[int, tuple[str, ...]]:
    """Names of documents as the system has them: those still there first, then the last seen first."""
    t = tables.source
    query = (
        sa.select(t.c.document_id, t.c.uri, t.c.raw)
        .where(t.c.document_id.in_(documents))
        .order_by(t.c.gone_at.desc().nulls_first(), t.c.superseded_at.desc().nulls_first())
        .order_by(t.c.last_seen.desc(), t.c.id)
    )
    paths: dict[int, list[str]] = {document_id: [] for document_id in documents}
    for row in connection.execute(query):
        raw = None if row.raw is None else row.raw.decode("utf-8", "surrogateescape")
        paths[row.document_id].append(row.uri if raw is None else raw)
    return {document_id: tuple(names) for document_id, names in paths.items()}


def uri_sha256(uri: str) -> str:
    """The name of a name: long and undecodable ones fit into an index too."""
    return hashlib.sha256(uri_bytes(uri)).hexdigest()


def uri_bytes(uri: str) -> bytes:
    """A file name as the system has it."""
    return uri.encode("utf-8", "surrogateescape")


def _save_documents(
    connection: sa.Connection, files: Iterable[IntakeFile]
) -> tuple[dict[str, int], set[int]]:
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


def _save_sources(connection: sa.Connection, files: Iterable[IntakeFile], ids: dict[str, int]) -> set[int]:
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
    other = t.alias("other")
    shared = sa.select(t.c.document_id).join(
        other,
        (other.c.uri_sha256 == t.c.uri_sha256)
        & (other.c.document_id != t.c.document_id)
        & other.c.superseded_at.is_(None),
    )
    names = {name for name, _ in rows}
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


def _make_claims(
    connection: sa.Connection, run_id: int, recipe_id: int, documents: Collection[int], priority: int
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
            sa.literal(priority),
            recipe.c.profile,
            sa.literal(run_id),
        )
        .join_from(document, recipe, recipe.c.id == recipe_id)
        .where(document.c.id.in_(documents))
        .order_by(document.c.id)
    )
    columns = ["document_id", "recipe_id", "page_no", "stage", "status", "priority", "profile", "run_id"]
    added = insert(t).from_select(columns, wanted).on_conflict_do_nothing().returning(t.c.document_id)
    return set(connection.scalars(added))


def _mark_pending(connection: sa.Connection, documents: Collection[int]) -> None:
    t = tables.document
    values = {"status": DocumentStatus.PENDING.value, "code": None, "message": None}
    connection.execute(sa.update(t).where(t.c.id.in_(documents)).values(values))


def _remember(connection: sa.Connection, run_id: int, registered: Registered) -> None:
    rows = [
        {"run_id": run_id, "document_id": document_id, "seen_as": seen_as}
        for seen_as in ("new", "known", "again", "rejected")
        for document_id in getattr(registered, seen_as)
    ]
    if rows:
        connection.execute(insert(tables.run_document).on_conflict_do_nothing(), rows)
