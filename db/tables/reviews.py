"""What people decided about pages."""

import sqlalchemy as sa
from sqlalchemy import Column, ForeignKey, Index, Integer, Table, Text

from db.columns import identity, now, ref, text
from db.tables.base import metadata, page_key

# Every decision is kept; the last one about what is shown counts.
review_action = Table(
    "review_action",
    metadata,
    identity(),
    Column("document_id", sa.BigInteger, nullable=False),
    Column("page_no", Integer, nullable=False),
    # What was shown when it was taken. Null: there was no reading.
    ref("reading", "SET NULL", index=True),
    # The reading that came of it and is shown instead.
    Column("made_id", sa.BigInteger, ForeignKey("reading.id", ondelete="SET NULL"), index=True),
    Column("action", Text, nullable=False),
    Column("person", Text, nullable=False),
    text("note"),
    now("at"),
    page_key(),
    Index("ix_review_action_document_id_page_no", "document_id", "page_no"),
)
