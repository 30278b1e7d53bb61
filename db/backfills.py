"""Backfills in the ledger: begun, gone on with, ended; which documents each one is about."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from db import runs, tables
from db.questions import is_status
from models.backfill import Backfill, Spent, Standing, Wish
from models.document import DocumentStatus
from models.errors import Code, ConfigurationError
from models.reading import ReadingSource
from models.recipe import Recipe
from models.stage import BUSY, ENDED, ClaimStatus
from models.verdict import UNREADABLE

t, member = tables.backfill, tables.backfill_document


def begin(connection: sa.Connection, wish: Wish, recipe: Recipe, run_id: int) -> Backfill:
    """The unfinished backfill of an equal wish, or a new one."""
    found = open_of(connection, wish, recipe)
    if found is not None:
        return found
    recipe_id, digest = runs.recipe_id(connection, recipe), wish.digest(recipe)
    values = {"recipe_id": recipe_id, "run_id": run_id, "digest": digest, "wish": wish}
    is_open = sa.text("ended_at IS NULL")
    added = insert(t).values(values).on_conflict_do_nothing(index_elements=["digest"], index_where=is_open)
    connection.execute(added)
    found = open_of(connection, wish, recipe)
    if found is None:
        raise ConfigurationError("The same backfill has just ended. Start it again.", Code.NOT_FOUND)
    return found


def open_of(connection: sa.Connection, wish: Wish, recipe: Recipe) -> Backfill | None:
    """The unfinished backfill of an equal wish."""
    query = sa.select(t).where(t.c.digest == wish.digest(recipe), t.c.ended_at.is_(None))
    row = connection.execute(query).one_or_none()
    return None if row is None else _backfill(row)


def get(connection: sa.Connection, backfill_id: int | None = None) -> Backfill:
    """A backfill, by default the last one. Raises ConfigurationError (not-found)."""
    query = sa.select(t).order_by(t.c.id.desc()).limit(1)
    row = connection.execute(
        query if backfill_id is None else query.where(t.c.id == backfill_id)
    ).one_or_none()
    if row is None:
        told = "There was no backfill yet." if backfill_id is None else f"There is no backfill {backfill_id}."
        raise ConfigurationError(told, Code.NOT_FOUND)
    return _backfill(row)


def last_of(connection: sa.Connection, wish: Wish, recipe: Recipe) -> Backfill:
    """The last backfill of an equal wish, ended or not. Raises ConfigurationError (not-found)."""
    query = sa.select(t.c.id).where(t.c.digest == wish.digest(recipe))
    return get(connection, connection.scalar(query.order_by(t.c.id.desc()).limit(1)) or 0)


def latest(connection: sa.Connection, most: int) -> tuple[Backfill, ...]:
    """The last `most` backfills, the newest first."""
    rows = connection.execute(sa.select(t).order_by(t.c.id.desc()).limit(most))
    return tuple(map(_backfill, rows))


def stays_open(connection: sa.Connection, backfill_id: int) -> bool:
    """Whether it has not ended; if so it does not end before the transaction does."""
    is_open = sa.select(t.c.id).where(t.c.id == backfill_id, t.c.ended_at.is_(None))
    return connection.execute(is_open.with_for_update(read=True)).first() is not None


def set_enrolled(connection: sa.Connection, backfill_id: int) -> None:
    """The last of its documents is in the ledger."""
    now = sa.func.coalesce(t.c.enrolled_at, sa.func.now())
    connection.execute(sa.update(t).where(t.c.id == backfill_id).values(enrolled_at=now))


def join_run(connection: sa.Connection, backfill_id: int, run_id: int) -> None:
    """Documents that an earlier run put into the ledger are this run's, too."""
    met = tables.run_document
    chosen = sa.select(sa.literal(run_id), member.c.document_id, sa.literal("again"))
    added = insert(met).from_select(
        ["run_id", "document_id", "seen_as"], chosen.where(member.c.backfill_id == backfill_id)
    )
    connection.execute(added.on_conflict_do_nothing())


def is_busy(connection: sa.Connection, backfill_id: int) -> bool:
    """Whether there is work of it in anybody's hands or free to be claimed, now or later."""
    c = tables.claim
    query = (
        sa.select(sa.literal(1))
        .join_from(member, t, t.c.id == member.c.backfill_id)
        .join(c, (c.c.document_id == member.c.document_id) & (c.c.recipe_id == t.c.recipe_id))
        .where(t.c.id == backfill_id, sa.or_(*map(is_status, BUSY)))
    )
    return connection.execute(query.limit(1)).first() is not None


def end(connection: sa.Connection) -> tuple[int, ...]:
    """End backfills that are enrolled and have no work left; says which."""
    enrolled = sa.select(t.c.id).where(t.c.ended_at.is_(None), t.c.enrolled_at.is_not(None))
    ids = [
        backfill_id for backfill_id in connection.scalars(enrolled) if not is_busy(connection, backfill_id)
    ]
    connection.execute(sa.update(t).where(t.c.id.in_(ids)).values(ended_at=sa.func.now()))
    return tuple(ids)


def standing(connection: sa.Connection, backfill_id: int) -> Standing:
    """How far its documents are."""
    c, page, d = tables.claim, tables.edition_page, tables.document
    status = DocumentStatus
    bad = sa.exists().where(page.c.edition_id == c.c.edition_id, page.c.verdict.in_(UNREADABLE))
    has_ended = c.c.status.in_(ENDED)
    is_failed = (c.c.status == ClaimStatus.FAILED) | ((c.c.status == ClaimStatus.DONE) & bad)
    is_beside = (c.c.status == ClaimStatus.DONE) & (c.c.edition_id != d.c.edition_id)
    query = (
        sa.select(
            sa.func.count(),
            sa.func.count().filter(~has_ended),
            sa.func.count().filter(is_failed),
            sa.func.count().filter(is_beside, d.c.status != status.PENDING),
        )
        .join_from(member, t, t.c.id == member.c.backfill_id)
        .join(d, d.c.id == member.c.document_id)
        .join(c, (c.c.document_id == d.c.id) & (c.c.recipe_id == t.c.recipe_id) & (c.c.page_no == 0))
        .where(t.c.id == backfill_id)
    )
    return Standing(*connection.execute(query).one())


def spent(connection: sa.Connection, backfill: Backfill) -> Spent:
    """What was read of its documents under its recipe since it began."""
    r = tables.reading
    mine = sa.select(member.c.document_id).where(member.c.backfill_id == backfill.id)
    query = (
        sa.select(
            sa.func.count(),
            sa.func.coalesce(sa.func.sum(r.c.seconds), 0.0),
            sa.func.coalesce(sa.func.sum(r.c.tokens_in + r.c.tokens_out), 0),
        )
        .where(r.c.recipe_id == backfill.recipe_id, r.c.document_id.in_(mine))
        .where(r.c.source == ReadingSource.OCR.value, r.c.cached_from.is_(None))
        .where(r.c.created_at >= backfill.created_at)
    )
    if backfill.ended_at:
        query = query.where(r.c.created_at <= backfill.ended_at)
    pages, seconds, tokens = connection.execute(query).one()
    return Spent(pages, seconds, int(tokens))


def _backfill(row: sa.Row[Any]) -> Backfill:
    times = row.created_at, row.enrolled_at, row.ended_at
    return Backfill(row.id, row.recipe_id, row.wish, *times, row.cancelled_by)
