"""Many keys given to a statement as arrays, one for each column.

As a list of parameters each number of keys would be another statement: made, sent, parsed and planned anew.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

_NAME = "key_"


def among(*columns: sa.Column[Any]) -> sa.ColumnElement[bool]:
    """Whether the columns are one of the keys that `given` hands over. Once in a statement."""
    arrays = [sa.bindparam(f"{_NAME}{n}", type_=ARRAY(column.type)) for n, column in enumerate(columns)]
    if len(columns) == 1:
        return columns[0] == sa.any_(arrays[0])
    names = (f"{_NAME}{n}" for n in range(len(columns)))
    keys = sa.func.unnest(*arrays).table_valued(*names).render_derived("keys")
    return sa.tuple_(*columns).in_(sa.select(*keys.c))


def given(keys: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    """Parameters for `among`; there must be keys."""
    return {f"{_NAME}{n}": list(values) for n, values in enumerate(zip(*keys, strict=True))}
