"""Many keys in one statement: as arrays, however many there are."""

from collections.abc import Sequence
from typing import Any

import pytest
import sqlalchemy as sa

from db import tables
from db.engine import Database
from db.keys import among, given
from tests.db import steps

t = tables.source


def found(
    database: Database, columns: Sequence[sa.Column[Any]], keys: Sequence[tuple[Any, ...]]
) -> list[int]:
    query = sa.select(t.c.document_id).where(among(*columns)).order_by(t.c.id)
    return list(database.run(lambda conn: conn.scalars(query, given(keys)).all()))


@pytest.fixture
def filled(database: Database) -> Database:
    for name in ("/a.pdf", "/b.pdf", "/c.pdf"):
        steps.register(database, steps.intake(name, content=name))
    return database


def test_rows_are_found_by_one_column(filled: Database) -> None:
    assert found(filled, [t.c.uri], [("/c.pdf",), ("/a.pdf",), ("/x.pdf",)]) == [1, 3]


def test_rows_are_found_by_columns_together(filled: Database) -> None:
    assert found(filled, [t.c.document_id, t.c.uri], [(1, "/a.pdf"), (2, "/c.pdf"), (3, "/c.pdf")]) == [1, 3]


def test_any_number_of_keys_is_one_statement(filled: Database) -> None:
    query = sa.select(t.c.document_id).where(among(t.c.document_id, t.c.uri))
    texts = {
        str(query.compile(filled.engine, column_keys=list(given(keys))))
        for keys in ([(1, "/a.pdf")], [(1, "/a.pdf")] * 70_000)
    }
    assert len(texts) == 1
    assert found(filled, [t.c.document_id, t.c.uri], [(1, "/a.pdf")] * 70_000) == [1]
