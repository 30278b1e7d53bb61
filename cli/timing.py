"""pagemill timings: where the time went, and which stage limits the pipeline."""

from collections.abc import Mapping

from rich.table import Table

from cli.choices import By
from cli.output import console, print_json, table
from cli.session import connected
from cli.views import called
from cli.words import duration, plural
from db import documents, timings
from models.document import Document
from models.settings import Settings
from models.stage import Stage
from models.timing import TimingReport, TimingRow

_BAR = ""
_BAR_WIDTH = 24
_EIGHTHS = " ▏▎▍▌▋▊▉"
_COLUMNS = (
    "docs",
    "pages",
    "cached",
    "seconds",
    "share",
    _BAR,
    "p50/page",
    "p95/page",
    "waited p50",
    "retries",
)


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
        print_report(report, document, names)


def print_report(report: TimingReport, document: Document | None, names: Mapping[str, str]) -> None:
    """The table and the sentence under it."""
    out = console()
    out.print(chart(report, names))
    out.print()
    out.print(told(report, document))


def chart(report: TimingReport, names: Mapping[str, str]) -> Table:
    """A row and a bar for each stage, document, run or profile; `names` are of documents, by id."""
    shown = table(report.by, *_COLUMNS, numbers=frozenset(_COLUMNS) - {_BAR})
    has_span = report.by in {By.RUN, By.DOCUMENT}
    if has_span:
        shown.add_column("first to last", justify="right")
    for row in _ordered(report):
        name = f"{row.key}  {names[row.key]}" if row.key in names else row.key
        span = [duration(row.wall_s)] if has_span else []
        shown.add_row(name, *_cells(row), *span)
    return shown


def _cells(row: TimingRow) -> list[str]:
    return [
        str(row.documents),
        str(row.pages),
        str(row.cached),
        f"{row.seconds:.2f}",
        f"{row.share:.0%}",
        bar(row.share),
        _seconds(row.page_p50_s),
        _seconds(row.page_p95_s),
        duration(row.waited_p50_s),
        str(row.retries),
    ]


def bar(share: float) -> str:
    """A bar of at most 24 characters, drawn to an eighth of one."""
    eighths = round(share * _BAR_WIDTH * 8)
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()


def told(report: TimingReport, document: Document | None) -> str:
    """The answer in words: which stage limits, or where the time of this document went."""
    if report.limiting is None:
        return "No work was needed: everything had been done before."
    if report.by != "stage":
        return f"{duration(report.seconds)} of work in all; most of it per worker in {report.limiting}."
    row = next(row for row in report.rows if row.key == report.limiting)
    share = f"{row.share:.0%} of {duration(report.seconds)} of work"
    if document is not None:
        return f"The time of document {document.id} went mostly into {row.key}: {share}, {_per_page(row)}."
    return f"{row.key} limits the pipeline: {share}, {_per_page(row)}."


def _per_page(row: TimingRow) -> str:
    worked = row.pages - row.cached
    return f"{row.seconds / worked:.2f} s a page" if worked else plural(row.pages, "page")


def _ordered(report: TimingReport) -> list[TimingRow]:
    """Stages in the order of the story, all else as it comes: most seconds first."""
    if report.by != "stage":
        return list(report.rows)
    order = [stage.value for stage in Stage]
    return sorted(report.rows, key=lambda row: order.index(row.key))


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
