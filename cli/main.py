"""The `pagemill` command."""

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from cli.boundary import Boundary, prepare_streams, unexpected
from cli.commands import (
    ask,
    backfill,
    bench,
    documents,
    export,
    ingest,
    maintain,
    report,
    review,
    serve,
    system,
    timings,
    tune,
    up,
)
from cli.exits import MEANINGS
from cli.usage import use_everywhere
from tasks.work.processes.signals import interrupt_on_all

_EPILOG = "\b\nExit codes:\n" + "\n".join(f"  {code.value:<4} {text}" for code, text in MEANINGS.items())

# Plain help: importing what draws boxes around it takes longer than most commands.
app = typer.Typer(
    name="pagemill",
    cls=Boundary,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_MODULES = (
    ingest,
    documents,
    ask,
    timings,
    export,
    system,
    serve,
    tune,
    up,
    backfill,
    review,
    report,
    maintain,
    bench,
)
for module in _MODULES:
    module.register(app)
use_everywhere(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pagemill {version('pagemill')}")
        raise typer.Exit


@app.callback()
def options(
    ctx: typer.Context,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end."),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", envvar="PAGEMILL_DEBUG", help="Show the traceback of an internal error."),
    ] = False,
) -> None:
    """Turn collections of PDFs and pictures into a searchable knowledge base in Postgres."""
    ctx.obj = debug


def main() -> None:
    """Entry point of the `pagemill` script."""
    prepare_streams()
    interrupt_on_all()
    try:
        app()
    except OSError as error:
        # Of help and usage errors, which are printed before any command is reached.
        sys.exit(unexpected(error, debug=False))


if __name__ == "__main__":
    main()
