"""Flow ingest: from folders to the knowledge base, all stages overlapping in one run."""

import contextvars
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Annotated

from prefect import flow
from prefect.client.schemas.objects import State
from pydantic import Field

from flows.naming import run_name
from flows.opening import CALLER, give_engine, open_mill
from flows.telling import ending
from models.intake import ScanRules
from models.settings import get_settings
from models.stage import Stage
from tasks import scan
from tasks.drain import SHORTEST_PAUSE_S, drain, longer
from tasks.mill import Mill
from tasks.register import register_roots

Place = Annotated[str, Field(min_length=1, max_length=4_096)]
Option = Annotated[str, Field(pattern=r"^\w+=", max_length=4_096)]

_RULES = ScanRules()


@flow(name="ingest", flow_run_name=run_name("ingest"), persist_result=False)
def ingest(
    paths: Annotated[list[Place], Field(max_length=1_000)],
    profile: Annotated[str, Field(min_length=1, max_length=100)] = "ppocr",
    options: Annotated[list[Option], Field(max_length=100)] = [],  # noqa: B006 (shown in Prefect's form)
    *,
    jobs: Annotated[int, Field(ge=1, le=256)] | None = None,
    settle_s: Annotated[float, Field(ge=0, le=86_400)] | None = None,
    gone_share: Annotated[float, Field(ge=0, le=1)] | None = None,
    follow_links: bool = False,
) -> State[int]:
    """Scan folders and read what is new; its result is the id of the run. Work that is left is done, too.

    Args:
        paths: Folders and files to read: absolute paths of the worker's machine, or URLs like
            s3://bucket/folder.
        profile: OCR profile, see `pagemill profiles`.
        options: Recipe options, each key=value.
        jobs: Worker processes of each kind; empty for one per core.
        settle_s: Leave files to the next scan that were changed less than so many seconds ago; empty for
            PAGEMILL_SETTLE_S (10), 0 takes all at once.
        gone_share: Stop, and change nothing, where a larger share of a folder's known files is gone, from 0
            to 1; empty for PAGEMILL_GONE_SHARE (0.5), 1 lets all go.
        follow_links: Follow symbolic links below the folders, each folder once.
    """
    caller = CALLER.get()
    settings = caller.settings if caller else get_settings()
    roots = scan.roots_of(settings, paths)
    rules = ScanRules(
        settle_s=settings.settle_s if settle_s is None else settle_s,
        gone_share=settings.gone_share if gone_share is None else gone_share,
        follows_links=follow_links,
        # Who waits for a run wants to see every document of it.
        lists_all=caller is not None,
    )
    # Whoever waits for a run wants to hear at once that it cannot read; a scan by the clock seldom has to.
    with open_mill("ingest", profile, options, jobs, reads=caller is not None) as (mill, recipe_id):
        has_ended = work_off(mill, roots, recipe_id, rules)
        return ending(mill, "ingest", is_stopped=not has_ended)


def work_off(mill: Mill, roots: Sequence[Path | str], recipe_id: int, rules: ScanRules = _RULES) -> bool:
    """Register `roots` and drain all stages meanwhile, until no work of the mill's profile is left.

    False when the mill was stopped before. What stopped the scan is raised when the work that earlier runs
    left is done.
    """
    has_ended = True
    with ThreadPoolExecutor(1, thread_name_prefix="scan") as scanner:
        context = contextvars.copy_context()
        scanned = scanner.submit(context.run, register_roots, mill, roots, recipe_id, rules)
        try:
            if _finds_work(mill, scanned):
                has_ended = _drain(mill, lambda: scanned.done() and is_done(mill))
        except BaseException:
            # A worker that ends this run waits half a minute at most; the scan is to hear of it.
            mill.stopping.set()
            raise
    scanned.result()
    return has_ended


def is_done(mill: Mill) -> bool:
    """Whether no work of this mill's profile is left, in anybody's hands."""
    return mill.outstanding(list(Stage)) == 0


def _finds_work(mill: Mill, scanned: "Future[None]") -> bool:
    """As soon as there is something to do, or when the scan is over."""
    pause = SHORTEST_PAUSE_S
    while not wait([scanned], pause).done:
        if not is_done(mill):
            return True
        pause = longer(pause)
    return not is_done(mill)


def _drain(mill: Mill, is_over: Callable[[], bool]) -> bool:
    """Work off all stages with what help there is; reading is left to others where only they can."""
    # With its libraries for documents: most scans by the clock find nothing new, and spare these seconds.
    from flows.helping import helped, is_read_elsewhere  # noqa: PLC0415
    from flows.lines import load_lines, ocr_lines, split_lines  # noqa: PLC0415

    lines = [*split_lines(), *load_lines()]
    if is_read_elsewhere(mill):
        with helped(mill, worth=1):
            return drain(mill, lines, is_over)
    give_engine(mill)
    with helped(mill):
        return drain(mill, [*lines, *ocr_lines(mill.profile)], is_over)
