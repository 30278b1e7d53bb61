"""The border between pagemill and the shell: errors become a line or two and an exit code."""

import errno
import logging
import os
import re
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from cli.exits import Exit, exit_of_error
from models.errors import Code, ConfigurationError, EnvironmentFault, PagemillError, StoreFull
from models.text import printable

log = logging.getLogger(__name__)

_NO_SPACE = {errno.ENOSPC, errno.EDQUOT}
_UNDECODABLE = re.compile("[\ud800-\udfff]")


class Boundary(TyperGroup):
    """The command group that lets no traceback through, except for defects under --debug."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; exits with the code that its error stands for."""
        try:
            return super().invoke(ctx)
        except PagemillError as error:
            complain(*lines_of(error))
            raise typer.Exit(exit_of_error(error)) from None
        except KeyboardInterrupt:
            complain("Interrupted.")
            raise typer.Exit(Exit.INTERRUPTED) from None
        except (typer.Exit, typer.Abort, typer.TyperException, BrokenPipeError):
            raise
        except Exception as error:
            raise typer.Exit(_unexpected(error, bool(ctx.obj))) from None


def lines_of(error: PagemillError) -> tuple[str, ...]:
    """What the person reads: the sentence with its code."""
    return (f"Error: {printable_lines(error.message)}", f"       ({error.code})")


def printable_lines(text: str) -> str:
    """`text` without controls or undecodable bytes, its line breaks kept."""
    return "\n".join(printable(line) for line in text.splitlines())


def complain(*lines: str) -> None:
    """Lines for the person, on standard error."""
    for line in lines:
        typer.echo(line, err=True)


def _unexpected(error: Exception, debug: bool) -> Exit:
    known = as_environment(error) or as_argument(error, _typed())
    if debug:
        traceback.print_exception(error, file=sys.stderr)
    if known:
        complain(*lines_of(known))
        return exit_of_error(known)
    # The frames without the message: messages of drivers quote what was sent.
    log.info("%s\n%s", type(error).__name__, "".join(traceback.format_tb(error.__traceback__)))
    complain(
        f"Internal error: {type(error).__name__}: {printable_lines(str(error))}",
        "       This is a defect of pagemill. Run again with --debug for the traceback; the log is in",
        f"       {os.environ.get('PAGEMILL_HOME', '~/.local/share/pagemill')}/logs/pagemill.log.",
    )
    return Exit.INTERNAL


def as_environment(error: Exception) -> PagemillError | None:
    """What an error of the system or of an import means, None where it is a defect."""
    if isinstance(error, OSError) and error.errno in _NO_SPACE:
        return StoreFull(f"No space left: {error.strerror}. Make room and run the same command again.")
    if isinstance(error, PermissionError):
        return EnvironmentFault(f"Not allowed: {error.strerror}: {error.filename}.")
    if isinstance(error, ModuleNotFoundError):
        return EnvironmentFault(
            f"The package {error.name} is missing. Install pagemill with its dependencies.",
            Code.PACKAGE_MISSING,
        )
    return None


def as_argument(error: Exception, words: Sequence[str]) -> PagemillError | None:
    """What a text that is no UTF-8 means: the argument or setting it came from, None where there is none.

    File names may hold any bytes; everything else that is typed is stored, sent or compared as UTF-8.
    """
    if isinstance(error, UnicodeEncodeError):
        for word in filter(_UNDECODABLE.search, words):
            return ConfigurationError(
                f"'{printable(word)}' is no UTF-8. Write it in a terminal set to UTF-8."
            )
    return None


def _typed() -> list[str]:
    """Arguments, and the settings of the environment."""
    settings = (f"{name}={value}" for name, value in os.environ.items() if name.startswith("PAGEMILL_"))
    return [*sys.argv[1:], *settings]
