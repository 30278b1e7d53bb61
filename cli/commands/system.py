"""Commands about the installation: profiles, checks, doctor, db migrate."""

import typer

from cli.options import Json


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.command()(profiles)
    app.command()(checks)
    app.command()(doctor)
    database = typer.Typer(rich_markup_mode=None, help="Look after the database.", no_args_is_help=True)
    database.callback()(_database)
    database.command("migrate")(migrate)
    app.add_typer(database, name="db")


def profiles(as_json: Json = False) -> None:
    """List the OCR models and their licences."""
    from cli import catalogue

    catalogue.show_profiles(as_json=as_json)


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
