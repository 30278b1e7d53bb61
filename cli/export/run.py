"""The export command: find the documents, render them, write them."""

import os
from collections.abc import Sequence
from pathlib import Path

import typer

from cli.choices import Format
from cli.export.formats import RENDERERS
from cli.export.writing import targets, write
from cli.session import connected
from cli.views import DocumentView, is_missing, view_of, with_pictures, without_margins
from db import scans
from models.errors import Code, ConfigurationError
from models.settings import Settings
from models.text import printable
from tasks.work.remote import is_url


def export_documents(
    settings: Settings,
    refs: Sequence[str],
    kind: Format,
    output: Path | None,
    *,
    margins: bool = True,
    force: bool,
) -> None:
    """Write the documents `refs` name, with headers and footers where `margins`.

    Raises ConfigurationError: not-found, output-in-input, or no place for several.
    """
    if output is None and len(refs) > 1:
        raise ConfigurationError("Several documents need a folder: --output FOLDER.")
    with connected(settings) as connection:
        if output is not None:
            refuse_input(output, scans.watched(connection))
        found = [with_pictures(view_of(connection, ref), settings) for ref in refs]
    views = list({view.document.id: view for view in found}.values())
    texts = [RENDERERS[kind](view if margins else without_margins(view)) for view in views]
    if output is None:
        typer.echo(texts[0].encode(), nl=False)
        return
    paths = targets(views, kind, output)
    write(paths, texts, force=force)
    for path, view in zip(paths, views, strict=True):
        typer.echo(f"{printable(str(path))}: {_summary(view)}", err=True)


def refuse_input(output: Path, roots: frozenset[str]) -> None:
    """What is written below a root that is scanned again and again would be found there.

    Raises ConfigurationError (output-in-input).
    """
    place = _real(output)
    for root in roots:
        if not is_url(root) and place.is_relative_to(_real(root)):
            raise ConfigurationError(
                f"{output} is in {printable(root)}, which is scanned for documents: name a place outside.",
                Code.OUTPUT_IN_INPUT,
            )


def _real(path: Path | str) -> Path:
    """Links followed as far as they lead; unlike Path.resolve it takes a link to itself as a name."""
    return Path(os.path.realpath(path))


def _summary(view: DocumentView) -> str:
    missing = sum(is_missing(page) for page in view.pages)
    pages = f"{len(view.pages)} page{'s' if len(view.pages) != 1 else ''}"
    return f"{pages}, {missing} without text" if missing else pages
