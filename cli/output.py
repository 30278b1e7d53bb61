"""What commands print: tables for people, JSON for programs."""

import dataclasses
import datetime as dt
import json
import re
import sys
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_PIPE_WIDTH = 140


class _Out(Console):
    """A console that leaves it to the command's border what a reader that went away means."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """Standard output or error; texts are shown as they are, never read as markup.

    Not a terminal: no colours, lines wide enough for a table.
    """
    width = None if (sys.stderr if stderr else sys.stdout).isatty() else _PIPE_WIDTH
    return _Out(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)


def table(*columns: str, numbers: frozenset[str] = frozenset(), title: str | None = None) -> Table:
    """An empty table in the house style; columns named in `numbers` stand on the right."""
    made = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in columns:
        made.add_column(name, justify="right" if name in numbers else "left", overflow="fold")
    return made


def to_json(value: Any) -> str:
    """Dataclasses (nested, in lists, in dicts) as indented JSON; undecodable bytes of names stay visible."""
    text = json.dumps(value, default=_plain, ensure_ascii=False, indent=2)
    return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def print_json(value: Any) -> None:
    """`value` as JSON on standard output, UTF-8 whatever the locale."""
    typer.echo((to_json(value) + "\n").encode(), nl=False)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, dt.datetime):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, bytes):
        raise TypeError("bytes have no place in a report")
    raise TypeError(f"{type(value).__name__} has no place in a report")
