"""pagemill maintain."""

from typing import Annotated

import typer

from cli.options import Json

_MOST_DAYS = 36_500


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(maintain)


def maintain(
    images_days: Annotated[
        float,
        typer.Option("--images-days", min=0, max=_MOST_DAYS, help="Purge page images older than this."),
    ] = 30.0,
    results_days: Annotated[
        float,
        typer.Option("--results-days", min=0, max=_MOST_DAYS, help="Purge what Prefect kept longer."),
    ] = 7.0,
    as_json: Json = False,
) -> None:
    """Free leases, purge old pictures, check the ledger.

    Ends with 3 where the ledger contradicts itself. Images that unfinished or doubtful pages need stay;
    others are made again when a page is read again.
    """
    from cli.environment import enter

    settings = enter()
    from cli import maintaining

    done = maintaining.maintain(settings, images_days=images_days, results_days=results_days, as_json=as_json)
    raise typer.Exit(done)
