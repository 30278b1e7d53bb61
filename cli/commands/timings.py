"""pagemill timings."""

from typing import Annotated

import typer

from cli.choices import By
from cli.options import Json, MaybeDoc


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(timings)


def timings(
    document: MaybeDoc = None,
    by: Annotated[By, typer.Option("--by", help="What to sum up by.")] = By.STAGE,
    as_json: Json = False,
) -> None:
    """Say where the time went and what limits it."""
    from cli.environment import enter

    settings = enter()
    from cli import timing

    timing.show_timings(settings, document, by, as_json=as_json)
