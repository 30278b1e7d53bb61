"""Read pages again that a person asked for, by the same drains as all else, and show what came of it."""

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

from db import retries
from db.engine import open_database
from flows.lines import ocr_lines, split_lines
from flows.opening import CALLER, Caller, open_mill
from models.review import Asked, Decision, PageRef, Retried
from models.settings import Settings
from models.stage import Stage
from tasks import retries as work
from tasks.drain import drain
from tasks.mill import Mill
from tasks.work.custom import find_profile

log = logging.getLogger(__name__)

_LOOK_S = 0.5


def retry(
    settings: Settings,
    pages: Sequence[PageRef],
    decision: Decision,
    *,
    profile: str | None = None,
    options: Sequence[str] = (),
    over_edit: bool = False,
    here: bool = True,
    jobs: int | None = None,
) -> tuple[Retried, ...]:
    """Read pages again and wait for it; the other pages of their documents are not touched.

    With the recipe that is shown, or with `profile` and `options`. Done in this process, or by the drains of
    a Prefect server unless `here`. What was read is shown unless what is shown now is better. Raises as
    `tasks.retries.begin`, `flows.opening.open_mill` and `flows.waking.check_drains`.
    """
    with closing(open_database(settings)) as database:
        groups = work.by_profile(database, pages)
    if profile or options:
        groups = {profile or next(iter(groups)): list(pages)}
    if not here:
        # With Prefect's client.
        from flows.waking import SCHEDULED, check_drains  # noqa: PLC0415

        for name in groups:
            check_drains(find_profile(name, settings), SCHEDULED)
    done: list[Retried] = []
    token = CALLER.set(Caller(settings, lambda _: None, threading.Event()))
    try:
        for name, refs in groups.items():
            with open_mill("review", name, list(options), jobs, reads=here) as (mill, recipe_id):
                chosen = recipe_id if profile or options else None
                asked = work.begin(mill.database, refs, decision, mill.run_id, chosen, over_edit=over_edit)
                _read(mill, asked, here=here)
                done += work.finish(mill.database, settings, asked, decision.person)
    finally:
        CALLER.reset(token)
    return tuple(done)


def _read(mill: Mill, asked: Sequence[Asked], *, here: bool) -> None:
    log.info("review run=%d pages=%d here=%s", mill.run_id, len(asked), here)
    if here:
        with _stopped_after(mill, asked):
            lines = [line for line in split_lines() if line.stage is Stage.PREPROCESS]
            drain(mill, [*lines, *ocr_lines(mill.profile)], lambda: not _is_busy(mill, asked))
        return
    from flows.waking import SCHEDULED, wake  # noqa: PLC0415

    wake(mill.profile, SCHEDULED)
    while _is_busy(mill, asked) and not mill.stopping.wait(_LOOK_S):
        pass


@contextmanager
def _stopped_after(mill: Mill, asked: Sequence[Asked]) -> Iterator[None]:
    """Stop the drain once these pages are read: other work of the profile is none of this run's."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_LOOK_S):
            if not _is_busy(mill, asked):
                mill.stopping.set()
                return

    thread = threading.Thread(target=watch, name="retries", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _is_busy(mill: Mill, asked: Sequence[Asked]) -> bool:
    return mill.database.run(lambda conn: retries.is_busy(conn, asked))
