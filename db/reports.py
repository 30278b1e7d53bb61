"""What people see of a document: its pages under a recipe, and its editions."""

from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from db import decisions, readings, runs, tables
from db.tables.base import same_page
from models.reading import ReadingSource
from models.report import Edition, PageReport
from models.stage import ClaimStatus
from models.verdict import Severity, Verdict

r = tables.reading

_SAME = (
    *("text", "blocks", "engine", "seconds", "tokens_out", "confidence", "layer_agreement", "cached_from"),
    "trial",
)

_IMAGE = ("sha256", "suffix", "width_px", "height_px", "reason")


def recipe_of(connection: sa.Connection, document_id: int) -> int | None:
    """The recipe of the edition that is shown, else the last one asked for; None before any."""
    shown, t = tables.edition, tables.claim
    of_edition = (
        sa.select(shown.c.recipe_id).join(tables.document, tables.document.c.edition_id == shown.c.id)
    ).where(tables.document.c.id == document_id)
    asked = sa.select(t.c.recipe_id).where(t.c.document_id == document_id, t.c.page_no == 0)
    found: int | None = connection.execute(of_edition).scalar_one_or_none()
    return found or connection.execute(asked.order_by(t.c.id.desc()).limit(1)).scalar_one_or_none()


def pages(
    connection: sa.Connection, document_id: int, recipe_id: int | None = None
) -> tuple[PageReport, ...]:
    """Every page of a document in order, read or not, under the recipe or the one of `recipe_of`.

    Of the recipe that is shown, as it is shown: what a backfill reads meanwhile is not in it.
    """
    recipe_id = recipe_id or recipe_of(connection, document_id)
    if recipe_id is None:
        return ()
    e, d = tables.edition, tables.document
    shown = sa.select(e.c.id).join(d, d.c.edition_id == e.c.id)
    edition_id = connection.scalar(shown.where(d.c.id == document_id, e.c.recipe_id == recipe_id))
    rows = connection.execute(_query(connection, document_id, recipe_id, edition_id)).all()
    findings = readings.findings_of(connection, [row.reading_id for row in rows if row.reading_id])
    actions = decisions.of_document(connection, document_id)
    return tuple(
        replace(
            _report(row, findings.get(row.reading_id, ())),
            reviews=tuple(action for action in actions if action.page_no == row.page_no),
        )
        for row in rows
    )


def editions(connection: sa.Connection, document_id: int) -> tuple[Edition, ...]:
    """All editions of a document, the oldest first."""
    t, recipe, document = tables.edition, tables.recipe, tables.document
    query = (
        sa.select(
            t.c.id,
            t.c.document_id,
            t.c.recipe_id,
            recipe.c.profile,
            t.c.created_at,
            (document.c.edition_id == t.c.id).is_(True).label("is_shown"),
        )
        .join_from(t, recipe, recipe.c.id == t.c.recipe_id)
        .join(document, document.c.id == t.c.document_id)
        .where(t.c.document_id == document_id)
        .order_by(t.c.id)
    )
    return tuple(Edition(**row._asdict()) for row in connection.execute(query))


def _query(
    connection: sa.Connection, document_id: int, recipe_id: int, edition_id: int | None
) -> sa.Select[*tuple[Any, ...]]:
    p, image = tables.page, tables.page_image
    key = runs.recipe(connection, recipe_id).preprocess_key
    pages, reasons = _shown(edition_id) if edition_id else _asked_for(recipe_id)
    return (
        sa.select(
            p.c.page_no,
            p.c.width_pt,
            p.c.height_pt,
            p.c.rotation,
            r.c.id.label("reading_id"),
            r.c.source,
            *(r.c[name] for name in _SAME),
            *reasons,
            *(image.c[name].label(f"image_{name}") for name in _IMAGE),
            image.c.tokens_saved,
        )
        .select_from(pages.outerjoin(image, same_page(p, image) & (image.c.preprocess_key == key)))
        .where(p.c.document_id == document_id)
        .order_by(p.c.page_no)
    )


def _asked_for(recipe_id: int) -> tuple[sa.Join, list[sa.ColumnElement[Any]]]:
    """Pages with their present readings under a recipe, and what their work came to."""
    p, t = tables.page, tables.claim
    is_read = same_page(p, r) & (r.c.recipe_id == recipe_id) & r.c.superseded_at.is_(None)
    pages = p.outerjoin(r, is_read).outerjoin(t, same_page(p, t) & (t.c.recipe_id == recipe_id))
    return pages, [r.c.verdict, t.c.status, t.c.code, t.c.message]


def _shown(edition_id: int) -> tuple[sa.Join, list[sa.ColumnElement[Any]]]:
    """Pages with the readings that an edition shows, and why it shows none."""
    p, e = tables.page, tables.edition_page
    is_shown = (e.c.edition_id == edition_id) & (e.c.page_no == p.c.page_no)
    failed = sa.case((e.c.verdict == Verdict.BAD.value, ClaimStatus.FAILED.value)).label("status")
    pages = p.outerjoin(e, is_shown).outerjoin(r, r.c.id == e.c.reading_id)
    return pages, [e.c.verdict, failed, e.c.code, e.c.message]


def _report(row: sa.Row[Any], findings: tuple[Any, ...]) -> PageReport:
    facts = {name: getattr(row, name) for name in ("page_no", "width_pt", "height_pt", "rotation")}
    names = (*(f"image_{name}" for name in _IMAGE), "tokens_saved")
    image = {} if row.image_sha256 is None else {name: getattr(row, name) for name in names}
    if row.reading_id is None:
        verdict = Verdict.BAD if row.status == ClaimStatus.FAILED.value else None
        return PageReport(**facts, **image, verdict=verdict, code=row.code, message=row.message)
    is_bad = row.verdict == Verdict.BAD.value
    error = next((one for one in findings if is_bad and one.severity is Severity.ERROR), None)
    return PageReport(
        **facts,
        **image,
        **{name: getattr(row, name) for name in _SAME},
        verdict=Verdict(row.verdict),
        code=error.code if error else None,
        message=error.message if error else None,
        reading_id=row.reading_id,
        source=ReadingSource(row.source),
        findings=findings,
    )
