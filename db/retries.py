"""Pages that a person wants to have read again: put into the ledger by themselves, and what came of them."""

from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from db import runs, tables
from db.requeue import FRESH
from models.review import Asked, PageRef
from models.stage import BUSY, ClaimStatus, Stage
from models.verdict import Verdict

c, r = tables.claim, tables.reading

# Somebody waits for it: before all that is scheduled.
_PRIORITY = -1


def put_back(connection: sa.Connection, pages: Collection[PageRef], recipe_id: int, run_id: int) -> None:
    """Have pages read under a recipe, by themselves; what is being worked on is left as it is."""
    fresh = {
        **FRESH,
        "stage": Stage.PREPROCESS.value,
        "priority": _PRIORITY,
        "profile": runs.recipe(connection, recipe_id).profile,
        "run_id": run_id,
    }
    keys = [{"document_id": p.document_id, "page_no": p.page_no, "recipe_id": recipe_id} for p in pages]
    added = insert(c).values([key | fresh for key in keys])
    upsert = added.on_conflict_do_update(
        index_elements=["document_id", "recipe_id", "page_no"], set_=fresh, where=c.c.status.not_in(BUSY)
    )
    connection.execute(upsert)


def is_busy(connection: sa.Connection, asked: Sequence[Asked]) -> bool:
    """Whether one of the pages is still to be read, now or later."""
    query = sa.select(c.c.id).where(_is_one_of(asked), c.c.status.in_(BUSY)).limit(1)
    return connection.execute(query).first() is not None


def failures(connection: sa.Connection, asked: Sequence[Asked]) -> dict[PageRef, tuple[str, str]]:
    """Code and message of those that could not be read."""
    is_failed = c.c.status == ClaimStatus.FAILED.value
    rows = connection.execute(sa.select(c).where(_is_one_of(asked), is_failed))
    return {PageRef(row.document_id, row.page_no): (row.code, row.message or "") for row in rows}


def reading(connection: sa.Connection, asked: Asked) -> tuple[int, Verdict] | None:
    """The present reading of a page under the recipe it was to be read with, unless it was there before."""
    query = sa.select(r.c.id, r.c.verdict).where(_is_of(asked), r.c.superseded_at.is_(None))
    row = connection.execute(query.where(r.c.id > asked.newest_id)).one_or_none()
    return None if row is None else (row.id, Verdict(row.verdict))


def before(connection: sa.Connection, page: PageRef, recipe_id: int) -> tuple[int, int]:
    """The newest and the present reading of a page under a recipe; 0 where there is none."""
    of_page = (r.c.document_id == page.document_id) & (r.c.page_no == page.page_no)
    present = sa.func.max(r.c.id).filter(r.c.superseded_at.is_(None))
    query = sa.select(sa.func.coalesce(sa.func.max(r.c.id), 0), sa.func.coalesce(present, 0))
    newest, current = connection.execute(query.where(of_page, r.c.recipe_id == recipe_id)).one()
    return newest, current


def prefer_older(connection: sa.Connection, asked: Asked, new_id: int) -> None:
    """What was the present reading before is it again, where there was one under the same recipe."""
    if asked.present_id:
        # One after the other: only one may be present.
        connection.execute(sa.update(r).where(r.c.id == new_id).values(superseded_at=sa.func.now()))
        connection.execute(sa.update(r).where(r.c.id == asked.present_id).values(superseded_at=None))


def _is_of(asked: Asked) -> sa.ColumnElement[bool]:
    of_page = (r.c.document_id == asked.page.document_id) & (r.c.page_no == asked.page.page_no)
    return of_page & (r.c.recipe_id == asked.recipe_id)


def _is_one_of(asked: Sequence[Asked]) -> sa.ColumnElement[Any]:
    keys = [(one.page.document_id, one.page.page_no, one.recipe_id) for one in asked]
    return sa.tuple_(c.c.document_id, c.c.page_no, c.c.recipe_id).in_(keys)
