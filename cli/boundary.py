"""The border between pagemill and the shell: errors become a line or two and an exit code."""

import contextlib
import errno
import io
import logging
import os
import re
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
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
        except (typer.Exit, typer.Abort, typer.TyperException):
            raise
        except BrokenPipeError:
            _forget_output()
            raise typer.Exit(Exit.PIPE_CLOSED) from None
        except Exception as error:
            raise typer.Exit(unexpected(error, debug=bool(ctx.obj))) from None


def lines_of(error: PagemillError) -> tuple[str, ...]:
    """What the person reads: the sentence with its code."""
    return (f"Error: {printable_lines(error.message)}", f"       ({error.code})")


def printable_lines(text: str) -> str:
    """`text` without controls or undecodable bytes, its line breaks kept."""
    return "\n".join(printable(line) for line in text.splitlines())


def prepare_streams() -> None:
    """Make standard output and error usable whatever the shell made of them."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            # Closed by the shell, as `>&-` does: there is nobody to tell.
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 (for as long as we run)
        elif hasattr(stream, "reconfigure"):
            # A terminal that cannot show a character gets a mark for it, never a crash.
            stream.reconfigure(errors="backslashreplace")


def complain(*lines: str) -> None:
    """Lines for the person, on standard error."""
    for line in lines:
        typer.echo(line, err=True)


def unexpected(error: Exception, *, debug: bool) -> Exit:
    """Tell of an error that is none of ours, and say with which code to end."""
    _flush_output()
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


def _flush_output() -> None:
    """What cannot be written must not be tried again at the end: Python would end with a code of its own."""
    try:
        sys.stdout.flush()
    except OSError:
        _forget_output()


def _forget_output() -> None:
    """Whoever read the output is gone; what is left of it must not be tried again at the end."""
    with contextlib.suppress(io.UnsupportedOperation):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
