"""pagemill doctor: is everything there, and what to do where it is not."""

from collections.abc import Callable, Sequence

import typer
from rich.text import Text

from cli.doctor import engine, machine, services
from cli.doctor.result import Diagnosis, Level, fail
from cli.exits import Exit
from cli.output import console, print_json, table
from cli.words import plural
from models.settings import Settings

Check = tuple[str, Callable[[Settings], Diagnosis]]

CHECKS: tuple[Check, ...] = (
    ("Python", machine.check_python),
    ("Packages", machine.check_packages),
    ("User", machine.check_user),
    ("Workers", machine.check_cores),
    ("Settings", machine.check_settings),
    ("Home", machine.check_home),
    ("Disk", machine.check_disk),
    ("Postgres programs", services.check_programs),
    ("Database", services.check_database),
    ("OCR engine", engine.check_engine),
    ("Prefect", services.check_prefect),
)

_COLOURS = {Level.OK: "green", Level.WARN: "yellow", Level.FAIL: "red"}


def show(settings: Settings, *, as_json: bool) -> Exit:
    """Print every diagnosis; says 4 when one is a failure."""
    found = examine(settings)
    if as_json:
        print_json(found)
    else:
        print_all(found)
    return exit_of(found)


def examine(settings: Settings, checks: Sequence[Check] = CHECKS) -> tuple[Diagnosis, ...]:
    """Every check, in order; one that breaks is a failure of its own and does not end the others."""
    return tuple(_examine(name, check, settings) for name, check in checks)


def exit_of(found: Sequence[Diagnosis]) -> Exit:
    """4 when anything has to be put right first."""
    return Exit.ENVIRONMENT if any(line.level is Level.FAIL for line in found) else Exit.OK


def print_all(found: Sequence[Diagnosis]) -> None:
    """A line for each, its advice under it, and what to do now."""
    shown = table("", "what", "found")
    for line in found:
        shown.add_row(Text(line.level, style=_COLOURS[line.level]), line.name, line.found)
        if line.advice:
            shown.add_row("", "", f"→ {line.advice}")
    console().print(shown)
    worst = sum(line.level is Level.FAIL for line in found)
    typer.echo(
        f"\n{plural(worst, 'thing')} to put right first." if worst else "\nReady: pagemill ingest FOLDER"
    )


def _examine(name: str, check: Callable[[Settings], Diagnosis], settings: Settings) -> Diagnosis:
    try:
        return check(settings)
    except Exception as error:
        return fail(name, f"{type(error).__name__}: {error}", "Install pagemill again with its dependencies.")
