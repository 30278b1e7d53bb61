"""The report command: gather a run, make thumbnails, write the file."""

from pathlib import Path

from cli.export.run import refuse_input
from cli.export.writing import write
from cli.output import console
from cli.report.page import render
from cli.report.thumbnails import data_url
from cli.session import connected
from cli.views import picture_path
from cli.words import plural
from db import run_reports, scans
from models.run_report import RunReport
from models.settings import Settings
from models.text import printable

_TEXT_CHARS = 2_000


def write_report(
    settings: Settings, run_id: int | None, out: Path | None, pages: int, *, force: bool
) -> None:
    """Write a run's report, by default of the last run that met documents, to `report-RUN.html`.

    Raises ConfigurationError: not-found, output-in-input, or the file is there and `force` is not given.
    """
    with connected(settings) as connection:
        number = run_id or run_reports.newest(connection)
        report = run_reports.of_run(connection, number, pages, _TEXT_CHARS)
        path = out or Path(f"report-{number}.html")
        refuse_input(path, scans.watched(connection))
    write([path], [render(report, pictures(settings, report))], force=force)
    console().print(
        f"{printable(str(path))}: run {number}, {plural(report.waiting, 'page')} to look at.", soft_wrap=True
    )


def pictures(settings: Settings, report: RunReport) -> dict[str, str]:
    """Thumbnails of the worst pages as data URLs, of those whose pictures are still there."""
    paths = {page.page: picture_path(settings, page.image_sha256, page.image_suffix) for page in report.worst}
    return {page: data_url(Path(path)) for page, path in paths.items() if path}
