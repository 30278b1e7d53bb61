"""pagemill up and down: a running installation on this machine."""

from pathlib import Path
from typing import Annotated

import typer

Gpu = Annotated[
    str | None,
    typer.Option(
        "--gpu",
        metavar="PROFILE",
        help="Serve this OCR model and read on the GPUs; PAGEMILL_OCR_URL: read there.",
    ),
]
Watch = Annotated[
    list[Path] | None,
    typer.Option("--watch", metavar="FOLDER", help="Read what appears in this folder; repeatable."),
]
NoWatch = Annotated[bool, typer.Option("--no-watch", help="Watch no folder any more.")]
Cron = Annotated[str, typer.Option("--cron", metavar="CRON", help="When to look through watched folders.")]
Zone = Annotated[str, typer.Option("--timezone", metavar="ZONE", help="Time zone of --cron.")]
Profile = Annotated[
    str | None, typer.Option("--profile", metavar="NAME", help="OCR model for what is watched.")
]
Host = Annotated[str, typer.Option("--host", help="Address that the Prefect server listens on.")]
Port = Annotated[
    int | None, typer.Option("--port", min=1, max=65_535, help="Its port; 4200 unless it runs already.")
]
Systemd = Annotated[
    bool, typer.Option("--print-systemd", help="Start nothing; write a systemd unit for each process.")
]
Into = Annotated[
    Path | None, typer.Option("--into", metavar="FOLDER", help="Where the units go; default HOME/systemd.")
]


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.command()(up)
    app.command()(down)


def up(
    gpu: Gpu = None,
    watch: Watch = None,
    no_watch: NoWatch = False,
    cron: Cron = "*/5 * * * *",
    timezone: Zone = "UTC",
    profile: Profile = None,
    host: Host = "127.0.0.1",
    port: Port = None,
    print_systemd: Systemd = False,
    into: Into = None,
) -> None:
    """Bring up database, Prefect server, schedules and workers.

    Safe to repeat; 'pagemill down' ends it.
    """
    import os

    given = dict(os.environ)
    from cli.environment import enter

    settings = enter()
    from cli import installing
    from flows.installation.wish import Wish

    wish = Wish(
        host=host,
        port=port,
        theirs=given.get("PREFECT_API_URL") or None,
        gpu=gpu,
        watch=tuple(watch or ()),
        unwatch=no_watch,
        cron=cron,
        timezone=timezone,
        profile=profile or gpu or settings.profile,
    )
    if print_systemd:
        installing.write_units(settings, wish, given, into)
    else:
        installing.bring_up(settings, wish, given)


def down() -> None:
    """End all that 'pagemill up' started, and the embedded Postgres.

    The next command that needs Postgres starts it again.
    """
    from cli.environment import enter

    settings = enter()
    from cli import installing

    installing.bring_down(settings)
