"""What flow backfill does, with Prefect or without: put documents back to a stage, then see them drained."""

import logging
import threading
from collections.abc import Callable
from contextlib import closing
from typing import Any

from db import backfills
from db.engine import open_database
from flows.lines import load_lines, ocr_lines, split_lines
from flows.local import call, called, has_server
from flows.opening import CALLER, open_mill
from flows.telling import Ending, counted, ending
from models.backfill import Backfill, FromStage, Plan, Wish
from models.settings import Settings, get_settings
from models.stage import Outcome
from tasks import backfill as work
from tasks.drain import drain
from tasks.mill import Mill
from tasks.work.custom import find_profile

log = logging.getLogger(__name__)


def run_backfill(
    settings: Settings,
    wish: Wish,
    jobs: int | None,
    *,
    here: bool,
    started: Callable[[int], None] = lambda _: None,
    stop: threading.Event | None = None,
) -> int:
    """Do it from the command line, as a flow run where a Prefect server is named; the run's id.

    `started` is told the run's id. Setting `stop` ends the run after the pages in hand; what is left stays in
    the ledger. Raises as `plan`, `flows.opening.open_mill` and what stopped a stage for good.
    """
    if not has_server():
        with called(settings, started, stop) as ids:
            start(wish, plan(wish, is_checked=True), jobs, here=here)
        return ids[-1]
    from flows.backfill import backfill  # noqa: PLC0415 (with Prefect, a second of CPU)

    selection = wish.selection
    given: dict[str, Any] = {
        **selection.model_dump(include={"source", "since", "until", "everything"}),
        "documents": list(selection.documents),
        "status": list(selection.statuses),
        "verdict": list(selection.verdicts),
        "finding": list(selection.findings),
        "of_profile": selection.profile,
        "of_recipe": selection.recipe,
        "from_stage": wish.start,
        **wish.model_dump(include={"profile", "again", "promote"}),
        "options": list(wish.options),
        "dry_run": False,
        "here": here,
        "jobs": jobs,
    }
    return call(backfill, settings, given, started, stop)


def plan(wish: Wish, *, is_checked: bool) -> Plan:
    """What the wish comes to, logged; `is_checked` refuses to take all documents unless that was said."""
    caller = CALLER.get()
    with closing(open_database(caller.settings if caller else get_settings())) as database:
        planned = work.plan(database, wish)
    log.info("planned documents=%d pages=%d to_read=%d", planned.documents, planned.pages, planned.to_read)
    if is_checked:
        work.check_breadth(wish, planned)
    return planned


def start(wish: Wish, planned: Plan, jobs: int | None, *, here: bool) -> Ending:
    """Put the documents into the ledger; then work them off `here`, or wake the drains; how that ended."""
    log.info("backfill start=%s here=%s continues=%s", wish.start, here, planned.continues)
    caller = CALLER.get()
    profile = find_profile(wish.profile, caller.settings if caller else get_settings())
    if not here:
        # With Prefect's client.
        from flows.waking import BACKFILL, check_drains, wake  # noqa: PLC0415

        reads = wish.start not in {FromStage.VALIDATE, FromStage.LOAD}
        check_drains(profile, BACKFILL, reads=reads)
    with open_mill("backfill", wish.profile, list(wish.options), jobs, reads=here) as (mill, _):
        begun = work.enrol(mill.database, wish, mill.run_id, mill.stopping)
        has_ended = not here or work_off(mill, begun)
        if by := mill.database.run(lambda conn: backfills.get(conn, begun.id)).cancelled_by:
            mill.outcome = Outcome.CANCELLED
            told = f"Backfill {begun.id} was cancelled by {by}. What it had read to its end stays."
            return Ending(Outcome.CANCELLED, told, begun.id)
        if here:
            return ending(mill, "backfill", is_stopped=not has_ended, result=begun.id)
    wake(profile, BACKFILL)
    told = f"Put back: {told_of(planned)}. The drains work on them, behind all that is scheduled."
    return Ending(Outcome.OK, told, begun.id)


def work_off(mill: Mill, begun: Backfill) -> bool:
    """Drain all stages until the backfill has no work left; scheduled work that comes goes before it.

    False when the mill was stopped before.
    """
    lines = [*split_lines(), *ocr_lines(mill.profile), *load_lines()]
    has_ended = drain(
        mill, lines, lambda: not mill.database.run(lambda conn: backfills.is_busy(conn, begun.id))
    )
    work.close_ended(mill.database)
    return has_ended


def told_of(planned: Plan) -> str:
    """What a plan comes to, as part of a sentence."""
    documents, pages = counted(planned.documents, "document"), counted(planned.pages, "page")
    return f"{documents} with {pages}, {planned.to_read} to be read"
