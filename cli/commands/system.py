"""Commands about the installation: profiles, checks, doctor, db migrate."""

from typing import Annotated

import typer

from cli.options import Json

ProfileName = Annotated[str, typer.Argument(metavar="[PROFILE]", help="Tell all about this one.")]


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.command()(profiles)
    app.command()(checks)
    app.command()(doctor)
    database = typer.Typer(rich_markup_mode=None, help="Look after the database.", no_args_is_help=True)
    database.callback()(_database)
    database.command("migrate")(migrate)
    app.add_typer(database, name="db")


def profiles(name: ProfileName = "", as_json: Json = False) -> None:
    """List the OCR models, or tell all about one."""
    from cli import catalogue
    from models.settings import load_settings

    settings = load_settings()
    if name:
        catalogue.show_profile(settings, name, as_json=as_json)
    else:
        catalogue.show_profiles(settings, as_json=as_json)


def checks(as_json: Json = False) -> None:
    """List what is checked on every page read."""
    from cli import catalogue

    catalogue.show_checks(as_json=as_json)


def doctor(as_json: Json = False) -> None:
    """Check the installation and say what to do."""
    from cli.environment import enter

    settings = enter(needs_home=False)
    from cli.doctor import show

    raise typer.Exit(show(settings, as_json=as_json))


def _database() -> None:
    """Look after the database."""


def migrate() -> None:
    """Bring the tables to the newest revision.

    Safe to repeat.
    """
    from cli.environment import enter

    settings = enter()
    from cli.session import migrate_database

    typer.echo(f"The database is at revision {migrate_database(settings)}.")
