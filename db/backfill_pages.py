"""Which pages a backfill reads again, where they have a claim under its recipe already."""

from typing import Any

import sqlalchemy as sa

from db import tables
from db.tables.base import same_page
from models.backfill import FromStage, Wish
from models.stage import ENDED, ClaimStatus
from models.verdict import Verdict

c, r = tables.claim, tables.reading
whole = tables.claim.alias("whole")
"""The document's own claim."""

_READS = (FromStage.SPLIT, FromStage.PREPROCESS, FromStage.OCR)


def ended_pages(recipe_id: int, *columns: sa.ColumnElement[Any]) -> sa.Select[*tuple[Any, ...]]:
    """Pages with a claim under the recipe, with their present reading, of documents that have ended."""
    is_whole = (whole.c.document_id == c.c.document_id) & (whole.c.recipe_id == c.c.recipe_id)
    return (
        sa.select(*columns)
        .select_from(c)
        .join(whole, is_whole & (whole.c.page_no == 0))
        .outerjoin(r, same_page(r, c) & (r.c.recipe_id == recipe_id) & r.c.superseded_at.is_(None))
        .where(c.c.recipe_id == recipe_id, c.c.page_no > 0)
        .where(c.c.status.in_(ENDED), whole.c.status.in_(ENDED))
    )


def is_gap() -> sa.ColumnElement[bool]:
    """The page could not be read: whatever comes now replaces nothing."""
    is_failed = c.c.status == ClaimStatus.FAILED.value
    return sa.func.coalesce(is_failed | (r.c.verdict == Verdict.BAD.value), sa.false())


def is_wanted(wish: Wish) -> sa.ColumnElement[bool]:
    """Whether the backfill takes up the page again."""
    if wish.start is FromStage.VALIDATE:
        return _can_be_judged()
    if wish.start not in _READS:
        return sa.false()
    if wish.again:
        return sa.true()
    return sa.or_(is_gap(), *_asked_for(wish))


def _asked_for(wish: Wish) -> list[sa.ColumnElement[bool]]:
    """Pages with the very verdicts or findings that the documents were selected by."""
    asked: list[sa.ColumnElement[bool]] = []
    finding = tables.finding
    if wish.selection.verdicts:
        asked.append(sa.func.coalesce(r.c.verdict.in_(wish.selection.verdicts), sa.false()))
    if wish.selection.findings:
        codes = finding.c.code.in_(wish.selection.findings)
        asked.append(sa.exists().where(finding.c.reading_id == r.c.id, codes))
    return asked


def _can_be_judged() -> sa.ColumnElement[bool]:
    """Read, not blank, and of a picture whose facts are still known."""
    image = tables.page_image
    pictured = sa.exists().where(
        same_page(image, c),
        image.c.sha256 == r.c.image_sha256,
    )
    return sa.func.coalesce(r.c.verdict != Verdict.BLANK.value, sa.false()) & pictured
