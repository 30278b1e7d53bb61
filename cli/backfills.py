"""pagemill backfill list and cancel: what backfills there are, what they cost so far, and an end to one."""

import datetime as dt
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

import sqlalchemy as sa
from rich.console import Console

from cli.output import console, print_json, table
from cli.session import connected
from cli.words import duration, plural
from db import backfills
from db.engine import open_database
from models.backfill import Backfill, FromStage, Spent, Standing
from models.settings import Settings
from tasks import backfill as work

_NUMBERS = frozenset({"id", "documents", "unfinished", "pages read", "tokens"})


@dataclass(frozen=True, slots=True)
class BackfillLine:
    """A backfill as `pagemill backfill list --json` prints it."""

    backfill: int
    profile: str
    start: FromStage
    created_at: dt.datetime
    ended_at: dt.datetime | None
    cancelled_by: str | None
    standing: Standing
    spent: Spent


@dataclass(frozen=True, slots=True)
class CancelReport:
    """What `pagemill backfill cancel --json` prints."""

    taken_back: int
    """Documents of which nothing more is read."""
    line: BackfillLine


def show_backfills(settings: Settings, most: int, *, as_json: bool) -> None:
    """Print the last backfills, the newest first."""
    with connected(settings) as connection:
        lines = [_line(connection, one) for one in backfills.latest(connection, most)]
    if as_json:
        print_json(lines)
    elif lines:
        print_lines(console(), lines)
    else:
        console().print("There was no backfill yet. Try: pagemill backfill --status failed")


def cancel(settings: Settings, backfill_id: int | None, *, as_json: bool) -> None:
    """End a backfill for good and say what became of it. Raises ConfigurationError (not-found)."""
    with closing(open_database(settings)) as database:
        found, taken = work.cancel(database, backfill_id)
        line = database.run(lambda conn: _line(conn, found))
    if as_json:
        print_json(CancelReport(taken, line))
    else:
        print_cancelled(console(), line, taken)


def print_lines(out: Console, lines: Sequence[BackfillLine]) -> None:
    """A line for each."""
    shown = table(
        "id", "begun", "reads with", "from", "documents", "unfinished", "pages read", "engine time", "tokens",
        "state", numbers=_NUMBERS,
    )  # fmt: skip
    for line in lines:
        shown.add_row(
            str(line.backfill),
            f"{line.created_at:%Y-%m-%d %H:%M}",
            *(line.profile, line.start.value),
            *(f"{line.standing.documents:,}", f"{line.standing.unfinished:,}"),
            *(f"{line.spent.pages:,}", duration(line.spent.seconds), f"{line.spent.tokens:,}"),
            state_of(line),
        )
    out.print(shown)


def print_cancelled(out: Console, line: BackfillLine, taken: int) -> None:
    """What was stopped, what it had done and cost, and what can be done with that."""
    told = f"Backfill {line.backfill} is cancelled: nothing more is read of {plural(taken, 'document')}."
    out.print(f"{told} What was shown is shown as before.")
    spent = f"{plural(line.spent.pages, 'page')}, {duration(line.spent.seconds)} of engine work"
    out.print(f"It had read {spent}, {line.spent.tokens:,} tokens.")
    if line.standing.waiting:
        done = f"{plural(line.standing.waiting, 'document')} read to the end, but not shown"
        out.print(f"{done}: pagemill backfill compare {line.backfill}")


def state_of(line: BackfillLine) -> str:
    """Where it is, in a word or two."""
    if line.cancelled_by:
        return f"cancelled by {line.cancelled_by}"
    if line.ended_at is None:
        return "under way" if line.standing.unfinished else "read"
    return f"{line.standing.waiting:,} not shown" if line.standing.waiting else "ended"


def _line(connection: sa.Connection, found: Backfill) -> BackfillLine:
    return BackfillLine(
        found.id,
        found.wish.profile,
        found.wish.start,
        found.created_at,
        found.ended_at,
        found.cancelled_by,
        backfills.standing(connection, found.id),
        backfills.spent(connection, found),
    )
