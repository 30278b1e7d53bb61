"""Results of benchmarks as one HTML file with plots: no script, nothing loaded from elsewhere.

    python -m bench.report FILE.json… [-o bench.html] [--force]

What is plotted follows from the columns: requests in flight or pages make lines, names make bars.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import arguments
from bench.charts import Bar, Series, bars, lines, number, template
from bench.result import Result, Row, columns_of, load, shown, write
from models.errors import ConfigurationError
from models.text import printable

_NAMES = ("client", "what", "step", "mode", "resolution", "page", "batch")
"""Columns that name their row, the more telling first."""
_WITH_NAME = ("kind",)
"""Stands before the name where there is one."""

_LINES = {
    "in_flight": (
        ("Pages a second", ("pages_per_s", "plain_pages_per_s")),
        ("Seconds a page waits for its answer", ("p50_s", "p95_s", "p99_s")),
        ("Reply tokens a second", ("tokens_per_s",)),
        ("GPU busy, share of the time", ("gpu_busy",)),
        ("Cores busy", ("cores_busy",)),
    ),
    "pages": (
        ("Most resident memory of one process, MB", ("command_peak_mb", "worker_peak_mb")),
        ("Memory by role, MB (proportional share)", ("command_pss_mb", "workers_pss_mb", "postgres_pss_mb")),
    ),
}
_X_NAMES = {"in_flight": "requests in flight", "pages": "pages"}

_BARS = {
    "pages_per_s": "Pages a second",
    "of_raw": "Pages a second, of the raw server's",
    "s_per_page": "Seconds a page",
    "cpu_s_per_page": "CPU seconds a page",
    "without_start_s_per_page": "CPU seconds a page, start left out",
    "ours_ms": "CPU of pagemill, ms a page",
    "pypdfium2_ms": "CPU of pypdfium2, ms a page",
    "pdftoppm_ms": "CPU of pdftoppm, ms a page",
    "filled": "Slots filled, share",
    "peak_mb": "Peak memory, MB",
    "fewer_pixels": "Times fewer pixels than at most",
    "wrong_percent": "Characters wrong, %",
    "gpu_busy": "GPU busy, share of the time",
}


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    title: str
    is_number: bool


@dataclass(frozen=True, slots=True)
class Section:
    """One result, ready to be shown."""

    name: str
    about: str
    command: str
    facts: tuple[tuple[str, str], ...]
    is_complete: bool
    charts: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]


def section(result: Result) -> Section:
    """A result with its charts and its table; whatever it says is shown as text."""
    names = columns_of(result.rows)
    facts = {name: value for name, value in result.facts.items() if name != "complete"}
    return Section(
        name=printable(result.name),
        about=printable(result.about),
        command=printable(result.command),
        facts=tuple(
            (_words(name), printable(shown(value))) for name, value in {"at": result.at, **facts}.items()
        ),
        is_complete=result.facts.get("complete", True) is True,
        charts=tuple(charts(result.rows)),
        columns=tuple(Column(_words(name), _is_number(result.rows, name)) for name in names),
        rows=tuple(tuple(printable(shown(row.get(name))) for name in names) for row in result.rows),
    )


def charts(rows: Sequence[Row]) -> Iterator[str]:
    """Lines where the rows are steps of a number, else bars by name."""
    named = next((name for name in _NAMES if all(row.get(name) is not None for row in rows)), None)
    if rows and named is None:
        yield from _lines(rows)
    elif rows and named:
        yield from _bars(rows, named)


def _lines(rows: Sequence[Row]) -> Iterator[str]:
    for x, plots in _LINES.items():
        if len({number(row.get(x)) for row in rows} - {None}) < 2:
            continue
        for title, columns in plots:
            series = [Series(_words(column), tuple(_points(rows, x, column))) for column in columns]
            if any(one.points for one in series):
                yield lines(title, _X_NAMES[x], series)
        return


def _points(rows: Sequence[Row], x: str, y: str) -> Iterator[tuple[float, float]]:
    pairs = [(number(row.get(x)), number(row.get(y))) for row in rows]
    yield from sorted((at, value) for at, value in pairs if at is not None and value is not None)


def _bars(rows: Sequence[Row], named: str) -> Iterator[str]:
    before = [name for name in _WITH_NAME if name != named and any(row.get(name) for row in rows)]
    for column, title in _BARS.items():
        found = [
            Bar(", ".join(str(row[name]) for name in (*before, named) if row.get(name)), value)
            for row in rows
            if (value := number(row.get(column))) is not None
        ]
        if len(found) > 1:
            yield bars(title, found)


def render(results: Sequence[Result]) -> str:
    """The whole file."""
    return template("report.html.j2").render(sections=[section(result) for result in results])


def _is_number(rows: Sequence[Row], name: str) -> bool:
    return all(row.get(name) is None or number(row.get(name)) is not None for row in rows)


def _words(name: str) -> str:
    return name.replace("_", " ")


def main() -> None:
    """Read, draw, write."""
    parser = arguments.parser(__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.json")
    parser.add_argument("-o", "--out", type=Path, default=Path("bench.html"), metavar="FILE")
    parser.add_argument("--force", action="store_true", help="overwrite a file that is there")
    wish = parser.parse_args()
    if wish.out.exists() and not wish.force:
        raise ConfigurationError(f"{wish.out} is there already; --force overwrites it.")
    text = render([load(path) for path in wish.files])
    write(wish.out, text)
    print(wish.out)


if __name__ == "__main__":
    arguments.run(main)
