"""What a benchmark measured: one JSON file each, for people and for the report."""

import datetime as dt
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench.facts import Value, machine
from models.errors import Code, ConfigurationError

__all__ = ["Journal", "Result", "Row", "Value", "load", "machine", "table"]

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
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.json"
        path.write_text(json.dumps(asdict(self), indent=1) + "\n")
        return path

    def table(self) -> str:
        """The rows as a Markdown table; columns as the first row has them."""
        return table(self.rows)


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
        print(row, flush=True)
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


def table(rows: Sequence[Row]) -> str:
    """Rows as a Markdown table; columns in the order they first appear."""
    columns = columns_of(rows)
    lines = [columns, ["---"] * len(columns)]
    lines += [[shown(row.get(name)) for name in columns] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


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
