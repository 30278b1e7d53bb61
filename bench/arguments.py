"""Benchmarks as programs: a parser whose help is as wide as the terminal, what can be typed, how they end."""

import argparse
import contextlib
import os
import shutil
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from models.errors import PagemillError
from tasks.work.processes.signals import interrupt_on_all

INTERRUPTED, FAILED = 130, 4
"""Exit codes of a benchmark that somebody ended, and of one that could not measure."""

_AS_MODULE, _AS_COMMAND = "python -m bench.", "pagemill bench "


def parser(about: str | None) -> argparse.ArgumentParser:
    """A parser that says `about` in its help: paragraphs filled, indented lines as they are.

    Called by `pagemill bench NAME`, it names that command.
    """
    is_command = sys.argv[0].startswith(_AS_COMMAND)
    told = (about or "").replace(_AS_MODULE, _AS_COMMAND) if is_command else about or ""
    return argparse.ArgumentParser(
        description="\n\n".join(map(_filled, told.split("\n\n"))),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def count(text: str) -> int:
    """A number from 1, as an argument's type."""
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1")
    return number


def folder(text: str) -> Path:
    """A folder to write to, there or not yet, as an argument's type: told before anything is measured."""
    wanted = Path(text)
    there = next(place for place in (wanted, *wanted.absolute().parents) if place.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise argparse.ArgumentTypeError(f"nothing can be written to '{text}'")
    return wanted


def add_out(made: argparse.ArgumentParser) -> None:
    """The option --out."""
    made.add_argument(
        "--out", type=folder, default=Path("bench-results"), metavar="FOLDER", help="for the JSON file"
    )


def run(main: Callable[[], int | None]) -> NoReturn:
    """Run a benchmark as a program and end with its code; what ends it early is one line.

    SIGTERM and a closed terminal are what Ctrl-C is: whatever was started is ended, rows measured are kept.
    """
    interrupt_on_all()
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        _complain("Interrupted.")
        sys.exit(INTERRUPTED)
    except PagemillError as error:
        _complain(f"Error: {error.message}\n       ({error.code})")
        sys.exit(FAILED)


def _complain(said: str) -> None:
    # There is nobody to tell where the terminal is closed.
    with contextlib.suppress(OSError):
        print(said, file=sys.stderr, flush=True)


def _filled(paragraph: str) -> str:
    if paragraph.startswith(" "):
        return paragraph
    return textwrap.fill(paragraph.strip(), shutil.get_terminal_size().columns - 2)
