"""Which contents are current under their names, and which are shown no more."""

import sqlalchemy as sa

from db.tables import document, source
from models.document import DocumentStatus


def supersede(connection: sa.Connection, document_id: int) -> frozenset[int]:
    """Under each name of the document, only the last seen of the loaded contents stays current.

    A content of which nothing could be read takes nobody's place. Hides documents that have no current name
    left; says which. Call it after the document's edition is set.
    """
    mine, newer = source.alias("mine"), source.alias("newer")
    shares_name = sa.exists().where(
        mine.c.uri_sha256 == source.c.uri_sha256, mine.c.document_id == document_id
    )
    replaced = sa.exists().where(
        newer.c.uri_sha256 == source.c.uri_sha256,
        newer.c.document_id == document.c.id,
        newer.c.document_id != source.c.document_id,
        newer.c.last_seen > source.c.last_seen,
        document.c.edition_id.is_not(None),
        document.c.status != DocumentStatus.FAILED.value,
    )
    query = sa.select(source.c.id, source.c.document_id).where(
        source.c.superseded_at.is_(None), shares_name, replaced
    )
    # Documents before their names, each sorted: the same order for every loader.
    affected = {row.document_id for row in connection.execute(query)}
    if affected:
        locked = sa.select(document.c.id).where(document.c.id.in_(affected)).order_by(document.c.id)
        connection.execute(locked.with_for_update(key_share=True))
        ids = [row.id for row in connection.execute(query)]
        connection.execute(sa.update(source).where(source.c.id.in_(ids)).values(superseded_at=sa.func.now()))
    # A document that was replaced while it was read is loaded under no name of its own.
    return _hide(connection, affected | {document_id})


def _hide(connection: sa.Connection, documents: set[int]) -> frozenset[int]:
    """No edition for documents that stand under no name any more."""
    current = sa.exists().where(
        source.c.document_id == document.c.id,
        source.c.superseded_at.is_(None),
    )
    nameless = document.c.id.in_(documents) & ~current & document.c.edition_id.is_not(None)
    hidden = sa.update(document).where(nameless).values(edition_id=None).returning(document.c.id)
    return frozenset(connection.scalars(hidden))
