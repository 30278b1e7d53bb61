"""pagemill export."""

from pathlib import Path
from typing import Annotated

import typer

from cli.choices import Format


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(export)


def export(
    documents: Annotated[
        list[str], typer.Argument(metavar="DOC...", help="Documents: ids, hashes or paths.")
    ],
    kind: Annotated[Format, typer.Option("--format", help="What to write.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File, or folder for several; else standard output.")
    ] = None,
    margins: Annotated[
        bool,
        typer.Option("--margins/--no-margins", help="With headers and footers, where they were told apart."),
    ] = True,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")] = False,
) -> None:
    """Write documents as Markdown, HTML, JSON or text.

    Pages that could not be read keep their place and give their reason.
    """
    from cli.environment import enter

    settings = enter()
    from cli.export.run import export_documents

    export_documents(settings, documents, kind, output, margins=margins, force=force)
