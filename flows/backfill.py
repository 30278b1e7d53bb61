"""Flow backfill: put known documents back to a stage, behind all scheduled work, and wake the drains."""

import datetime as dt
import logging
import threading
from collections.abc import Callable
from contextlib import closing
from typing import Annotated, Any, TypeVar

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.states import Cancelled, Completed
from pydantic import Field

from db import backfills
from db.engine import open_database
from flows.lines import load_lines, ocr_lines, split_lines
from flows.local import call
from flows.naming import backfill_name
from flows.opening import CALLER, open_mill
from flows.telling import counted, ending
from flows.waking import BACKFILL, check_drains, wake
from models.backfill import Backfill, FromStage, Plan, Wish
from models.document import DocumentStatus
from models.settings import Settings, get_settings
from models.stage import Outcome
from models.verdict import Verdict
from tasks import backfill as work
from tasks.drain import drain
from tasks.mill import Mill
from tasks.work.custom import find_profile

log = logging.getLogger(__name__)


Jobs = Annotated[int, Field(ge=1, le=1024)]

_ARGS = """
Args:
    source: Path, folder or pattern (* and ?) of a name that the documents stand under.
    documents: Ids of documents.
    status: Only documents that stand so.
    verdict: Only documents that show a page with one of these verdicts.
    finding: Only documents with one of these codes, see `pagemill checks`.
    of_profile: Only documents that show what this profile read.
    of_recipe: Only documents that show what this recipe read; first digits of its hash.
    since: Only documents first seen on this day or later.
    until: Only documents first seen on this day or earlier.
    everything: All documents are meant, should the filters match them all.
    from_stage: First stage that is done again; what is kept of later ones is used.
    profile: OCR profile to read with.
    options: Recipe options, each key=value.
    again: Read also pages that have a good reading under this very recipe.
    promote: Show what comes of it at once instead of leaving it to `pagemill backfill promote`.
    dry_run: Only count documents and pages; the message of the run tells, under Details.
    here: Do the work in this run instead of waking the drains.
    jobs: Worker processes of each kind, with `here`; empty for one per core.
"""

F = TypeVar("F", bound=Callable[..., object])


def _with_args(function: F) -> F:
    """The form's texts: within the function they would take more room than what it does."""
    function.__doc__ = f"{function.__doc__}\n{_ARGS}"
    return function


@flow(name="backfill", flow_run_name=backfill_name, persist_result=False)
@_with_args
def backfill(  # noqa: PLR0917 (a form: filled in by name)
    source: str = "",
    documents: list[int] = [],  # noqa: B006 (Prefect shows the defaults in its form)
    status: list[DocumentStatus] = [],  # noqa: B006
    verdict: list[Verdict] = [],  # noqa: B006
    finding: list[str] = [],  # noqa: B006
    of_profile: str = "",
    of_recipe: str = "",
    since: dt.date | None = None,
    until: dt.date | None = None,
    everything: bool = False,
    from_stage: FromStage = FromStage.OCR,
    profile: str = "ppocr",
    options: list[str] = [],  # noqa: B006
    again: bool = False,
    promote: bool = False,
    dry_run: bool = True,
    here: bool = False,
    jobs: Jobs | None = None,
) -> State[int]:
    """Read known documents again, beside what is shown; the result is the backfill's id, if any."""
    where = {"source": source, "documents": documents, "since": since, "until": until}
    what = {"statuses": status, "verdicts": verdict, "findings": finding, "everything": everything}
    read = {"profile": of_profile, "recipe": of_recipe}
    how = {"profile": profile, "options": options, "start": from_stage, "again": again, "promote": promote}
    wish = Wish.model_validate(how | {"selection": where | what | read})
    planned = plan(wish, is_checked=not dry_run)
    if dry_run:
        return Completed(message=f"Only counted: {_text(planned)}. Nothing was done (dry_run).")
    return start(wish, planned, jobs, here=here)


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


def start(wish: Wish, planned: Plan, jobs: int | None, *, here: bool) -> State[int]:
    """Put the documents into the ledger; then work them off `here`, or wake the drains."""
    log.info("backfill start=%s here=%s continues=%s", wish.start, here, planned.continues)
    caller = CALLER.get()
    profile = find_profile(wish.profile, caller.settings if caller else get_settings())
    if not here:
        reads = wish.start not in {FromStage.VALIDATE, FromStage.LOAD}
        check_drains(profile, BACKFILL, reads=reads)
    with open_mill("backfill", wish.profile, list(wish.options), jobs, reads=here) as (mill, _):
        begun = work.enrol(mill.database, wish, mill.run_id, mill.stopping)
        has_ended = not here or work_off(mill, begun)
        if by := mill.database.run(lambda conn: backfills.get(conn, begun.id)).cancelled_by:
            mill.outcome = Outcome.CANCELLED
            told = f"Backfill {begun.id} was cancelled by {by}. What it had read to its end stays."
            return Cancelled(message=told)
        if here:
            return ending(mill, "backfill", is_stopped=not has_ended, result=begun.id).state
    wake(profile, BACKFILL)
    told = f"Put back: {_text(planned)}. The drains work on them, behind all that is scheduled."
    return Completed(message=told, data=begun.id)


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


def _text(planned: Plan) -> str:
    documents, pages = counted(planned.documents, "document"), counted(planned.pages, "page")
    return f"{documents} with {pages}, {planned.to_read} to be read"
