"""Which edition a document shows: every change is kept, so that the one before can be put back."""

import sqlalchemy as sa

from db import tables
from models.document import DocumentStatus
from models.edition import reason, status_of
from models.errors import Code, ConfigurationError
from models.verdict import Verdict
from models.work import PageToLoad

t = tables.edition_switch

LOAD, PROMOTE, ROLLBACK, REVIEW = "load", "promote", "rollback", "review"


def record(
    connection: sa.Connection, document_id: int, before_id: int | None, edition_id: int, *, kind: str, by: str
) -> None:
    """Keep that a document went from showing one edition to another; nothing where they are the same."""
    if before_id == edition_id:
        return
    values = {
        "document_id": document_id,
        "before_id": before_id,
        "edition_id": edition_id,
        "kind": kind,
        "by": by,
    }
    connection.execute(sa.insert(t).values(values))


def show(connection: sa.Connection, document_id: int, edition_id: int, *, kind: str, by: str) -> bool:
    """Show an edition of a document from the end of this transaction on; False when it is shown already.

    The document's status becomes that of the edition. `by`: who asked for it. Raises ConfigurationError
    (not-found) where the document has no such edition.
    """
    d, edition = tables.document, tables.edition
    query = sa.select(d.c.edition_id, d.c.is_repaired).where(d.c.id == document_id).with_for_update()
    row = connection.execute(query).one_or_none()
    owned = sa.select(edition.c.id).where(edition.c.id == edition_id, edition.c.document_id == document_id)
    if row is None or connection.execute(owned).first() is None:
        raise ConfigurationError(f"Document {document_id} has no edition {edition_id}.", Code.NOT_FOUND)
    if row.edition_id == edition_id:
        return False
    pages = _pages(connection, edition_id)
    status = status_of(pages, is_repaired=row.is_repaired)
    code, message = reason(pages, is_repaired=row.is_repaired)
    values = {"edition_id": edition_id, "status": status.value, "code": code, "message": message}
    connection.execute(sa.update(d).where(d.c.id == document_id).values(values))
    record(connection, document_id, row.edition_id, edition_id, kind=kind, by=by)
    return True


def shown(connection: sa.Connection, document_id: int) -> int | None:
    """The edition that a document shows."""
    d = tables.document
    return connection.scalar(sa.select(d.c.edition_id).where(d.c.id == document_id))


def lock(connection: sa.Connection, document_id: int) -> bool:
    """Let nobody change what a document shows until the transaction ends; False when it shows nothing."""
    d = tables.document
    query = sa.select(d.c.edition_id).where(d.c.id == document_id).with_for_update()
    return connection.scalar(query) is not None


def recipe_shown(connection: sa.Connection, document_id: int) -> int:
    """The recipe of what a document shows, which it has to."""
    d, edition = tables.document, tables.edition
    query = sa.select(edition.c.recipe_id).join(d, d.c.edition_id == edition.c.id)
    found: int = connection.execute(query.where(d.c.id == document_id)).scalar_one()
    return found


def status(connection: sa.Connection, document_id: int) -> DocumentStatus:
    """How a document stands."""
    d = tables.document
    return DocumentStatus(connection.execute(sa.select(d.c.status).where(d.c.id == document_id)).scalar_one())


def base(connection: sa.Connection, document_id: int) -> int | None:
    """The edition that was read or promoted, whatever people decided about its pages since.

    None where nothing is shown.
    """
    return _steps(connection, document_id)[0]


def previous(connection: sa.Connection, document_id: int) -> int | None:
    """What was shown before the edition that was read or promoted last; None where there was none.

    Putting one back is no step of its own: after that, previous is what stood before the one put back. Nor is
    a decision about pages: after that, it is what stood before the edition decided about.
    """
    return _steps(connection, document_id)[1]


def _steps(connection: sa.Connection, document_id: int) -> tuple[int | None, int | None]:
    """Base and previous, looking back from what is shown."""
    edition_id = shown(connection, document_id)
    columns = [t.c.before_id, t.c.edition_id, t.c.kind]
    query = sa.select(*columns).where(t.c.document_id == document_id, t.c.kind != ROLLBACK)
    for row in connection.execute(query.order_by(t.c.id.desc())):
        if row.edition_id != edition_id:
            continue
        if row.kind != REVIEW:
            return edition_id, row.before_id
        edition_id = row.before_id
    return edition_id, None


def _pages(connection: sa.Connection, edition_id: int) -> tuple[PageToLoad, ...]:
    p = tables.edition_page
    columns = [p.c.page_no, p.c.verdict, p.c.reading_id, p.c.code, p.c.message]
    rows = connection.execute(sa.select(*columns).where(p.c.edition_id == edition_id).order_by(p.c.page_no))
    return tuple(
        PageToLoad(row.page_no, Verdict(row.verdict), row.reading_id, (), row.code, row.message)
        for row in rows
    )
