"""pagemill backfill --go: do it, show how far it is, say what came of it."""

import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial

from rich.console import Console

from cli import background
from cli.backfilling import PlanReport, report_of
from cli.exits import Exit
from cli.ingesting import watch
from cli.output import console, print_json
from cli.progress import open_display
from cli.session import connected
from cli.words import plural
from db import backfills
from db.engine import open_database
from flows.backfilling import run_backfill
from flows.local import has_server
from models.backfill import Backfill, Standing, Wish
from models.settings import Settings
from tasks import backfill as work
from tasks.mill import let_go


@dataclass(frozen=True, slots=True)
class BackfillReport:
    """What `pagemill backfill --go --json` prints."""

    plan: PlanReport
    backfill: int
    standing: Standing
    exit_code: int


def run_and_report(settings: Settings, wish: Wish, *, here: bool, jobs: int | None, as_json: bool) -> Exit:
    """Do it and say what came of it. Raises ConfigurationError, also for all documents without --all."""
    with closing(open_database(settings)) as database:
        planned = work.plan(database, wish)
    work.check_breadth(wish, planned)
    here = here or not has_server()
    is_interrupted = _run(settings, wish, here=here, jobs=jobs, as_json=as_json)
    with connected(settings) as connection:
        found = backfills.last_of(connection, wish, work.recipe_of(wish))
        standing = backfills.standing(connection, found.id)
    is_whole = not found.cancelled_by and not standing.failed and not (here and standing.unfinished)
    code = Exit.INTERRUPTED if is_interrupted else Exit.OK if is_whole else Exit.INCOMPLETE
    if as_json:
        print_json(BackfillReport(report_of(planned), found.id, standing, code.value))
    else:
        print_standing(console(), found, standing, here=here)
    return code


def print_standing(out: Console, found: Backfill, standing: Standing, *, here: bool) -> None:
    """Where its documents stand, and what to type next."""
    told = [f"Backfill {found.id}: {plural(standing.documents, 'document')}"]
    told += [f"{standing.unfinished:,} not finished"] if standing.unfinished else []
    told += [f"{standing.failed:,} with pages that could not be read"] if standing.failed else []
    told += [f"{standing.waiting:,} read, but not shown yet"] if standing.waiting else []
    out.print(f"{'; '.join(told)}.")
    if standing.unfinished and not here:
        out.print("The drains work on it, behind what is scheduled: pagemill backfill compare")
    if found.cancelled_by:
        out.print(
            f"It was cancelled by {found.cancelled_by}. What it has not read to the end is left as it was."
        )
    if standing.waiting:
        out.print(f"Next: pagemill backfill compare {found.id}   pagemill backfill promote {found.id}")


def _run(settings: Settings, wish: Wish, *, here: bool, jobs: int | None, as_json: bool) -> bool:
    """Do it and show how far it is; whether it was interrupted."""
    out = console(stderr=as_json)

    def perform(started: Callable[[int], None], stop: threading.Event) -> int:
        met: list[int] = []

        def begun(run_id: int) -> None:
            met.append(run_id)
            started(run_id)

        run_backfill(settings, wish, jobs, here=here, started=begun, stop=stop)
        return met[-1]

    run = background.start(perform, partial(let_go, settings))
    with closing(open_display(out)) as display:
        told = "Stopping after the pages in hand; press Ctrl-C again to end at once."
        with background.stopping_on_signals(run, lambda: display.say(told)) as interrupted:
            watch(settings, run, display)
    return interrupted.is_set()
