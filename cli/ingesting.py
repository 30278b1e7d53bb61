"""pagemill ingest: start the run, show it, sum it up."""

import logging
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import TimeoutError as NotYet
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from cli import background
from cli.beside import beside
from cli.choosing import choose_profile
from cli.exits import Exit
from cli.output import console, print_json
from cli.progress import Display, open_display
from cli.summary import exit_of, print_hints, print_interrupted, print_summary, report_of
from db import progress, summaries
from db.engine import Database, open_database
from flows.local import run_ingest
from models.errors import PagemillError
from models.progress import Progress
from models.settings import Settings
from models.summary import RunSummary
from tasks.mill import let_go

log = logging.getLogger(__name__)

_EVERY_S = 0.5
_LOOKS_UNTIL_TOLD = 10
"""Loading the last document and closing the workers take a moment, too."""
_QUERY_SHARE = 20
"""A snapshot of a large run takes a while: looking takes at most a twentieth of the time."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be read, and how."""

    paths: tuple[str, ...]
    """Paths and URLs."""
    profile: str
    options: tuple[str, ...]
    jobs: int | None
    is_accepted: bool = False
    """The terms of the profile's weights are agreed to."""


@dataclass
class Watched:
    """A display that also says why a run goes on whose own documents are done."""

    display: Display
    _done_looks: int = 0

    def show(self, progress: Progress) -> None:
        """Pass a snapshot on."""
        self.display.show(progress)
        self._done_looks = self._done_looks + 1 if progress.is_done and progress.documents else 0
        if self._done_looks == _LOOKS_UNTIL_TOLD:
            self.display.say("These documents are done; finishing what earlier runs left.")


def ingest_and_report(settings: Settings, wish: Wish, *, as_json: bool) -> Exit:
    """Run to the end, or until Ctrl-C, and print what came of it.

    Raises ConfigurationError (profile, its terms, recipe key) before anything starts, and what ended the run.
    """
    profile = choose_profile(settings, wish.profile, is_accepted=wish.is_accepted)
    profile.recipe().with_options(wish.options)
    wish = replace(wish, profile=profile.name)
    out = console(stderr=as_json)
    work = partial(_work, settings, wish)
    run = background.start(work, partial(let_go, settings))
    with closing(open_display(out)) as display:
        if others := beside(settings):
            display.say(others)
        told = "Stopping after the pages in hand; press Ctrl-C again to end at once."
        with background.stopping_on_signals(run, lambda: display.say(told)) as interrupted:
            run_id = watch(settings, run, display)
    summary = _summary(settings, run_id)
    code = Exit.INTERRUPTED if interrupted.is_set() else exit_of(summary)
    if as_json:
        print_json(report_of(summary, code))
    else:
        print_summary(out, summary)
        if interrupted.is_set():
            print_interrupted(out, summary, sys.argv[1:])
        else:
            print_hints(out, summary)
    return code


def _work(settings: Settings, wish: Wish, started: Callable[[int], None], stop: threading.Event) -> int:
    return run_ingest(settings, wish.paths, wish.profile, wish.options, wish.jobs, started=started, stop=stop)


def watch(settings: Settings, run: background.Run, display: Display) -> int:
    """Show the run until it has ended; its id. Raises what ended it."""
    while not run.started.done():
        if (ended := _ended(run, _EVERY_S)) is not None:
            return ended
    database = open_database(settings)
    with closing(database):
        watched, pause = Watched(display), 0.0
        while (ended := _ended(run, pause)) is None:
            began = time.monotonic()
            _show(database, run.started.result(), watched)
            pause = max(_EVERY_S, _QUERY_SHARE * (time.monotonic() - began))
        _show(database, ended, watched)
    return ended


def _ended(run: background.Run, wait_s: float) -> int | None:
    try:
        return run.ended.result(wait_s)
    except NotYet:
        if run.ended.done():
            raise  # the run itself timed out somewhere
        return None


def _show(database: Database, run_id: int, watched: Watched) -> None:
    try:
        with database.begin() as connection:
            snapshot = progress.snapshot(connection, run_id)
    except PagemillError as error:
        # The run has its own connection and its own patience; a missed look is no reason to end.
        log.info("progress not seen code=%s", error.code)
    else:
        watched.show(snapshot)


def _summary(settings: Settings, run_id: int) -> RunSummary:
    database = open_database(settings)
    with closing(database), database.begin() as connection:
        return summaries.of_run(connection, run_id)
