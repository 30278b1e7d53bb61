"""Known documents that have work to do again."""

from collections.abc import Collection, Mapping

import sqlalchemy as sa

from db.tables import claim as t
from db.tables import document
from models.errors import PASSING, Code
from models.stage import ClaimStatus, Stage

_FRESH = {
    "status": ClaimStatus.READY.value,
    "attempt": 0,
    "crashes": 0,
    "code": None,
    "message": None,
    "ready_at": sa.func.now(),
    "not_before": sa.func.now(),
}


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
    """
    of_documents = (t.c.recipe_id == recipe_id) & t.c.document_id.in_(documents)
    codes = PASSING | ({Code.NEEDS_PASSWORD} if has_passwords else set())
    with_pages = _put_pages_back(connection, of_documents)
    failed = of_documents & (t.c.page_no == 0) & _is(ClaimStatus.FAILED) & t.c.code.in_(codes)
    again = with_pages | _put_documents_back(connection, failed, _FRESH)
    hidden = sa.select(document.c.id).where(document.c.id.in_(documents), document.c.edition_id.is_(None))
    stale = t.c.document_id.in_(moved) | t.c.document_id.in_(hidden)
    loaded = of_documents & (t.c.page_no == 0) & _is(ClaimStatus.DONE) & stale
    return again | _put_documents_back(connection, loaded, _FRESH | {"stage": Stage.LOAD.value})


def _put_pages_back(connection: sa.Connection, of_documents: sa.ColumnElement[bool]) -> set[int]:
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
    connection.execute(sa.update(t).where(t.c.id.in_(ids)).values(_FRESH))
    done = of_documents & t.c.document_id.in_(documents) & (t.c.page_no == 0) & _is(ClaimStatus.DONE)
    waiting = {"status": ClaimStatus.WAITING.value, "stage": Stage.SPLIT.value}
    return _put_documents_back(connection, done, waiting)


def _put_documents_back(
    connection: sa.Connection, which: sa.ColumnElement[bool], values: Mapping[str, object]
) -> set[int]:
    locked = connection.scalars(sa.select(t.c.id).where(which).order_by(t.c.id).with_for_update()).all()
    changed = sa.update(t).where(t.c.id.in_(locked)).values(values).returning(t.c.document_id)
    return set(connection.scalars(changed))


def _is(status: ClaimStatus) -> sa.ColumnElement[bool]:
    return t.c.status == status.value
