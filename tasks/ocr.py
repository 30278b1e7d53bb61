"""Stage ocr: one lane that feeds the profile's engine and writes as pages finish."""

from dataclasses import dataclass

from models.errors import DatabaseUnreachable, TransientError
from models.stage import Stage
from tasks.drain import IsOver, Patience
from tasks.feed import Feed
from tasks.mill import Mill
from tasks.policies import perform, stage_task


@dataclass(frozen=True, slots=True)
class OcrLane:
    """Reads pages in one thread; about `limit` of them are one task run.

    Pages are in work across the borders of task runs, so that no tail of one leaves slots empty.
    """

    limit: int
    stage: Stage = Stage.OCR
    lanes: int = 1

    def run(self, mill: Mill, is_over: IsOver, deadline: float) -> None:
        """As tasks.drain.Lane says; pages in hand when the time is up may take half a minute more."""
        feed, patience = Feed(mill, is_over, deadline), Patience(mill, self.stage)
        with mill.bells.listening(self.stage, feed.wake):
            try:
                while feed.goes_on:
                    try:
                        self._go_on(mill, feed)
                    except (TransientError, DatabaseUnreachable) as error:
                        mill.stopping.wait(patience.after(error))
                    else:
                        patience.restore()
            finally:
                feed.finish()

    def _go_on(self, mill: Mill, feed: Feed) -> None:
        """A task run only where there is work for one."""
        if feed.is_idle:
            feed.turn()
        else:
            perform(read_pages, mill, feed, self.limit)


@stage_task(Stage.OCR)
def read_pages(mill: Mill, feed: Feed, limit: int) -> int:  # noqa: ARG001 (Prefect shows whose run it is)
    """Read until `limit` pages have ended or nothing is left; returns how many did.

    Each group of pages that is ready is committed at once: a killed run loses what is in flight, no more.
    """
    before = feed.count
    while feed.goes_on and feed.count - before < limit:
        feed.turn()
    return feed.count - before
