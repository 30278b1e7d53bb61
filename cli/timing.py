"""pagemill timings: where the time went, and which stage limits the pipeline."""

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table

from cli.choices import By
from cli.output import console, print_json, table
from cli.session import connected
from cli.views import called
from cli.words import duration, plural
from db import documents, timings
from models.document import Document
from models.settings import Settings
from models.stage import Outcome, Stage
from models.telemetry import DeviceUse
from models.timing import TimingReport, TimingRow

_BAR = ""
_BAR_WIDTH = 24
_LEAST_FOR_BARS = 110
"""Columns of a terminal: below, the bars would push figures over line ends, and their shares stand beside."""
_EIGHTHS = " ▏▎▍▌▋▊▉"
_OF_STAGES = (
    "docs",
    "pages",
    "cached",
    "seconds",
    "share",
    _BAR,
    "page p50",
    "page p95",
    "waited p50",
    "retries",
)
# A page counts once in every stage: over several stages pages and seconds a page mean nothing.
_OF_OTHERS = ("docs", "seconds", "share", _BAR, "waited p50", "retries", "first to last")


def show_timings(settings: Settings, ref: str | None, by: By, *, as_json: bool) -> None:
    """Print seconds and shares of all documents or of one. Raises ConfigurationError (not-found)."""
    with connected(settings) as connection:
        document = None if ref is None else documents.get(connection, ref)
        report = timings.report(connection, by.value, document.id if document else None)
        names = {str(d.id): called(d) for d in documents.listing(connection)} if by is By.DOCUMENT else {}
    if as_json:
        print_json(report)
    elif not report.rows:
        console().print("Nothing has been timed yet. Try: pagemill ingest FOLDER")
    else:
        print_report(report, document, names, console())


def print_report(
    report: TimingReport, document: Document | None, names: Mapping[str, str], out: Console
) -> None:
    """The table and the sentence under it."""
    out.print(chart(report, names, with_bars=out.width >= _LEAST_FOR_BARS))
    out.print()
    out.print(told(report, document))
    for use in report.devices:
        out.print(device_told(use))


def chart(report: TimingReport, names: Mapping[str, str], *, with_bars: bool = True) -> Table:
    """A row and a bar for each stage, document, run or profile; `names` are of documents, by id."""
    all_columns = _OF_STAGES if report.by == By.STAGE else _OF_OTHERS
    columns = [column for column in all_columns if with_bars or column != _BAR]
    shown = table(report.by, *columns, numbers=frozenset(columns) - {_BAR})
    for column in shown.columns:
        # These go over two lines last: others have headers of two words, which may.
        column.no_wrap = column.header in {By.STAGE, "seconds"}
    for row in _ordered(report):
        cells = _cells(row)
        shown.add_row(_name(row, names), *(cells[column] for column in columns))
    return shown


def _name(row: TimingRow, names: Mapping[str, str]) -> str:
    """A run says what it was; of one that did not end well, how it ended."""
    if row.kind is None:
        return f"{row.key}  {names[row.key]}" if row.key in names else row.key
    told = "" if row.outcome in {None, Outcome.OK} else f", {row.outcome}"
    return f"{row.key}  {row.kind}{told}"


def _cells(row: TimingRow) -> dict[str, str]:
    return {
        "docs": str(row.documents),
        "pages": str(row.pages),
        "cached": str(row.cached),
        "seconds": f"{row.seconds:.2f}",
        "share": f"{row.share:.0%}",
        _BAR: bar(row.share),
        "page p50": _seconds(row.page_p50_s),
        "page p95": _seconds(row.page_p95_s),
        "waited p50": duration(row.waited_p50_s),
        "retries": str(row.retries),
        "first to last": duration(row.wall_s),
    }


def bar(share: float) -> str:
    """A bar of at most 24 characters, drawn to an eighth of one."""
    eighths = round(share * _BAR_WIDTH * 8)
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()


def told(report: TimingReport, document: Document | None) -> str:
    """The answer in words: which stage limits, or where the time of this document went."""
    if report.limiting is None:
        return "No work was needed: everything had been done before."
    if report.by != By.STAGE:
        return f"{duration(report.seconds)} of work in all; most of it per worker in {report.limiting}."
    row = next(row for row in report.rows if row.key == report.limiting)
    share = f"{row.share:.0%} of {duration(report.seconds)} of work"
    if document is not None:
        return f"The time of document {document.id} went mostly into {row.key}: {share}, {_per_page(row)}."
    return f"{row.key} limits the pipeline: {share}, {_per_page(row)}."


def device_told(use: DeviceUse) -> str:
    """How busy a GPU, or all processes of the newest run, were: mean, and what nine of ten looks saw."""
    parts = []
    if use.busy is not None:
        low = "" if use.busy_p10 is None else f" ({use.busy_p10:.0%} or more nine times in ten)"
        parts.append(f"{use.busy:.0%} busy{low}")
    if use.memory_mb is not None:
        parts.append(f"{use.memory_mb / 1024:.1f} GiB at most")
    if use.power_w is not None:
        parts.append(f"{use.power_w:.0f} W")
    return f"{use.device}: {', '.join(parts)}"


def _per_page(row: TimingRow) -> str:
    worked = row.pages - row.cached
    return f"{row.seconds / worked:.2f} s a page" if worked else plural(row.pages, "page")


def _ordered(report: TimingReport) -> list[TimingRow]:
    """Stages in the order of the story, all else as it comes: most seconds first."""
    if report.by != By.STAGE:
        return list(report.rows)
    order = [stage.value for stage in Stage]
    return sorted(report.rows, key=lambda row: order.index(row.key))


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
