"""What was learnt of servers on this machine, kept in JSON files of the home."""

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from models.errors import EnvironmentFault

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Record(Generic[Row]):
    """Rows by key in a file. Of two that write at the same time the later one wins: a row is learnt again.

    Raises EnvironmentFault when the file is spoilt.
    """

    path: Path
    shape: TypeAdapter[dict[str, Row]]
    loss: str
    """What cannot be told without the file, and what happens when it is deleted: ends of two clauses."""

    def get(self, key: str) -> Row | None:
        """The row of a key."""
        return self._rows().get(key)

    def put(self, key: str, row: Row) -> None:
        """Write a row down."""
        rows = self._rows() | {key: row}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(f".{os.getpid()}.part")
        part.write_bytes(self.shape.dump_json(rows, indent=1))
        part.replace(self.path)

    def _rows(self) -> dict[str, Row]:
        if not self.path.exists():
            return {}
        try:
            return self.shape.validate_json(self.path.read_bytes())
        except ValidationError as error:
            raise EnvironmentFault(f"{self.path} is spoilt: {self.loss}") from error


def key_of(*parts: object) -> str:
    """A key for what tells rows apart: anything that JSON can hold."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
