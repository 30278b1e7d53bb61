"""What a run leaves on Prefect's screen: how it ended, a table of its stages, and a list of what failed."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from db import outcomes
from models.errors import PASSING, Code
from models.outcome import FailedWork, StageOutcome, Tally
from models.stage import Outcome
from models.text import printable
from tasks.mill import Mill
from tasks.policies import flow_run_context

if TYPE_CHECKING:
    from prefect.client.schemas.objects import State

log = logging.getLogger(__name__)

PARTIAL = "PartiallyDone"
"""Name of the state of a run that lost some of its pages, documents or files."""

_VERBS = {"split": "prepared"}
_MOST = 200


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended, and what is said of it; `result` is the run's id, unless another was given."""

    outcome: Outcome
    told: str
    result: int

    @property
    def state(self) -> "State[int]":
        """As Prefect's state.

        Completed, with what was done. PartiallyDone, of the same type, where some of it was lost: the rest is
        there, trying the whole run again would change nothing, and what was lost is in the list of failures.
        Failed where all of it was lost, so that whoever watches for failed runs is called. Cancelled where it
        was stopped before its end.
        """
        # With Prefect, which runs without a server go without.
        from prefect.states import Cancelled, Completed, Failed  # noqa: PLC0415

        if self.outcome is Outcome.CANCELLED:
            return Cancelled(message=self.told)
        if self.outcome is Outcome.FAILED:
            return Failed(message=self.told)
        name = PARTIAL if self.outcome is Outcome.PARTIAL else None
        return Completed(name=name, message=self.told, data=self.result)


def ending(mill: Mill, kind: str, *, is_stopped: bool = False, result: int | None = None) -> Ending:
    """How a run of `kind` ends; the ledger is told the same."""
    tally = mill.database.run(lambda conn: outcomes.tally(conn, mill.run_id))
    told = tally_text(tally, _VERBS.get(kind, "read"))
    log.info("run=%d kind=%s: %s", mill.run_id, kind, told)
    if is_stopped:
        mill.outcome = Outcome.CANCELLED
        told = f"Stopped before its end. {told} What is left waits for the next run."
    elif tally.is_lost:
        mill.outcome = Outcome.FAILED
    else:
        mill.outcome = Outcome.OK if tally.is_whole else Outcome.PARTIAL
    return Ending(mill.outcome, told, mill.run_id if result is None else result)


def tally_text(tally: Tally, verb: str) -> str:
    """What a run came to as a sentence, pages first."""
    parts = [_pages_text(tally, verb)] if tally.pages else []
    if tally.loaded and not tally.pages:
        parts = [f"{counted(tally.loaded, 'document')} loaded"]
    if tally.lost_documents:
        parts.append(f"{tally.lost_documents} of {counted(tally.documents, 'document')} failed or refused")
    if tally.unread:
        parts.append(f"{counted(tally.unread, 'file')} could not be taken")
    if parts:
        return f"{', '.join(parts)}."
    return _nothing_text(tally)


def _nothing_text(tally: Tally) -> str:
    if tally.listed is None:
        return "There was nothing to do."
    return f"Nothing new among {counted(tally.listed, 'file')}."


def _pages_text(tally: Tally, verb: str) -> str:
    done = tally.pages - tally.lost_pages
    pages = f"{done} of {tally.pages} pages" if tally.lost_pages else counted(tally.pages, "page")
    cached = f" ({tally.cached} of them known from before)" if tally.cached else ""
    return f"{pages} of {counted(tally.documents - tally.lost_documents, 'document')} {verb}{cached}"


def counted(number: int, noun: str) -> str:
    """A number and its noun, one or many."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def tell(mill: Mill, kind: str) -> None:
    """Publish what the run did, when it is a flow run. A screen that cannot be reached stops no run."""
    if flow_run_context() is None:
        return
    import httpx  # noqa: PLC0415 (with Prefect)
    from prefect.artifacts import create_markdown_artifact, create_table_artifact  # noqa: PLC0415
    from prefect.exceptions import PrefectException  # noqa: PLC0415

    worked = mill.database.run(lambda conn: outcomes.stages(conn, mill.run_id))
    failed = mill.database.run(lambda conn: outcomes.failures(conn, mill.run_id, _MOST))
    try:
        if worked:
            create_table_artifact(
                table=[row_of(outcome) for outcome in worked],
                key=f"{kind}-stages",
                description=f"Run {mill.run_id}. Seconds (s) are of one page. More: pagemill timings",
            )
        if failed:
            create_markdown_artifact(
                markdown=failures_text(failed),
                key=f"{kind}-failures",
                description=f"Lost in run {mill.run_id}",
            )
    except (PrefectException, httpx.HTTPError) as error:
        log.warning("artifacts of run=%d not published: %s", mill.run_id, type(error).__name__)


def failures_text(failed: Sequence[FailedWork]) -> str:
    """Document, page, code, what happened and what to do; names and messages cannot break the table."""
    lines = ["| document | page | code | what happened | what to do |", "| --- | --- | --- | --- | --- |"]
    lines += [
        f"| {work.document_id} {_cell(work.name)} | {work.page_no or 'all'} | `{work.code}` "
        f"| {_cell(work.message)} | {remedy_of(work)} |"
        for work in failed
    ]
    more = ["", f"Only the first {_MOST} are shown."] if len(failed) >= _MOST else []
    return "\n".join([*lines, *more, "", "More: `pagemill status`, `pagemill report`."])


def remedy_of(work: FailedWork) -> str:
    """What a person can do about it."""
    if work.code in PASSING:
        return "Nothing: the next ingest tries it again."
    if work.page_no:
        return f"`pagemill review retry {work.document_id}:{work.page_no}`"
    if work.code == Code.NEEDS_PASSWORD:
        return "Add its password, ingest it again."
    return f"Put a good copy in its place, or try again: `pagemill backfill --doc {work.document_id} --go`"


def row_of(outcome: StageOutcome) -> dict[str, Any]:
    """A row of the table of stages; what failed are pages, or documents where the stage has no pages."""
    return {
        "stage": outcome.stage.value,
        "documents": outcome.documents,
        "pages": outcome.pages,
        "ok": outcome.ok,
        "failed": outcome.failed,
        "cached": outcome.cached,
        "p50 s": None if outcome.page_p50_s is None else round(outcome.page_p50_s, 3),
        "p95 s": None if outcome.page_p95_s is None else round(outcome.page_p95_s, 3),
        "pages/s": round(outcome.pages_per_s, 2),
    }


def _cell(text: str) -> str:
    return printable(text).replace("|", "\\|")
