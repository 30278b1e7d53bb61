"""What a batch enters in the ledger besides its results: failures, by error family, and time spent."""

import datetime as dt
import logging
import random
from collections.abc import Sequence

import sqlalchemy as sa

from db import claims, timings
from models.claim import Claim, Failure
from models.errors import Code, PagemillError, PermanentError, TransientError
from models.stage import Outcome, Stage
from models.timing import StageRun
from tasks.mill import Mill

log = logging.getLogger(__name__)

_CRASHES = {Code.WORKER_DIED, Code.SPLIT_CRASH, Code.RENDER_CRASH, Code.OCR_CRASH}


def settle(mill: Mill, connection: sa.Connection, failures: Sequence[Failure]) -> None:
    """Enter failed work, inside the batch's transaction: tried again later, or ended with its reason.

    A transient error is tried again after the stage's delay until its tries are used up; a worker's death
    counts as a crash of the work that was in flight. A page whose picture is gone goes back to have it made.
    """
    for failure in failures:
        claim, error = failure.claim, failure.error
        log.info("failed claim=%d stage=%s try=%d code=%s", claim.id, claim.stage, claim.attempt, error.code)
        timings.record(connection, mill.run_id, [failed_run(mill, failure)])
        if error.code is Code.PICTURE_GONE:
            claims.advance(connection, [claim], Stage.PREPROCESS)
            continue
        if not will_retry(mill, failure):
            claims.fail(connection, [failure])
            continue
        claims.retry(
            connection,
            [failure],
            _delay(mill, failure),
            is_crash=error.code in _CRASHES,
            max_crashes=mill.settings.max_crashes,
        )


def will_retry(mill: Mill, failure: Failure) -> bool:
    """Whether a failed piece of work is tried again: transient, and tries left."""
    tries = mill.settings.retry.of(failure.claim.stage).attempts
    return isinstance(failure.error, TransientError) and failure.claim.attempt < tries


def _delay(mill: Mill, failure: Failure) -> float:
    return mill.settings.retry.of(failure.claim.stage).delay(failure.claim.attempt, random.random())  # noqa: S311


def is_of_machine(error: PagemillError) -> bool:
    """Whether the store is at fault: full, not to be written, or gone.

    All other work would fare alike. It is raised instead of settled, so that no work loses a try by it.
    """
    return error.code in {Code.STORE_FULL, Code.HOME_UNWRITABLE}


def failure_of(claim: Claim, error: BaseException) -> Failure:
    """A failure in our terms; an error that nobody foresaw is a permanent one of code internal.

    An interrupt is no failure of the work and is raised again.
    """
    if isinstance(error, PagemillError):
        return Failure(claim, error)
    if not isinstance(error, Exception):
        raise error
    log.error("unforeseen claim=%d stage=%s", claim.id, claim.stage, exc_info=error)
    return Failure(claim, PermanentError(f"{type(error).__name__}: {error}", Code.INTERNAL))


def stage_run(
    mill: Mill,
    claim: Claim,
    seconds: float,
    *,
    pages: int = 1,
    cached: int = 0,
    tokens: tuple[int, int] = (0, 0),
) -> StageRun:
    """Work on one claim that went well and ends now, after `seconds` of work; `tokens` in and out."""
    now = max(mill.now(), claim.leased_at)
    return StageRun(
        document_id=claim.document_id,
        stage=claim.stage,
        attempt=claim.attempt,
        ready_at=claim.ready_at,
        started_at=max(claim.leased_at, now - dt.timedelta(seconds=seconds)),
        ended_at=now,
        seconds=seconds,
        pages=pages,
        cached=cached,
        worker=mill.owner,
        tokens_in=tokens[0],
        tokens_out=tokens[1],
    )


def failed_run(mill: Mill, failure: Failure) -> StageRun:
    """Work that failed: its time is counted from the lease on, since nobody measured it."""
    claim = failure.claim
    now = max(mill.now(), claim.leased_at)
    return StageRun(
        document_id=claim.document_id,
        stage=claim.stage,
        attempt=claim.attempt,
        ready_at=claim.ready_at,
        started_at=claim.leased_at,
        ended_at=now,
        seconds=0.0,
        pages=1 if claim.page_no else 0,
        outcome=Outcome.RETRY if will_retry(mill, failure) else Outcome.FAILED,
        code=failure.error.code.value,
        worker=mill.owner,
    )
