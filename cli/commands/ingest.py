"""pagemill ingest."""

from pathlib import Path
from typing import Annotated, Any

import typer

from cli.options import AcceptLicence, Jobs


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(ingest)


def _existing(paths: list[str]) -> list[str]:
    """Paths are looked at before anything starts; what a URL names is asked by the scan."""
    for path in paths:
        if not path:
            raise typer.BadParameter("A path is empty. Write . for the folder you are in.")
        if "://" not in path and not Path(path).exists():
            raise typer.BadParameter(f"Path '{path}' does not exist.")
    return paths


_Places = Annotated[
    list[str],
    typer.Argument(metavar="PATH...", callback=_existing, help="Files, folders or URLs to read."),
]


def ingest(
    paths: _Places,
    profile: Annotated[
        str | None,
        typer.Option(
            "--profile", metavar="PROFILE", help="OCR model, see 'pagemill profiles', or a .toml file."
        ),
    ] = None,
    recipe: Annotated[
        list[str] | None,
        typer.Option(
            "--recipe", metavar="KEY=VALUE", help="Recipe option, e.g. text_layer=prefer; repeatable."
        ),
    ] = None,
    jobs: Jobs = None,
    password_file: Annotated[
        Path | None,
        typer.Option("--password-file", exists=True, dir_okay=False, help="Passwords for PDFs, one a line."),
    ] = None,
    accept_licence: AcceptLicence = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Read files and folders into the knowledge base.

    What was read before is not read again.
    Ctrl-C ends the run after the pages in hand; the same command goes on where it stopped.
    """
    from cli.environment import enter

    overrides: dict[str, Any] = {} if password_file is None else {"password_file": password_file}
    settings = enter(**overrides)
    from cli.ingesting import Wish, ingest_and_report

    wish = Wish(tuple(paths), profile or settings.profile, tuple(recipe or ()), jobs, accept_licence)
    raise typer.Exit(ingest_and_report(settings, wish, as_json=as_json))
