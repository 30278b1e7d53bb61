"""What a run leaves on Prefect's screen: a table of its stages and a list of what failed."""

import logging
from collections.abc import Sequence
from typing import Any

import httpx
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.context import FlowRunContext
from prefect.exceptions import PrefectException

from db import outcomes
from models.outcome import FailedWork, StageOutcome
from models.text import printable
from tasks.mill import Mill

log = logging.getLogger(__name__)

_MOST = 200
_AGAIN = "Read them again: `pagemill backfill --status failed --status partial`. More: `pagemill status`."


def tell(mill: Mill, kind: str) -> None:
    """Publish what the run did, when it is a flow run. A screen that cannot be reached stops no run."""
    if FlowRunContext.get() is None:
        return
    worked = mill.database.run(lambda conn: outcomes.stages(conn, mill.run_id))
    failed = mill.database.run(lambda conn: outcomes.failures(conn, mill.run_id, _MOST))
    try:
        if worked:
            create_table_artifact(
                table=[_row(outcome) for outcome in worked],
                key=f"{kind}-stages",
                description=f"Stages of run {mill.run_id}. More: pagemill timings",
            )
        if failed:
            create_markdown_artifact(
                markdown=failures_text(failed), key=f"{kind}-failures", description=f"Run {mill.run_id}"
            )
    except (PrefectException, httpx.HTTPError) as error:
        log.warning("artifacts of run=%d not published: %s", mill.run_id, type(error).__name__)


def failures_text(failed: Sequence[FailedWork]) -> str:
    """Document, page, code and what happened, as Markdown; names and messages cannot break its table."""
    lines = ["| document | page | code | what happened |", "| --- | --- | --- | --- |"]
    lines += [
        f"| {work.document_id} {_cell(work.name)} | {work.page_no or 'all'} | `{work.code}` "
        f"| {_cell(work.message)} |"
        for work in failed
    ]
    more = ["", f"Only the first {_MOST} are shown."] if len(failed) >= _MOST else []
    return "\n".join([*lines, *more, "", _AGAIN])


def _row(outcome: StageOutcome) -> dict[str, Any]:
    return {
        "stage": outcome.stage.value,
        "documents": outcome.documents,
        "pages": outcome.pages,
        "cached": outcome.cached,
        "failed": outcome.failed,
        "p50 s a page": None if outcome.page_p50_s is None else round(outcome.page_p50_s, 3),
        "p95 s a page": None if outcome.page_p95_s is None else round(outcome.page_p95_s, 3),
        "pages a second": round(outcome.pages_per_s, 2),
    }


def _cell(text: str) -> str:
    return printable(text).replace("|", "\\|")
