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
    cost: Annotated[
        str | None,
        typer.Option(
            "--cost", metavar="PRICE/h", help="What a GPU costs an hour, e.g. 2.69/h: show costs instead."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Say where the time went and what limits it."""
    from cli.environment import enter
    from models.cost import Price

    price = None if cost is None else Price.parse(cost)
    settings = enter()
    from cli import costs, timing

    if price is not None:
        costs.show_costs(settings, document, by, price, as_json=as_json)
    else:
        timing.show_timings(settings, document, by, as_json=as_json)
