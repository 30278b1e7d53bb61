"""`pagemill up` and `down` as a person sees them."""

from collections.abc import Mapping
from pathlib import Path

import typer

from cli.choosing import choose_profile
from cli.serving import Wish as ServeWish
from cli.serving import plan_of
from flows.installation import raising, services, state, systemd
from flows.installation.wish import Wish
from models.settings import Settings
from tasks.work.processes import running


def bring_up(settings: Settings, wish: Wish, given: Mapping[str, str]) -> None:
    """Bring it up, and say where the screen is.

    Whether this machine can serve the model is looked at first, unless it does so already, or servers are
    named that do. Raises as `flows.installation.raising.up` and `cli.serving.plan_of`.
    """
    choose_profile(settings, wish.profile)
    is_served = settings.ocr_url or running(services.SERVE + str(wish.gpu), state.run_folder(settings))
    if wish.gpu and not is_served:
        plan_of(settings, ServeWish(profile=wish.gpu))
    api = raising.up(settings, wish, given, typer.echo)
    typer.echo(f"\npagemill is up. Its screen: {api.removesuffix('/api')}")
    if wish.watch:
        folders = ", ".join(map(str, wish.watch))
        typer.echo(f"Watched from now on ({wish.cron}, {wish.timezone}): {folders}")
    typer.echo(f"For commands of Prefect: export PREFECT_API_URL={api}")
    typer.echo("pagemill down ends it.")


def bring_down(settings: Settings) -> None:
    """End it, and say what ended."""
    if not raising.down(settings, typer.echo):
        typer.echo("No embedded Postgres was running.")


def write_units(settings: Settings, wish: Wish, given: Mapping[str, str], into: Path | None) -> None:
    """Write the units, and say how to use them."""
    folder = into or settings.root / "systemd"
    paths = systemd.write(settings, wish, given, folder)
    for path in paths:
        typer.echo(str(path))
    names = " ".join(path.name for path in paths if path.suffix == ".service")
    typer.echo("\nOnce:  pagemill up && pagemill down      # makes the database, pools and deployments")
    typer.echo(f"Then:  sudo cp {folder}/* /etc/systemd/system/ && sudo systemctl daemon-reload")
    typer.echo(f"       sudo systemctl enable --now {names}")
