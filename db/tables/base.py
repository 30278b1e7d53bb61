"""What all tables share."""

import sqlalchemy as sa

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def page_key() -> sa.ForeignKeyConstraint:
    """Reference to a page by document and number; rows go with the page."""
    return sa.ForeignKeyConstraint(
        ["document_id", "page_no"], ["page.document_id", "page.page_no"], ondelete="CASCADE"
    )


def same_page(one: sa.FromClause, other: sa.FromClause) -> sa.ColumnElement[bool]:
    """Whether rows of two tables are about the same page."""
    return (one.c.document_id == other.c.document_id) & (one.c.page_no == other.c.page_no)
