"""Column types that turn models into what Postgres keeps, and back."""

from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter
from sqlalchemy import Column, ForeignKey, Integer, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.engine import Dialect

from models.layer import pack, unpack
from models.page import Word


class Sha256(sa.TypeDecorator[str]):
    """A SHA-256: 64 hex digits in Python, 32 bytes in the table."""

    impl = sa.LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:  # noqa: ARG002
        """Hex to bytes."""
        return None if value is None else bytes.fromhex(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002
        """Bytes to hex."""
        return None if value is None else bytes(value).hex()


class Typed(sa.TypeDecorator[Any]):
    """A dataclass, a pydantic model or a tuple of them as jsonb, checked on the way back."""

    impl = JSONB
    cache_ok = True

    def __init__(self, of: Any) -> None:
        super().__init__(none_as_null=True)
        self.of = of

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002
        """Model to plain JSON values."""
        return None if value is None else _adapter(self.of).dump_python(value, mode="json")

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002
        """Plain JSON values to the model."""
        return None if value is None else _adapter(self.of).validate_python(value)


class Words(sa.TypeDecorator[tuple[Word, ...]]):
    """Words of a text layer, packed; as words or packed already, back as words. See models.layer."""

    impl = sa.LargeBinary
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> bytes | None:  # noqa: ARG002
        """Words to bytes."""
        return pack(value).data if isinstance(value, tuple) else value

    def process_result_value(self, value: Any, dialect: Dialect) -> tuple[Word, ...] | None:  # noqa: ARG002
        """Bytes to words."""
        return None if value is None else unpack(value)


Time = sa.TIMESTAMP(timezone=True)
Notes = Typed(tuple[str, ...])


def identity() -> Column[int]:
    """The usual key: a number that Postgres gives."""
    return Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True)


def ref(table: str, ondelete: str | None = "CASCADE", **options: Any) -> Column[int]:
    """A reference to `table`.id, by default one that goes with its row."""
    key = ForeignKey(f"{table}.id", ondelete=ondelete)
    return Column(f"{table}_id", sa.BigInteger, key, **{"nullable": ondelete == "SET NULL"} | options)


def now(name: str) -> Column[Any]:
    """A time that is the transaction's start where none is given."""
    return Column(name, Time, nullable=False, server_default=sa.func.now())


def count(name: str, default: int = 0) -> Column[int]:
    """A number that starts at `default`."""
    return Column(name, Integer, nullable=False, server_default=sa.text(str(default)))


def text(name: str) -> Column[str]:
    """Text that is empty where none is given."""
    return Column(name, Text, nullable=False, server_default="")


_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


def _adapter(of: Any) -> TypeAdapter[Any]:
    if of not in _ADAPTERS:
        _ADAPTERS[of] = TypeAdapter(of)
    return _ADAPTERS[of]
