"""Arguments of benchmarks: a parser whose help is as wide as the terminal, and what can be typed."""

import argparse
import os
import shutil
import sys
import textwrap
from pathlib import Path

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


def _filled(paragraph: str) -> str:
    if paragraph.startswith(" "):
        return paragraph
    return textwrap.fill(paragraph.strip(), shutil.get_terminal_size().columns - 2)
