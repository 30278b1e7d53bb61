"""What flow ingest does, with Prefect or without: register what is new, and drain all stages meanwhile."""

import contextvars
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from flows.opening import CALLER, give_engine, open_mill
from flows.telling import Ending, ending
from models.intake import ScanRules
from models.settings import get_settings
from models.stage import Stage
from tasks import scan
from tasks.drain import SHORTEST_PAUSE_S, drain, longer
from tasks.mill import Mill
from tasks.policies import flow_run_context
from tasks.register import register_roots

_RULES = ScanRules()


@dataclass(frozen=True, slots=True)
class Wish:
    """How folders are looked through; None for what the settings say."""

    settle_s: float | None = None
    gone_share: float | None = None
    follows_links: bool = False


def read_in(
    paths: Sequence[str], profile: str, options: Sequence[str], jobs: int | None, wish: Wish
) -> Ending:
    """Scan folders and read what is new; how that ended. Work that is left is done, too.

    Raises as `scan.roots_of`, `flows.opening.open_mill` and what stopped the scan or a stage for good.
    """
    caller = CALLER.get()
    settings = caller.settings if caller else get_settings()
    roots = scan.roots_of(settings, paths)
    rules = ScanRules(
        settle_s=settings.settle_s if wish.settle_s is None else wish.settle_s,
        gone_share=settings.gone_share if wish.gone_share is None else wish.gone_share,
        follows_links=wish.follows_links,
        # Who waits for a run wants to see every document of it.
        lists_all=caller is not None,
    )
    # Whoever waits for a run wants to hear at once that it cannot read; a scan by the clock seldom has to.
    with open_mill("ingest", profile, list(options), jobs, reads=caller is not None) as (mill, recipe_id):
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
    from flows.lines import load_lines, ocr_lines, split_lines  # noqa: PLC0415

    lines = [*split_lines(), *load_lines()]
    if flow_run_context() is None:
        give_engine(mill)
        return drain(mill, [*lines, *ocr_lines(mill.profile)], is_over)
    # With Prefect's client, which runs without a server go without.
    from flows.helping import helped, is_read_elsewhere  # noqa: PLC0415

    if is_read_elsewhere(mill):
        with helped(mill, worth=1):
            return drain(mill, lines, is_over)
    give_engine(mill)
    with helped(mill):
        return drain(mill, [*lines, *ocr_lines(mill.profile)], is_over)
