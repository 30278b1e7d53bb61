"""Editions: what the knowledge base shows for a document, switched in one transaction."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from db import claims, decisions, switches, tables
from db.engine import has_vectors
from db.visibility import supersede
from models.chunk import Chunk
from models.claim import Claim
from models.document import DocumentStatus
from models.edition import reason, status_of
from models.errors import PASSING
from models.lexemes import searchable, to_tsvectors
from models.stage import STAGE_VERSION, ClaimStatus, Stage
from models.verdict import Severity, Verdict
from models.work import ChunkVectors, Loaded, PageToLoad


def to_load(connection: sa.Connection, claim: Claim) -> tuple[PageToLoad, ...]:
    """Every page of a claimed document, read or not, in order; what people decided about pages counts."""
    page, reading, work = tables.page, tables.reading, tables.claim
    of_page = (work.c.document_id == page.c.document_id) & (work.c.page_no == page.c.page_no)
    read = (reading.c.document_id == page.c.document_id) & (reading.c.page_no == page.c.page_no)
    read &= reading.c.superseded_at.is_(None)
    columns = [reading.c[name] for name in ("verdict", "blocks", "text", "source", "cached_from")]
    columns += [work.c.status, work.c.code, work.c.message]
    query = (
        sa.select(page.c.page_no, reading.c.id, *columns)
        .outerjoin_from(page, reading, read & (reading.c.recipe_id == claim.recipe_id))
        .outerjoin(work, of_page & (work.c.recipe_id == claim.recipe_id))
        .where(page.c.document_id == claim.document_id)
        .order_by(page.c.page_no)
    )
    rows = connection.execute(query).all()
    bad = [row.id for row in rows if row.verdict == Verdict.BAD.value]
    reasons = _reasons(connection, bad) if bad else {}
    pages = [_page_to_load(row, reasons) for row in rows]
    return decisions.applied(connection, claim.document_id, pages)


def shown(connection: sa.Connection, document_id: int) -> tuple[PageToLoad, ...]:
    """Every page of what a document shows, in order; nothing where it shows nothing.

    As it would be shown now: with the present verdicts of its readings and with what people decided since.
    """
    d, e, r = tables.document, tables.edition_page, tables.reading
    columns = [r.c[name] for name in ("blocks", "text", "source", "cached_from")]
    query = (
        sa.select(e.c.page_no, r.c.id, sa.func.coalesce(r.c.verdict, e.c.verdict).label("verdict"), *columns)
        .add_columns(e.c.code, e.c.message)
        .select_from(d)
        .join(e, e.c.edition_id == d.c.edition_id)
        .outerjoin(r, r.c.id == e.c.reading_id)
        .where(d.c.id == document_id)
        .order_by(e.c.page_no)
    )
    rows = connection.execute(query).all()
    pages = [_shown_page(row) for row in rows]
    return decisions.applied(connection, document_id, pages)


def load(
    connection: sa.Connection,
    claim: Claim,
    run_id: int,
    pages: Sequence[PageToLoad],
    chunks: Sequence[Chunk],
    *,
    vectors: ChunkVectors | None = None,
) -> Loaded | None:
    """Make these pages and chunks an edition of the claimed document, shown from the end of this transaction.

    Not shown while something else is when the claim does not promote: a backfill's stands beside it. The
    edition before stays in the database and can be put back; it stays shown when not one page could be read.
    Equal pages make no new edition. Older contents of the document's names are superseded. None when the
    claim is not ours any more. `vectors` are left out where the database has no pgvector.
    """
    if not claims.held(connection, [claim]):
        return None
    key = claim.document_id, claim.recipe_id
    edition_id, is_new = make(connection, key, run_id, pages, chunks, vectors=vectors)
    work = tables.claim
    made = sa.update(work).where(work.c.id == claim.id).values(edition_id=edition_id)
    promotes: bool = connection.execute(made.returning(work.c.promotes)).scalar_one()
    loaded = _show(connection, claim, edition_id, pages, promotes=promotes)
    claims.end_held(connection, [claim])
    return replace(loaded, is_new=is_new)


def make(
    connection: sa.Connection,
    key: tuple[int, int],
    run_id: int | None,
    pages: Sequence[PageToLoad],
    chunks: Sequence[Chunk],
    *,
    vectors: ChunkVectors | None = None,
) -> tuple[int, bool]:
    """An edition of document and recipe (`key`) with these pages, not shown yet: its id, and if it is new."""
    digest = _digest(key[1], pages, vectors)
    known = _find(connection, key[0], digest)
    if known is not None:
        return known, False
    edition_id = _write(connection, key, run_id, digest, pages)
    _write_chunks(connection, edition_id, chunks, vectors)
    return edition_id, True


def vectors_shown(connection: sa.Connection, document_id: int, model: str) -> dict[str, tuple[float, ...]]:
    """Vectors that `model` made of the passages that a document shows, by their text."""
    d, c, v = tables.document, tables.chunk, tables.chunk_vector
    query = (
        sa.select(c.c.text, v.c.embedding)
        .join(d, d.c.edition_id == c.c.edition_id)
        .join(v, v.c.chunk_id == c.c.id)
        .where(d.c.id == document_id, v.c.model == model)
    )
    return {row.text: tuple(map(float, row.embedding)) for row in connection.execute(query)}


def _show(
    connection: sa.Connection, claim: Claim, edition_id: int, pages: Sequence[PageToLoad], *, promotes: bool
) -> Loaded:
    t = tables.document
    query = sa.select(t.c.is_repaired, t.c.edition_id).where(t.c.id == claim.document_id)
    row = connection.execute(query.with_for_update(key_share=True)).one()
    status = status_of(pages, is_repaired=row.is_repaired)
    if not promotes and row.edition_id is not None:
        return Loaded(edition_id, status, is_new=False, is_shown=row.edition_id == edition_id)
    code, message = reason(pages, is_repaired=row.is_repaired)
    # What was shown before is better than nothing, and than what the next run will read to the end.
    stays = status is DocumentStatus.FAILED or _waits(connection, row.edition_id, claim.recipe_id, pages)
    shown: int = (row.edition_id or edition_id) if stays else edition_id
    values = {"edition_id": shown, "status": status.value, "code": code, "message": message}
    connection.execute(sa.update(t).where(t.c.id == claim.document_id).values(values))
    switches.record(connection, claim.document_id, row.edition_id, shown, kind=switches.LOAD, by=claim.owner)
    supersede(connection, claim.document_id)
    return Loaded(shown, status, is_new=False)


def _waits(
    connection: sa.Connection, shown_id: int | None, recipe_id: int, pages: Sequence[PageToLoad]
) -> bool:
    """Whether pages of another recipe than that of what is shown are still to be read by a later run."""
    if not any(page.reading_id is None and page.code in PASSING for page in pages):
        return False
    e = tables.edition
    known = connection.scalar(sa.select(e.c.recipe_id).where(e.c.id == shown_id))
    return known is not None and known != recipe_id


def _page_to_load(row: sa.Row[Any], reasons: dict[int, tuple[str, str]]) -> PageToLoad:
    if row.id is None:
        is_failed = row.status == ClaimStatus.FAILED.value
        verdict = Verdict.BAD if is_failed else Verdict.SKIPPED
        return PageToLoad(row.page_no, verdict, None, (), row.code, row.message)
    return decisions.page_of(row, *reasons.get(row.id, (None, None)))


def _shown_page(row: sa.Row[Any]) -> PageToLoad:
    if row.id is None:
        return PageToLoad(row.page_no, Verdict(row.verdict), None, (), row.code, row.message)
    return decisions.page_of(row, row.code, row.message)


def _reasons(connection: sa.Connection, readings: Sequence[int]) -> dict[int, tuple[str, str]]:
    """The first error of each bad reading."""
    t = tables.finding
    query = (
        sa.select(t.c.reading_id, t.c.code, t.c.message)
        .where(t.c.reading_id.in_(readings), t.c.severity == Severity.ERROR.value)
        .order_by(t.c.id.desc())
    )
    # The first comes last and stays.
    return {row.reading_id: (row.code, row.message) for row in connection.execute(query)}


def _digest(recipe_id: int, pages: Sequence[PageToLoad], vectors: ChunkVectors | None) -> str:
    """Names an edition's content: equal digests show the same. Hex."""
    shown = [(page.page_no, page.reading_id, page.verdict.value, page.code) for page in pages]
    model = None if vectors is None else vectors.model
    facts = [recipe_id, STAGE_VERSION[Stage.LOAD], model, shown]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def _find(connection: sa.Connection, document_id: int, digest: str) -> int | None:
    t = tables.edition
    query = sa.select(t.c.id).where(t.c.document_id == document_id, t.c.digest == digest)
    found: int | None = connection.execute(query).scalar_one_or_none()
    return found


def _write(
    connection: sa.Connection,
    key: tuple[int, int],
    run_id: int | None,
    digest: str,
    pages: Sequence[PageToLoad],
) -> int:
    t = tables.edition
    values = {
        "document_id": key[0],
        "recipe_id": key[1],
        "digest": digest,
        "run_id": run_id,
    }
    edition_id: int = connection.execute(insert(t).values(values).returning(t.c.id)).scalar_one()
    rows = [
        {
            "edition_id": edition_id,
            "page_no": page.page_no,
            "reading_id": page.reading_id,
            "verdict": page.verdict.value,
            "code": page.code,
            "message": page.message,
        }
        for page in pages
    ]
    if rows:
        connection.execute(insert(tables.edition_page), rows)
    return edition_id


def _write_chunks(
    connection: sa.Connection, edition_id: int, chunks: Sequence[Chunk], vectors: ChunkVectors | None
) -> None:
    if not chunks:
        return
    t = tables.chunk
    rows = [_chunk_row(edition_id, chunk) for chunk in chunks]
    written = connection.execute(insert(t).returning(t.c.id, t.c.ordinal), rows)
    if vectors is None or not has_vectors(connection):
        return
    ids = {row.ordinal: row.id for row in written}
    pairs = zip(chunks, vectors.vectors, strict=True)
    rows = [
        {
            "chunk_id": ids[chunk.ordinal],
            "model": vectors.model,
            "dims": len(vector),
            "embedding": list(vector),
        }
        for chunk, vector in pairs
    ]
    connection.execute(insert(tables.chunk_vector), rows)


def _chunk_row(edition_id: int, chunk: Chunk) -> dict[str, Any]:
    words, bigrams = to_tsvectors(searchable(chunk.headings, chunk.text))
    return {
        "edition_id": edition_id,
        "ordinal": chunk.ordinal,
        "kind": chunk.kind,
        "text": chunk.text,
        "headings": list(chunk.headings),
        "pages": list(chunk.pages),
        "boxes": chunk.boxes,
        "fts": words,
        "fts_cjk": bigrams,
    }
