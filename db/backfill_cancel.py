"""A backfill that is cancelled: what has not been done of it is taken out of the ledger again.

Nothing that was read is lost, and nobody is told "failed" who was not before: documents that had come to
their end under its recipe stand as they did, the others as if they had never been asked for.
"""

from collections.abc import Collection, Sequence

import sqlalchemy as sa

from db import backfills, tables
from models.backfill import BACKFILL_PRIORITY, Backfill
from models.document import DocumentStatus
from models.errors import Code, ConfigurationError
from models.stage import ENDED, ClaimStatus, Stage

t, member, c, d = tables.backfill, tables.backfill_document, tables.claim, tables.document

_FREE = {"owner": None, "leased_at": None, "leased_until": None, "ended_at": sa.func.now()}


def close(connection: sa.Connection, backfill_id: int | None, by: str) -> Backfill:
    """Put no more documents of a backfill into the ledger, by default of the last one.

    Closing it twice changes nothing. Raises ConfigurationError (not-found) for one that is not there or has
    come to its own end.
    """
    found = backfills.get(connection, backfill_id)
    connection.execute(sa.select(t.c.id).where(t.c.id == found.id).with_for_update())
    found = backfills.get(connection, found.id)
    if found.ended_at and not found.cancelled_by:
        told = (
            f"Backfill {found.id} has ended; there is nothing to cancel. 'pagemill backfill list' shows all."
        )
        raise ConfigurationError(told, Code.NOT_FOUND)
    if not found.ended_at:
        values = {"ended_at": sa.func.now(), "cancelled_by": by}
        connection.execute(sa.update(t).where(t.c.id == found.id).values(values))
    return backfills.get(connection, found.id)


def unfinished(connection: sa.Connection, backfill: Backfill, limit: int) -> Sequence[int]:
    """Documents with work that this backfill alone has asked for.

    Work that a scan has met since is more urgent than a backfill's, and stays.
    """
    mine = (c.c.document_id == member.c.document_id) & (c.c.recipe_id == backfill.recipe_id)
    also, other = member.alias("also"), t.alias("other")
    is_shared = sa.exists().where(
        also.c.document_id == member.c.document_id,
        also.c.backfill_id == other.c.id,
        other.c.id != backfill.id,
        other.c.recipe_id == backfill.recipe_id,
        other.c.ended_at.is_(None),
    )
    query = (
        sa.select(member.c.document_id)
        .join(c, mine & (c.c.page_no == 0))
        .where(member.c.backfill_id == backfill.id, ~is_shared)
        .where(c.c.status.not_in(ENDED), c.c.priority == BACKFILL_PRIORITY)
    )
    return connection.scalars(query.order_by(member.c.document_id).limit(limit)).all()


def take_back(connection: sa.Connection, backfill: Backfill, ids: Collection[int]) -> None:
    """Take what is unfinished of these documents out of the ledger, whoever holds it."""
    mine = _work_on(backfill, ids)
    # In the order in which all take their locks: pages before documents.
    for part in (c.c.page_no > 0, c.c.page_no == 0):
        locked = sa.select(c.c.id).where(mine, part, c.c.status.not_in(ENDED))
        connection.execute(locked.order_by(c.c.id).with_for_update())
    loaded = mine & (c.c.page_no == 0) & c.c.edition_id.is_not(None)
    known = set(connection.scalars(sa.select(c.c.document_id).where(loaded)))
    # Pages that were read keep their work and their reading, should somebody ask for the same again.
    new = mine & c.c.document_id.not_in(known) & (c.c.status != ClaimStatus.DONE.value)
    connection.execute(sa.delete(c).where(new))
    _put_as_before(connection, backfill, known)
    _tell_lost(connection, backfill, ids)


def _work_on(backfill: Backfill, ids: Collection[int]) -> sa.ColumnElement[bool]:
    """Of a backfill: of pages that a person wants read again at once, the priority is another."""
    is_behind = c.c.priority == BACKFILL_PRIORITY
    return c.c.document_id.in_(ids) & (c.c.recipe_id == backfill.recipe_id) & is_behind


def _put_as_before(connection: sa.Connection, backfill: Backfill, ids: Collection[int]) -> None:
    """Documents that were loaded under the recipe: pages are read or failed as their last edition says."""
    r, page, whole = tables.reading, tables.edition_page, c.alias("whole")
    mine = _work_on(backfill, ids) & c.c.status.not_in(ENDED)
    is_read = sa.exists().where(
        r.c.document_id == c.c.document_id,
        r.c.page_no == c.c.page_no,
        r.c.recipe_id == c.c.recipe_id,
        r.c.superseded_at.is_(None),
    )
    why = (
        sa.select(page.c.code, page.c.message)
        .join(whole, whole.c.edition_id == page.c.edition_id)
        .where(whole.c.document_id == c.c.document_id, whole.c.recipe_id == c.c.recipe_id)
        .where(whole.c.page_no == 0, page.c.page_no == c.c.page_no)
    )
    code, message = (
        why.with_only_columns(column).scalar_subquery() for column in (page.c.code, page.c.message)
    )
    ended = {
        "status": sa.case((is_read, ClaimStatus.DONE.value), else_=ClaimStatus.FAILED.value),
        "code": sa.case((~is_read, sa.func.coalesce(code, Code.CANCELLED.value))),
        "message": sa.case((~is_read, message)),
    }
    connection.execute(sa.update(c).where(mine, c.c.page_no > 0).values(_FREE | ended))
    shown = sa.select(d.c.edition_id).where(d.c.id == c.c.document_id).scalar_subquery()
    loaded = {
        "stage": Stage.LOAD.value,
        "status": ClaimStatus.DONE.value,
        "promotes": (c.c.edition_id == shown).is_(True),
    }
    connection.execute(sa.update(c).where(mine, c.c.page_no == 0).values(_FREE | loaded))


def _tell_lost(connection: sa.Connection, backfill: Backfill, ids: Collection[int]) -> None:
    """Documents that had been given up before, and that nobody works on now, are given up again."""
    is_worked_on = sa.exists().where(c.c.document_id == d.c.id, c.c.status.not_in(ENDED))
    lost = d.c.id.in_(ids) & (d.c.status == DocumentStatus.PENDING.value) & ~is_worked_on
    values = {
        "status": DocumentStatus.FAILED.value,
        "code": Code.CANCELLED.value,
        "message": f"Backfill {backfill.id} was to read it again, and was cancelled before it did.",
    }
    connection.execute(sa.update(d).where(lost).values(values))
