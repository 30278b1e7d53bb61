"""Flow backfill: put known documents back to a stage, behind all scheduled work, and wake the drains."""

import datetime as dt
from collections.abc import Callable
from typing import Annotated, TypeVar

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.states import Completed
from pydantic import Field

from flows.backfilling import plan, start, told_of
from flows.naming import backfill_name
from models.backfill import FromStage, Wish
from models.document import DocumentStatus
from models.verdict import Verdict

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
        return Completed(message=f"Only counted: {told_of(planned)}. Nothing was done (dry_run).")
    return start(wish, planned, jobs, here=here).state
