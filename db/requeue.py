"""Known documents that have work to do again."""

from collections.abc import Collection, Mapping

import sqlalchemy as sa

from db.tables import claim as t
from db.tables import document
from models.errors import PASSING, Code
from models.stage import UNFINISHED, ClaimStatus, Stage

FRESH: Mapping[str, object] = {
    "status": ClaimStatus.READY.value,
    "attempt": 0,
    "crashes": 0,
    "code": None,
    "message": None,
    "ended_at": None,
    "ready_at": sa.func.now(),
    "not_before": sa.func.now(),
}
"""What work is like that begins anew."""
_SCHEDULED = 0
"""As urgent as whatever a scan finds; a backfill's work comes behind it."""


def put_back(
    connection: sa.Connection,
    recipe_id: int,
    documents: Collection[int],
    moved: Collection[int],
    *,
    has_passwords: bool,
) -> set[int]:
    """Make work of known documents again where there is a reason; says which documents have some.

    Reasons: a failure with a passing code, of the document or of pages; a password is there now; the
    document is not shown, or stands under a name that another one still holds (`moved`): load decides.
    It is as urgent as a scan's, whatever it was that failed: a backfill's work is now this run's.
    """
    of_documents = (t.c.recipe_id == recipe_id) & t.c.document_id.in_(documents)
    codes = PASSING | ({Code.NEEDS_PASSWORD} if has_passwords else set())
    fresh = {**FRESH, "priority": sa.func.least(t.c.priority, _SCHEDULED)}
    with_pages = _put_pages_back(connection, of_documents, fresh)
    failed = of_documents & (t.c.page_no == 0) & _is(ClaimStatus.FAILED) & t.c.code.in_(codes)
    again = with_pages | _change(connection, failed, fresh)
    hidden = sa.select(document.c.id).where(document.c.id.in_(documents), document.c.edition_id.is_(None))
    stale = t.c.document_id.in_(moved) | t.c.document_id.in_(hidden)
    loaded = of_documents & (t.c.page_no == 0) & _is(ClaimStatus.DONE) & stale
    return again | _change(connection, loaded, fresh | {"stage": Stage.LOAD.value})


def hasten(
    connection: sa.Connection,
    recipe_id: int,
    documents: Collection[int],
    *,
    only_hidden: bool = False,
) -> None:
    """Make unfinished work of documents, a backfill's for instance, at least as urgent as a scan's.

    `only_hidden`: only of documents that show nothing yet. A schedule meets the others at every scan without
    waiting for them, and would take a backfill's work for its own.
    """
    which = (t.c.recipe_id == recipe_id) & t.c.document_id.in_(documents)
    which &= t.c.status.in_(UNFINISHED) & (t.c.priority > _SCHEDULED)
    if only_hidden:
        hidden = sa.select(document.c.id).where(document.c.id.in_(documents), document.c.edition_id.is_(None))
        which &= t.c.document_id.in_(hidden)
    _change(connection, which, {"priority": _SCHEDULED})


def _put_pages_back(
    connection: sa.Connection, of_documents: sa.ColumnElement[bool], fresh: Mapping[str, object]
) -> set[int]:
    """Failed pages are tried again, and their documents, all else done, wait for them."""
    whole = t.alias("whole")
    loaded = sa.exists().where(
        whole.c.document_id == t.c.document_id,
        whole.c.recipe_id == t.c.recipe_id,
        whole.c.page_no == 0,
        whole.c.status == ClaimStatus.DONE,
    )
    failed = of_documents & (t.c.page_no > 0) & _is(ClaimStatus.FAILED) & t.c.code.in_(PASSING) & loaded
    query = sa.select(t.c.id, t.c.document_id).where(failed).order_by(t.c.id).with_for_update()
    pages = connection.execute(query).all()
    ids, documents = {page.id for page in pages}, {page.document_id for page in pages}
    connection.execute(sa.update(t).where(t.c.id.in_(ids)).values(fresh))
    done = of_documents & t.c.document_id.in_(documents) & (t.c.page_no == 0) & _is(ClaimStatus.DONE)
    waiting = {"status": ClaimStatus.WAITING.value, "stage": Stage.SPLIT.value, "priority": fresh["priority"]}
    return _change(connection, done, waiting)


def _change(
    connection: sa.Connection, which: sa.ColumnElement[bool], values: Mapping[str, object]
) -> set[int]:
    locked = connection.scalars(sa.select(t.c.id).where(which).order_by(t.c.id).with_for_update()).all()
    changed = sa.update(t).where(t.c.id.in_(locked)).values(values).returning(t.c.document_id)
    return set(connection.scalars(changed))


def _is(status: ClaimStatus) -> sa.ColumnElement[bool]:
    return t.c.status == status.value
