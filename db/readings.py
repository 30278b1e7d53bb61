"""Readings: kept with their findings, never overwritten, found again by picture and recipe."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, insert

from db import claims, runs, tables
from db.tables.base import same_page
from models.claim import Claim
from models.reading import FinishReason, Reading, ReadingSource
from models.verdict import Finding, Severity, Verdict
from models.work import CachedReading, PageResult, PageToLoad

t = tables.reading

_SAME = (
    "text",
    "blocks",
    "engine",
    "seconds",
    "tokens_in",
    "tokens_out",
    "confidence",
    "attempts",
    "layer_agreement",
    "raw",
    "notes",
    "queue_s",
    "server",
    "trial",
)
"""Fields that are columns as they are."""


def save(connection: sa.Connection, results: Sequence[PageResult]) -> frozenset[int]:
    """Keep readings with their findings and end their pages; says which claims were still ours.

    A document whose last page this was becomes ready to load. An earlier reading of the page under the same
    recipe is superseded; it stays in the database for the editions that show it.
    """
    ours = claims.held(connection, [result.claim for result in results])
    kept = sorted((r for r in results if r.claim.id in ours), key=lambda result: result.claim.id)
    if kept:
        _supersede(connection, kept)
        added = insert(t).returning(t.c.id, t.c.document_id, t.c.page_no, t.c.recipe_id)
        new = connection.execute(added, [_row(result) for result in kept])
        ids = {(row.document_id, row.page_no, row.recipe_id): row.id for row in new}
        _save_findings(connection, kept, ids)
    claims.end_held(connection, [result.claim for result in kept])
    return ours


def add(
    connection: sa.Connection,
    page: tuple[int, int],
    recipe_id: int,
    reading: Reading,
    verdict: Verdict,
    *,
    image_sha256: str | None = None,
) -> int:
    """Keep a reading that nobody had claimed, of page (document, number); its id.

    For answers to questions and for what people write. An earlier one under the same recipe is superseded.
    """
    key = (t.c.document_id == page[0]) & (t.c.page_no == page[1]) & (t.c.recipe_id == recipe_id)
    old = sa.update(t).where(key, t.c.superseded_at.is_(None))
    connection.execute(old.values(superseded_at=sa.func.now()))
    values = _columns(reading) | {
        "document_id": page[0],
        "page_no": page[1],
        "recipe_id": recipe_id,
        "verdict": verdict.value,
        "image_sha256": image_sha256,
    }
    new: int = connection.execute(sa.insert(t).values(values).returning(t.c.id)).scalar_one()
    return new


def cached(connection: sa.Connection, leased: Sequence[Claim]) -> dict[int, CachedReading]:
    """Readings by claim id that an OCR engine gave for the same picture under the same recipe.

    None for a page whose own reading a backfill asks for again, and none that was bad: it is worth a try.
    """
    image = tables.page_image
    found: dict[int, CachedReading] = {}
    for recipe_id in sorted({claim.recipe_id for claim in leased}):
        key = runs.recipe(connection, recipe_id).preprocess_key
        pages = {(c.document_id, c.page_no): c.id for c in leased if c.recipe_id == recipe_id}
        query = (
            sa.select(image.c.document_id.label("for_document"), image.c.page_no.label("for_page"), t)
            .join(t, (t.c.image_sha256 == image.c.sha256) & (t.c.recipe_id == recipe_id))
            .where(
                sa.tuple_(image.c.document_id, image.c.page_no).in_(pages),
                image.c.preprocess_key == key,
                t.c.source == ReadingSource.OCR.value,
                t.c.verdict != Verdict.BAD.value,
                t.c.superseded_at.is_(None),
                ~_has_own(image, recipe_id),
            )
            .order_by(t.c.id.desc())
        )
        for row in connection.execute(query):
            found[pages[row.for_document, row.for_page]] = CachedReading(row.id, _reading(row))
    return found


def own(connection: sa.Connection, leased: Sequence[Claim]) -> dict[int, CachedReading]:
    """The present reading of each claimed page under its recipe, by claim id."""
    claim = tables.claim
    query = (
        sa.select(claim.c.id.label("claim_id"), t)
        .join(t, same_page(t, claim) & (t.c.recipe_id == claim.c.recipe_id) & t.c.superseded_at.is_(None))
        .where(claim.c.id.in_([one.id for one in leased]))
    )
    return {row.claim_id: CachedReading(row.id, _reading(row)) for row in connection.execute(query)}


def _has_own(image: sa.Table, recipe_id: int) -> sa.ColumnElement[bool]:
    own = t.alias("own")
    return sa.exists().where(
        same_page(own, image), own.c.recipe_id == recipe_id, own.c.superseded_at.is_(None)
    )


def findings_of(
    connection: sa.Connection, reading_ids: Iterable[int | None]
) -> dict[int, tuple[Finding, ...]]:
    """Findings by reading id, in the order the checks gave them."""
    f = tables.finding
    # One array: documents may have more pages than a statement has parameters.
    ids = sa.literal([one for one in reading_ids if one is not None], ARRAY(sa.BigInteger))
    query = sa.select(f).where(f.c.reading_id == sa.any_(ids)).order_by(f.c.id)
    found: dict[int, list[Finding]] = {}
    for row in connection.execute(query):
        finding = Finding(row.code, Severity(row.severity), row.message, row.evidence)
        found.setdefault(row.reading_id, []).append(finding)
    return {reading_id: tuple(findings) for reading_id, findings in found.items()}


def judge(
    connection: sa.Connection,
    document_id: int,
    judged: Iterable[tuple[PageToLoad, Sequence[Finding]]],
    codes: Collection[str],
) -> None:
    """Give read pages their verdicts as they are here, and these findings instead of those of `codes`."""
    pages = [(page, findings) for page, findings in judged if page.reading_id is not None]
    f = tables.finding
    ids = [page.reading_id for page, _ in pages]
    connection.execute(sa.delete(f).where(f.c.reading_id.in_(ids), f.c.code.in_(codes)))
    rows = [
        _finding_row((document_id, page.page_no), page.reading_id, finding)
        for page, findings in pages
        for finding in findings
    ]
    if rows:
        connection.execute(sa.insert(f), rows)
    for word in {page.verdict for page, _ in pages}:
        same = [page.reading_id for page, _ in pages if page.verdict is word]
        connection.execute(sa.update(t).where(t.c.id.in_(same)).values(verdict=word.value))


def _supersede(connection: sa.Connection, results: Iterable[PageResult]) -> None:
    page = sa.tuple_(t.c.document_id, t.c.page_no, t.c.recipe_id)
    old = page.in_([_key(result.claim) for result in results]) & t.c.superseded_at.is_(None)
    connection.execute(sa.update(t).where(old).values(superseded_at=sa.func.now()))


def _save_findings(
    connection: sa.Connection, results: Iterable[PageResult], ids: dict[tuple[int, int, int], int]
) -> None:
    rows = [
        _finding_row(_key(result.claim)[:2], ids[_key(result.claim)], finding)
        for result in results
        if _key(result.claim) in ids
        for finding in result.findings
    ]
    if rows:
        connection.execute(sa.insert(tables.finding), rows)


def _finding_row(page: tuple[int, int], reading_id: int | None, finding: Finding) -> dict[str, Any]:
    return {
        "document_id": page[0],
        "page_no": page[1],
        "reading_id": reading_id,
        "code": finding.code,
        "severity": finding.severity.value,
        "message": finding.message,
        "evidence": finding.evidence,
    }


def _key(claim: Claim) -> tuple[int, int, int]:
    return claim.document_id, claim.page_no, claim.recipe_id


def _row(result: PageResult) -> dict[str, Any]:
    return _columns(result.reading) | {
        "document_id": result.claim.document_id,
        "page_no": result.claim.page_no,
        "recipe_id": result.claim.recipe_id,
        "verdict": result.verdict.value,
        "image_sha256": result.image_sha256,
        "cached_from": result.cached_from,
    }


def _columns(reading: Reading) -> dict[str, Any]:
    return {name: getattr(reading, name) for name in _SAME} | {
        "source": reading.source.value,
        "finish_reason": reading.finish_reason.value,
    }


def _reading(row: sa.Row[Any]) -> Reading:
    return Reading(
        **{name: getattr(row, name) for name in _SAME},
        source=ReadingSource(row.source),
        finish_reason=FinishReason(row.finish_reason),
    )
