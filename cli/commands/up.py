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
Cron = Annotated[
    str | None,
    typer.Option(
        "--cron", metavar="CRON", help="When to look through watched folders; default: '*/5 * * * *'."
    ),
]
Zone = Annotated[
    str | None, typer.Option("--timezone", metavar="ZONE", help="Time zone of --cron; default: UTC.")
]
Profile = Annotated[
    str | None, typer.Option("--profile", metavar="PROFILE", help="OCR model for what is watched.")
]
Host = Annotated[
    str, typer.Option("--host", metavar="ADDRESS", help="Address that the Prefect server listens on.")
]
Port = Annotated[
    int | None,
    typer.Option("--port", metavar="PORT", min=1, max=65_535, help="Its port; 4200 unless it runs already."),
]
Systemd = Annotated[
    bool, typer.Option("--print-systemd", help="Start nothing; write a systemd unit for each process.")
]
Into = Annotated[
    Path | None,
    typer.Option("--into", metavar="FOLDER", help="Where the units go; default: systemd in the home."),
]


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.command()(up)
    app.command()(down)


def up(
    gpu: Gpu = None,
    watch: Watch = None,
    no_watch: NoWatch = False,
    cron: Cron = None,
    timezone: Zone = None,
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
    from flows.installation.wish import EVERY, ZONE, Wish

    _refuse_idle(into is not None and not print_systemd, not watch and (cron or timezone or profile))
    wish = Wish(
        host=host,
        port=port,
        theirs=given.get("PREFECT_API_URL") or None,
        gpu=gpu,
        watch=tuple(watch or ()),
        unwatch=no_watch,
        cron=cron or EVERY,
        timezone=timezone or ZONE,
        profile=profile or gpu or settings.profile,
    )
    if print_systemd:
        return installing.write_units(settings, wish, given, into)
    return installing.bring_up(settings, wish, given)


def _refuse_idle(is_into_idle: bool, for_watched: object) -> None:
    """An option that does nothing is a misunderstanding."""
    if is_into_idle:
        raise typer.BadParameter("--into says where --print-systemd writes: give both, or neither.")
    if for_watched:
        told = "--cron, --timezone and --profile are for what is watched: give --watch, too."
        raise typer.BadParameter(told)


def down() -> None:
    """End all that 'pagemill up' started, and the embedded Postgres.

    The next command that needs Postgres starts it again.
    """
    from cli.environment import enter

    settings = enter()
    from cli import installing

    installing.bring_down(settings)
