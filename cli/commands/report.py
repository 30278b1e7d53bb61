"""pagemill report."""

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(report)


def report(
    run: Annotated[
        int | None, typer.Argument(metavar="[RUN]", min=1, help="Number of a run; default: the last.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE.html", help="Default: report-RUN.html.")
    ] = None,
    pages: Annotated[int, typer.Option("--pages", min=0, max=500, help="Most pages to show.")] = 24,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
) -> None:
    """Write a run as an HTML file to look at.

    Times, findings, and the worst pages beside their text; it needs no network and holds no script.
    """
    from cli.environment import enter

    settings = enter()
    from cli.report.run import write_report

    write_report(settings, run, out, pages, force=force)
