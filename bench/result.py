"""What a benchmark measured: one JSON file each, for people and for the report."""

import datetime as dt
import json
import platform
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

Value = str | float | int | bool | None
Row = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Result:
    """Rows of one benchmark; figures of different results are never compared, only those of one run."""

    name: str
    about: str
    rows: tuple[Row, ...]
    facts: Mapping[str, Value] = field(default_factory=dict)
    """Machine, versions, documents: what the rows hold for."""
    command: str = field(default_factory=lambda: shlex.join(["python", "-m", *_module(), *sys.argv[1:]]))
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


def load(path: Path) -> Result:
    """A result as it was saved."""
    told = json.loads(path.read_text())
    return Result(**told | {"rows": tuple(told["rows"])})


def table(rows: Sequence[Row]) -> str:
    """Rows as a Markdown table; columns in the order they first appear."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    lines = [columns, ["---"] * len(columns)]
    lines += [[_shown(row.get(name)) for name in columns] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def machine() -> dict[str, Value]:
    """What every result says of the machine."""
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "pagemill": _version(),
    }


def _shown(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 100 else f"{value:,.0f}"
    return "" if value is None else str(value)


def _version() -> str:
    try:
        return version("pagemill")
    except PackageNotFoundError:  # run from the source folder
        return "source"


def _module() -> list[str]:
    spec = sys.modules["__main__"].__spec__
    return [spec.name] if spec else [Path(sys.argv[0]).name]
