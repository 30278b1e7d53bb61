"""Stage ocr: read page images with the profile's engine, write as pages finish."""

import dataclasses
import datetime as dt
import logging
import time
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

from db import pages, readings, timings
from models.claim import Claim, Failure
from models.engine import OcrRequest
from models.errors import Code, PagemillError, PermanentError
from models.reading import Reading
from models.stage import Stage
from models.timing import StageRun
from models.work import PageResult, PageToRead
from tasks.ledger import failure_of, settle, stage_run
from tasks.mill import Mill
from tasks.policies import perform, stage_task
from tasks.validate import judge

log = logging.getLogger(__name__)

_LOOK_S = 1.0


def ocr_batch(mill: Mill, claims: list[Claim]) -> None:
    """Read the pages of some claims."""
    perform(read_pages, mill, claims)


@stage_task(Stage.OCR)
def read_pages(mill: Mill, claims: list[Claim]) -> int:
    """Read pages; those that look the same as one read before are copied. Returns how many were sent.

    Each group of pages that is ready is committed at once: a killed run loses what is in flight, no more.
    """
    items = mill.database.run(lambda conn: pages.to_read(conn, claims))
    known = mill.database.run(lambda conn: readings.cached(conn, claims))
    copies, futures = [], {}
    for item in items:
        request = _request(mill, item)
        kept = known.get(item.claim.id)
        # With a text layer the answer also depends on that, and equal pictures may have different ones.
        if kept is not None and not request.words:
            reading = dataclasses.replace(kept.reading, seconds=0.0)
            copies.append(judge(item, request, reading, mill.profile, kept.id))
        else:
            futures[mill.engine.submit(request)] = (item, request)
    if copies:
        _commit(mill, copies, [], 0.0)
    sent = len(futures)
    while futures and not mill.stopping.is_set():
        done, _ = wait(futures, timeout=_LOOK_S, return_when=FIRST_COMPLETED)
        _take_in(mill, [(*futures.pop(future), future) for future in done])
    for future in futures:
        future.cancel()
    return sent


def _request(mill: Mill, item: PageToRead) -> OcrRequest:
    recipe = mill.recipe(item.claim.recipe_id)
    return OcrRequest(
        image=item.image,
        path=mill.store.path(item.image.sha256, item.image.suffix),
        width_pt=item.facts.width_pt,
        height_pt=item.facts.height_pt,
        recipe=recipe,
        words=() if recipe.text_layer == "ignore" else item.facts.words,
    )


def _take_in(mill: Mill, done: list[tuple[PageToRead, OcrRequest, Future[Reading]]]) -> None:
    results: list[PageResult] = []
    failures: list[Failure] = []
    started = time.perf_counter()
    for item, request, future in done:
        try:
            reading = future.result()
            results.append(judge(item, request, reading, mill.profile))
        except Exception as error:
            failures.append(failure_of(item.claim, error))
    if results or failures:
        _commit(mill, results, failures, time.perf_counter() - started)


def _commit(mill: Mill, results: list[PageResult], failures: list[Failure], judging_s: float) -> None:
    """As `_write`; a page that the database refuses ends by itself, not the others and not the run."""
    try:
        _write(mill, results, failures, judging_s)
    except PagemillError:
        raise
    except Exception as error:
        log.warning("refused by the database results=%d: %s", len(results), type(error).__name__)
        if len(results) <= 1:
            _write(mill, [], failures + [_refused(result, error) for result in results], 0.0)
            return
        for result in results:
            _commit(mill, [result], [], judging_s / len(results))
        _write(mill, [], failures, 0.0)


def _write(mill: Mill, results: list[PageResult], failures: list[Failure], judging_s: float) -> None:
    """Readings, findings, timings and claims of some pages in one transaction."""
    runs = []
    for result in results:
        is_cached = int(result.cached_from is not None)
        runs.append(stage_run(mill, result.claim, result.reading.seconds, cached=is_cached))
        runs.append(_judging(runs[-1], judging_s / len(results)))

    def commit(conn: Any) -> None:
        readings.save(conn, results)
        timings.record(conn, mill.run_id, runs)
        settle(mill, conn, failures)

    mill.database.run(commit)


def _refused(result: PageResult, error: Exception) -> Failure:
    """Without the driver's words: they quote the page."""
    kind = type(getattr(error, "orig", error)).__name__
    return Failure(
        result.claim,
        PermanentError(f"The database refused what was read on this page ({kind}).", Code.INTERNAL),
    )


def _judging(reading: StageRun, seconds: float) -> StageRun:
    """Validate begins where ocr ends and waits for nobody."""
    return dataclasses.replace(
        reading,
        stage=Stage.VALIDATE,
        ready_at=reading.ended_at,
        started_at=reading.ended_at,
        ended_at=reading.ended_at + dt.timedelta(seconds=seconds),
        seconds=seconds,
    )
