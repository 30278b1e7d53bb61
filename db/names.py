"""What a document is called, for people."""

from typing import Any

import sqlalchemy as sa

from db.tables import source as t


def name_of(document_id: sa.ColumnElement[int]) -> sa.ColumnElement[Any]:
    """A name that a document stands or stood under, printable; empty where there was never one.

    One that is still its own comes first, then one whose file is there, then the last seen.
    """
    query = sa.select(t.c.uri).where(t.c.document_id == document_id)
    order = (t.c.superseded_at, t.c.gone_at, t.c.last_seen)
    named = query.order_by(*(time.desc().nulls_first() for time in order), t.c.id).limit(1)
    return sa.func.coalesce(named.scalar_subquery(), "")
