"""Keep what a drain has read: readings, attempts, timings and claims of a group in one transaction."""

import dataclasses
import datetime as dt
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from db import attempts, claims, readings, timings
from models.attempt import Attempt
from models.claim import Failure
from models.errors import Code, PagemillError, PermanentError
from models.stage import Stage
from models.timing import StageRun
from models.verdict import Verdict
from models.work import PageResult
from tasks.hand import PageInHand, Tried
from tasks.ledger import settle, stage_run
from tasks.mill import Mill

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ended:
    """A page whose tries are over: with a reading or with a failure, what it took, and the tries to keep."""

    result: PageResult | None = None
    failure: Failure | None = None
    seconds: float = 0.0
    """Of the engine, over all tries."""
    judging_s: float = 0.0
    tokens: tuple[int, int] = (0, 0)
    """Read and written by the model, over all tries."""
    attempts: tuple[Attempt, ...] = ()


def ended(page: PageInHand) -> Ended:
    """The page with its best try; a page that was never read fails with its last error."""
    best = page.best()
    seconds = sum(tried.seconds for tried in page.tries)
    judging_s = sum(tried.judging_s for tried in page.tries)
    tokens = _tokens(page)
    is_single = len(page.tries) == 1
    kept = () if is_single else tuple(_attempt(page, place, best) for place in range(len(page.tries)))
    if best.result is None:
        error = page.tries[-1].error or PermanentError("The page was never read.", Code.INTERNAL)
        return Ended(None, Failure(page.item.claim, error), seconds, judging_s, tokens, kept)
    trial = best.result.reading.trial or (best.request.trial if best.step.number else None)
    reading = dataclasses.replace(best.result.reading, attempts=len(page.tries), trial=trial)
    return Ended(dataclasses.replace(best.result, reading=reading), None, seconds, judging_s, tokens, kept)


def _tokens(page: PageInHand) -> tuple[int, int]:
    readings = [tried.result.reading for tried in page.tries if tried.result is not None]
    return sum(one.tokens_in or 0 for one in readings), sum(one.tokens_out or 0 for one in readings)


def _attempt(page: PageInHand, place: int, best: Tried) -> Attempt:
    """A try whose answer was not kept keeps it here."""
    tried = page.tries[place]
    failed = Attempt(
        claim=page.item.claim,
        number=place + 1,
        profile=tried.profile,
        trial=tried.request.trial,
        verdict=Verdict.BAD,
        codes=tried.codes,
        finish_reason="",
        seconds=tried.seconds,
    )
    if tried.result is None:
        return failed
    reading = tried.result.reading
    answer = reading.text if reading.raw is None else reading.raw
    return dataclasses.replace(
        failed,
        trial=reading.trial or tried.request.trial,
        verdict=tried.result.verdict,
        finish_reason=reading.finish_reason.value,
        tokens_in=reading.tokens_in,
        tokens_out=reading.tokens_out,
        raw=None if tried is best else answer,
        is_kept=tried is best,
    )


def keep(mill: Mill, pages: Sequence[Ended]) -> None:
    """Commit pages together; one that the database refuses ends by itself, not the others and not the run."""
    try:
        _write(mill, pages)
    except PagemillError:
        raise
    except Exception as error:
        log.warning("refused by the database pages=%d: %s", len(pages), type(error).__name__)
        if len(pages) > 1:
            for page in pages:
                keep(mill, [page])
        elif pages[0].result is not None:
            _write(mill, [Ended(failure=_refused(pages[0].result, error))])
        else:
            raise


def _write(mill: Mill, pages: Sequence[Ended]) -> None:
    results = [page.result for page in pages if page.result is not None]
    failures = [page.failure for page in pages if page.failure is not None]
    tries = [attempt for page in pages for attempt in page.attempts]
    runs = [run for page in pages if page.result is not None for run in _runs(mill, page, page.result)]

    def commit(conn: Any) -> None:
        ours = readings.save(conn, results) | claims.held(conn, [failure.claim for failure in failures])
        attempts.save(conn, mill.run_id, [one for one in tries if one.claim.id in ours])
        timings.record(conn, mill.run_id, runs)
        settle(mill, conn, failures)

    mill.database.run(commit)


def _runs(mill: Mill, page: Ended, result: PageResult) -> tuple[StageRun, StageRun]:
    """Of ocr and of validate, which begins where ocr ends and waits for nobody."""
    is_cached = int(result.cached_from is not None)
    read = stage_run(mill, result.claim, page.seconds, cached=is_cached, tokens=page.tokens)
    judged = dataclasses.replace(
        read,
        stage=Stage.VALIDATE,
        ready_at=read.ended_at,
        started_at=read.ended_at,
        ended_at=read.ended_at + dt.timedelta(seconds=page.judging_s),
        seconds=page.judging_s,
        tokens_in=0,
        tokens_out=0,
    )
    return read, judged


def _refused(result: PageResult, error: Exception) -> Failure:
    """Without the driver's words: they quote the page."""
    kind = type(getattr(error, "orig", error)).__name__
    return Failure(
        result.claim,
        PermanentError(f"The database refused what was read on this page ({kind}).", Code.INTERNAL),
    )
