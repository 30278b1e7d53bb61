"""Commands that look at documents: status, show, search."""

from typing import Annotated

import typer

from cli.choices import Mode
from cli.options import Doc, Json, MaybeDoc


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.command()(status)
    app.command()(search)
    app.command()(show)


def status(document: MaybeDoc = None, as_json: Json = False) -> None:
    """Say where documents stand, and each page of one."""
    from cli.environment import enter

    settings = enter()
    from cli import status as reports

    reports.show_status(settings, document, as_json=as_json)


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words, in any language.")],
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="Most hits to show.")] = 10,
    mode: Annotated[
        Mode, typer.Option("--mode", help="By words and meaning, or by words alone.")
    ] = Mode.HYBRID,
    as_json: Json = False,
) -> None:
    """Search the knowledge base.

    Every hit says its document, page and box on the page, in points from the top left.
    """
    from cli.environment import enter

    settings = enter()
    from cli import searching

    searching.show_hits(settings, query, limit, mode, as_json=as_json)


def show(
    document: Doc,
    page: Annotated[int | None, typer.Option("--page", "-p", min=1, help="Number of a page, from 1.")] = None,
    as_json: Json = False,
) -> None:
    """Show a document, or one page with its text."""
    from cli.environment import enter

    settings = enter()
    from cli import showing

    showing.show_document(settings, document, page, as_json=as_json)
