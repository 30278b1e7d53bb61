"""Two editions of a document side by side: what was shown when a backfill began, and what it made."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from db import tables
from db.backfill_selection import documents
from db.names import name_of
from models.backfill import Backfill, Selection
from models.compare import PageChange, Pair, Side
from models.stage import ClaimStatus
from models.verdict import Verdict


def pairs(connection: sa.Connection, backfill: Backfill, selection: Selection) -> tuple[Pair, ...]:
    """Documents of a backfill, by id; of an empty selection all of them."""
    member, d, c = tables.backfill_document, tables.document, tables.claim
    # Until it has ended, the edition is that of an earlier time under the same recipe.
    made = sa.case((c.c.status == ClaimStatus.DONE.value, c.c.edition_id))
    is_mine = (c.c.document_id == d.c.id) & (c.c.recipe_id == backfill.recipe_id) & (c.c.page_no == 0)
    query = (
        sa.select(d.c.id, name_of(d.c.id), d.c.edition_id, member.c.before_id, made)
        .join_from(member, d, d.c.id == member.c.document_id)
        .outerjoin(c, is_mine)
        .where(member.c.backfill_id == backfill.id)
    )
    if backfill.cancelled_by:
        query = query.where(made.is_not(None))
    if not selection.is_empty:
        query = query.where(d.c.id.in_(documents(selection)))
    return tuple(Pair(*row) for row in connection.execute(query.order_by(d.c.id)))


def pages(connection: sa.Connection, pair: Pair) -> tuple[PageChange, ...]:
    """Every page of a document, in order, texts only where they differ; nothing before there are two."""
    if pair.made_id is None or pair.before_id is None:
        return ()
    p = tables.page
    (old, old_page), (new, new_page) = _side("old"), _side("new")
    differs = old.c.text.is_distinct_from(new.c.text)
    columns = [
        column
        for reading, page in ((old, old_page), (new, new_page))
        for column in (
            page.c.verdict,
            sa.case((differs, reading.c.text)),
            sa.func.length(reading.c.text),
            reading.c.seconds,
            reading.c.tokens_out,
        )
    ]
    query = (
        sa.select(p.c.page_no, differs, *columns)
        .select_from(p)
        .outerjoin(old_page, (old_page.c.page_no == p.c.page_no) & (old_page.c.edition_id == pair.before_id))
        .outerjoin(old, old.c.id == old_page.c.reading_id)
        .outerjoin(new_page, (new_page.c.page_no == p.c.page_no) & (new_page.c.edition_id == pair.made_id))
        .outerjoin(new, new.c.id == new_page.c.reading_id)
        .where(p.c.document_id == pair.document_id)
        .order_by(p.c.page_no)
    )
    return tuple(_change(row) for row in connection.execute(query))


def _side(name: str) -> tuple[Any, Any]:
    return tables.reading.alias(name), tables.edition_page.alias(f"{name}_page")


def _change(row: sa.Row[*tuple[Any, ...]]) -> PageChange:
    return PageChange(row[0], row[1], _made(row[2:7]), _made(row[7:12]))


def _made(facts: Sequence[Any]) -> Side:
    verdict, text, length, seconds, tokens = facts
    return Side(
        verdict=None if verdict is None else Verdict(verdict),
        text=text or "",
        characters=length or 0,
        seconds=seconds or 0.0,
        tokens=tokens or 0,
    )
