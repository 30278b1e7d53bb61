"""Put documents of a backfill into the ledger: behind all scheduled work, each exactly once."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from db import backfill_pages, intake, runs, tables
from db.backfill_selection import documents
from db.requeue import FRESH
from models.backfill import BACKFILL_PRIORITY, Backfill, FromStage, Wish
from models.document import DocumentStatus
from models.intake import Registered
from models.stage import ENDED, ClaimStatus, Stage

c, d, member = tables.claim, tables.document, tables.backfill_document

PURGE_LOCK = 0x70_6D_62_66
"""Advisory lock: no picture is purged while documents are being put back."""

_LOST = (DocumentStatus.FAILED, DocumentStatus.REJECTED)
_FRESH = {**FRESH, "priority": BACKFILL_PRIORITY}
_CLAIM = (
    "document_id",
    "recipe_id",
    "page_no",
    "stage",
    "status",
    "priority",
    "profile",
    "run_id",
    "promotes",
)


def candidates(connection: sa.Connection, backfill: Backfill, after: int, limit: int) -> list[int]:
    """Selected documents with ids above `after` that are not in the ledger for this backfill yet."""
    enrolled = sa.exists().where(member.c.backfill_id == backfill.id, member.c.document_id == d.c.id)
    query = documents(backfill.wish.selection).where(d.c.id > after, ~enrolled)
    if backfill.wish.start in {FromStage.VALIDATE, FromStage.LOAD}:
        query = query.where(was_read(backfill.recipe_id))
    return list(connection.scalars(query.order_by(d.c.id).limit(limit)))


def was_read(recipe_id: int) -> sa.ColumnElement[bool]:
    """The document has come to its end under the recipe: there is something to judge or load anew."""
    mine = tables.claim.alias("mine")
    is_mine = (mine.c.document_id == d.c.id) & (mine.c.recipe_id == recipe_id) & (mine.c.page_no == 0)
    return sa.exists().where(is_mine, mine.c.stage == Stage.LOAD.value, mine.c.status.in_(ENDED))


def enrol(connection: sa.Connection, backfill: Backfill, run_id: int, ids: Sequence[int]) -> int:
    """Make work of documents that are not in this backfill yet; says how many pages are read again.

    Work that somebody else has asked for and that has not ended is left as it is.
    """
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock_shared(PURGE_LOCK)))
    wish = backfill.wish
    joined = _join(connection, backfill.id, ids)
    if wish.start is FromStage.SPLIT:
        _forget_split(connection, joined)
    new = _make_claims(connection, backfill, run_id, joined)
    pages = _put_pages_back(connection, backfill, run_id, joined)
    busy = new | _put_documents_back(connection, backfill, run_id, joined, pages)
    if wish.start is FromStage.PREPROCESS:
        _forget_pictures(connection, backfill.recipe_id, new, pages)
    _count(connection, backfill.id, pages)
    met = Registered(known=tuple(sorted(joined - busy)), again=tuple(sorted(busy)))
    intake.remember(connection, run_id, met)
    lost = sa.select(d.c.id).where(d.c.id.in_(busy), _shows_nothing())
    intake.mark_pending(connection, set(connection.scalars(lost)))
    return len(pages)


def _join(connection: sa.Connection, backfill_id: int, ids: Sequence[int]) -> set[int]:
    shown = sa.select(sa.literal(backfill_id), d.c.id, d.c.edition_id, sa.literal(0))
    added = insert(member).from_select(
        ["backfill_id", "document_id", "before_id", "pages"], shown.where(d.c.id.in_(ids)).order_by(d.c.id)
    )
    return set(connection.scalars(added.on_conflict_do_nothing().returning(member.c.document_id)))


def _make_claims(
    connection: sa.Connection, backfill: Backfill, run_id: int, ids: Collection[int]
) -> set[int]:
    """A claim for each document that has none under this recipe; says for which."""
    wish, recipe_id = backfill.wish, backfill.recipe_id
    wanted = (
        sa.select(
            d.c.id,
            sa.literal(recipe_id),
            sa.literal(0),
            sa.literal(Stage.SPLIT.value),
            sa.literal(ClaimStatus.READY.value),
            sa.literal(BACKFILL_PRIORITY),
            sa.literal(wish.profile),
            sa.literal(run_id),
            sa.literal(wish.promote) | _shows_nothing(),
        )
        .where(d.c.id.in_(ids))
        .order_by(d.c.id)
    )
    added = insert(c).from_select(list(_CLAIM), wanted).on_conflict_do_nothing()
    return set(connection.scalars(added.returning(c.c.document_id)))


def _put_pages_back(
    connection: sa.Connection, backfill: Backfill, run_id: int, ids: Collection[int]
) -> Sequence[sa.Row[Any]]:
    """Claims (id, document_id, page_no, is_gap) of pages that are taken up again."""
    wish, recipe_id = backfill.wish, backfill.recipe_id
    columns = [c.c.id, c.c.document_id, c.c.page_no, backfill_pages.is_gap().label("is_gap")]
    query = backfill_pages.ended_pages(recipe_id, *columns)
    query = query.where(c.c.document_id.in_(ids), backfill_pages.is_wanted(wish)).order_by(c.c.id)
    pages = connection.execute(query.with_for_update(of=c)).all()
    # Always by way of preprocess, which takes what is kept and makes again what was purged.
    stage = Stage.VALIDATE if wish.start is FromStage.VALIDATE else Stage.PREPROCESS
    values = _FRESH | {"stage": stage.value, "run_id": run_id}
    connection.execute(sa.update(c).where(c.c.id.in_([page.id for page in pages])).values(values))
    return pages


def _put_documents_back(
    connection: sa.Connection,
    backfill: Backfill,
    run_id: int,
    ids: Collection[int],
    pages: Sequence[sa.Row[Any]],
) -> set[int]:
    """Documents that had ended under the recipe and have work again; says which."""
    wish, recipe_id = backfill.wish, backfill.recipe_id
    with_pages = {page.document_id for page in pages}
    replacing = {page.document_id for page in pages if not page.is_gap or wish.start is FromStage.VALIDATE}
    query = (
        sa.select(c.c.id, c.c.document_id, c.c.stage, c.c.status, _fits(wish, recipe_id).label("fills"))
        .add_columns((c.c.edition_id != d.c.edition_id).is_(True).label("is_beside"))
        .join(d, d.c.id == c.c.document_id)
        .where(c.c.recipe_id == recipe_id, c.c.page_no == 0, c.c.document_id.in_(ids), c.c.status.in_(ENDED))
    )
    again: set[int] = set()
    for row in connection.execute(query.order_by(c.c.id).with_for_update(of=c)).all():
        place = _place(wish, row, has_pages=row.document_id in with_pages)
        if place is not None:
            promotes = wish.promote or (row.fills and row.document_id not in replacing)
            values = _FRESH | place | {"promotes": promotes, "run_id": run_id}
            connection.execute(sa.update(c).where(c.c.id == row.id).values(values))
            again.add(row.document_id)
    return again


def _place(wish: Wish, row: sa.Row[Any], *, has_pages: bool) -> dict[str, object] | None:
    """Where a document that has ended goes on; None where nothing is to be done."""
    is_failed = row.status == ClaimStatus.FAILED.value
    never_split = is_failed and row.stage == Stage.SPLIT.value
    if wish.start is FromStage.SPLIT or never_split:
        return {"stage": Stage.SPLIT.value}
    if has_pages:
        return {"stage": Stage.SPLIT.value, "status": ClaimStatus.WAITING.value}
    if wish.start is FromStage.LOAD or is_failed or (wish.promote and row.is_beside):
        return {"stage": Stage.LOAD.value}
    return None


def _shows_nothing() -> sa.ColumnElement[bool]:
    return d.c.edition_id.is_(None) | d.c.status.in_(_LOST)


def _fits(wish: Wish, recipe_id: int) -> sa.ColumnElement[bool]:
    """What only fills gaps of what is shown is shown at once: it replaces nothing."""
    edition = tables.edition
    is_same = sa.exists().where(edition.c.id == d.c.edition_id, edition.c.recipe_id == recipe_id)
    return _shows_nothing() | (sa.literal(wish.start is not FromStage.LOAD) & is_same)


def _forget_split(connection: sa.Connection, ids: Collection[int]) -> None:
    page = tables.page
    connection.execute(sa.update(page).where(page.c.document_id.in_(ids)).values(split_version=0))
    connection.execute(sa.update(d).where(d.c.id.in_(ids)).values(split_version=None))


def _forget_pictures(
    connection: sa.Connection, recipe_id: int, new: Collection[int], pages: Sequence[sa.Row[Any]]
) -> None:
    """So that they are made anew, but for pages that others are at work on."""
    image, other = tables.page_image, tables.claim.alias("other")
    keys = [(page.document_id, page.page_no) for page in pages]
    at_work = sa.exists().where(
        other.c.document_id == image.c.document_id,
        other.c.page_no == image.c.page_no,
        other.c.recipe_id != recipe_id,
        other.c.status.not_in(ENDED),
    )
    is_meant = image.c.document_id.in_(new) | sa.tuple_(image.c.document_id, image.c.page_no).in_(keys)
    is_kind = image.c.preprocess_key == runs.recipe(connection, recipe_id).preprocess_key
    connection.execute(sa.delete(image).where(is_meant, is_kind, ~at_work))


def _count(connection: sa.Connection, backfill_id: int, pages: Sequence[sa.Row[Any]]) -> None:
    """How many pages of each document are read again."""
    for document_id, number in Counter(page.document_id for page in pages).items():
        mine = (member.c.backfill_id == backfill_id) & (member.c.document_id == document_id)
        connection.execute(sa.update(member).where(mine).values(pages=number))
