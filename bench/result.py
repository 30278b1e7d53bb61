"""What a benchmark measured: one JSON file each, for people and for the report."""

import datetime as dt
import json
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

from bench.facts import Value, machine
from models.errors import Code, ConfigurationError

__all__ = ["Journal", "Result", "Row", "Value", "load", "machine", "table", "write"]

Row = Mapping[str, Value]

_SECRETS = ("--api-key",)


def _command() -> str:
    """As it was typed, without folders of this machine's Python and without keys."""
    words = sys.argv[1:]
    for place, word in enumerate(words):
        if word in _SECRETS and place + 1 < len(words):
            words[place + 1] = "…"
        elif word.startswith(tuple(f"{secret}=" for secret in _SECRETS)):
            words[place] = f"{word.partition('=')[0]}=…"
    return shlex.join([*_program(), *words])


@dataclass(frozen=True, slots=True)
class Result:
    """Rows of one benchmark; figures of different results are never compared, only those of one run."""

    name: str
    about: str
    rows: tuple[Row, ...]
    facts: Mapping[str, Value] = field(default_factory=dict)
    """Machine, versions, documents: what the rows hold for."""
    command: str = field(default_factory=_command)
    at: str = field(default_factory=lambda: dt.datetime.now(dt.UTC).isoformat(timespec="seconds"))

    def save(self, folder: Path) -> Path:
        """Write FOLDER/NAME.json and say where."""
        path = folder / f"{self.name}.json"
        write(path, json.dumps(asdict(self), indent=1) + "\n")
        return path

    def table(self) -> str:
        """The rows as a Markdown table, as wide as a terminal at the most if it is shown on one."""
        return table(self.rows, shutil.get_terminal_size().columns if sys.stdout.isatty() else None)


class Journal:
    """A result in the making: each row is printed and saved at once, so that what was measured is kept.

    Until `finish`, the file's facts say that it is not complete.
    """

    def __init__(self, name: str, about: str, facts: Mapping[str, Value], out: Path) -> None:
        self._name, self._about, self._out = name, about, out
        self._command, self._rows = _command(), list[Row]()
        self.facts = dict(facts)

    def add(self, row: Row) -> None:
        """One more row."""
        print(
            ", ".join(f"{name} {shown(value)}" for name, value in row.items() if value not in (None, "")),
            flush=True,
        )
        self._rows.append(row)
        self._result({"complete": False}).save(self._out)

    def finish(self, rows: Sequence[Row] | None = None) -> Result:
        """Print all rows, or what has become of them, and save them for good."""
        if rows is not None:
            self._rows = list(rows)
        result = self._result({})
        print(result.table())
        print(result.save(self._out))
        return result

    def _result(self, more: Mapping[str, Value]) -> Result:
        return Result(self._name, self._about, tuple(self._rows), {**self.facts, **more}, self._command)


def load(path: Path) -> Result:
    """A result as it was saved. Raises ConfigurationError (`not-found` where there is no such file)."""
    try:
        told = json.loads(path.read_text())
        return Result(**told | {"rows": tuple(told["rows"])})
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}.", Code.NOT_FOUND) from None
    except (ValueError, TypeError, KeyError) as error:
        raise ConfigurationError(
            f"{path} is not the result of a benchmark ({type(error).__name__})."
        ) from None


def write(path: Path, text: str) -> None:
    """Write a file, in a folder that is made. Raises ConfigurationError where there can be none."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except (FileExistsError, FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}.") from None


def table(rows: Sequence[Row], width: int | None = None) -> str:
    """Rows as a Markdown table; columns in the order they first appear.

    Where it is wider than `width`, several tables, each beginning with the columns that name the rows.
    """
    columns = [_column(name, rows) for name in columns_of(rows)]
    named = max(1, next((place for place, one in enumerate(columns) if one.is_number), 1))
    parts = [columns[:named]]
    for column in columns[named:]:
        if width and len(parts[-1]) > named and _breadth([*parts[-1], column]) > width:
            parts.append(columns[:named])
        parts[-1] = [*parts[-1], column]
    return "\n\n".join(map(_markdown, parts))


class _Column(NamedTuple):
    cells: tuple[str, ...]
    """The first is its name."""
    is_number: bool

    @property
    def breadth(self) -> int:
        return max(3, *map(len, self.cells))


def _column(name: str, rows: Sequence[Row]) -> _Column:
    values = [row.get(name) for row in rows]
    is_number = all(value is None or isinstance(value, int | float) for value in values)
    return _Column((name, *map(shown, values)), is_number)


def _breadth(columns: Sequence[_Column]) -> int:
    return 1 + sum(column.breadth + 3 for column in columns)


def _markdown(columns: Sequence[_Column]) -> str:
    padded = []
    for cells, is_number in columns:
        breadth = _Column(cells, is_number).breadth
        head, *rest = (cell.rjust(breadth) if is_number else cell.ljust(breadth) for cell in cells)
        padded.append([head, "-" * (breadth - 1) + (":" if is_number else "-"), *rest])
    return "\n".join(f"| {' | '.join(line)} |" for line in zip(*padded, strict=True))


def columns_of(rows: Sequence[Row]) -> list[str]:
    """All columns, in the order they first appear."""
    return list(dict.fromkeys(name for row in rows for name in row))


def shown(value: Value) -> str:
    """A figure for people: three digits."""
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 100 else f"{value:,.0f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "" if value is None else str(value)


def _program() -> list[str]:
    if sys.argv[0].startswith("pagemill "):
        return sys.argv[0].split()
    spec = sys.modules["__main__"].__spec__
    return ["python", "-m", spec.name] if spec else [Path(sys.argv[0]).name]
