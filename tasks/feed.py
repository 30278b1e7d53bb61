"""The feed of an OCR engine: keeps it full, page after page, whatever batches they were claimed in."""

import logging
import math
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from queue import Empty, SimpleQueue

from db import pages, readings
from models.reading import Reading
from models.stage import Stage
from tasks.desk import Desk
from tasks.drain import SHORTEST_PAUSE_S, IsOver, longer
from tasks.hand import PageInHand
from tasks.keeping import keep
from tasks.ladder import Made
from tasks.mill import Mill

log = logging.getLogger(__name__)

_LOOK_S = 0.2
"""Longest wait at once: a stop is heard within it."""
_GROUP_S, _GROUP_PAGES = 0.5, 64
"""Pages that end within this time are committed together, unless there are so many."""
_EVENTS_A_TURN = 16
"""Few, so that free slots are filled before all answers of a burst are judged."""
_MOST_WORDS = 200_000
"""Of text layers in hand: a word takes about 350 bytes."""
_RETRY_SHARE = 8
"""While pages wait that were never read, tries beyond the first get one slot of so many."""
_GRACE_S = 30.0
"""After the time is up, pages that are being read may take so much longer."""
_TOLD_EVERY_S = 10.0
_TOLD_PAGES = 3


class Feed:
    """Pages of one drain from claim to commit. All but `wake` belongs to one thread.

    It claims ahead of the engine's slots, whose number may change meanwhile, sends a page as soon as another
    has ended, lets pages that read badly climb the ladder behind the others, and commits in groups.
    """

    def __init__(self, mill: Mill, is_over: IsOver, deadline: float = math.inf) -> None:
        self.count = 0
        """Pages that have ended and are committed."""
        self._mill, self._is_over, self._deadline = mill, is_over, deadline
        self._events: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._desk = Desk(mill, self._when_made)
        self._hand = self._desk.hand
        self._group_at = math.inf
        self._pause_s, self._ask_at = SHORTEST_PAUSE_S, 0.0
        self._told_at = time.monotonic()
        self._is_done = False

    @property
    def goes_on(self) -> bool:
        """Whether there is, or may soon be, something to do."""
        return not self._is_done and not self._mill.stopping.is_set()

    @property
    def is_idle(self) -> bool:
        """Whether no page is in hand."""
        return not len(self._hand)

    def wake(self) -> None:
        """There may be new work in the ledger. Called in any thread."""
        self._events.put(self._ask_now)

    def turn(self) -> None:
        """Claim and send what there is room for, take in what is done, commit what is due."""
        self._claim()
        self._send()
        self._take_in()
        self._desk.expire()
        self._commit()
        self._tell()

    def finish(self) -> None:
        """Keep what has been read, then close engines and open requests; the mill gives the rest back."""
        self._desk.goes_on = False
        self._group_at = 0.0
        self._take_in()
        self._commit()
        self._mill.close_engines()

    def _claim(self) -> None:
        now = time.monotonic()
        if now >= self._deadline:
            self._desk.goes_on = False
            is_late = now >= self._deadline + _GRACE_S
            self._is_done = is_late or not (self._hand.flying or self._hand.preparing)
        elif self._has_room() and now >= self._ask_at and not self._take_more():
            self._pause_s = longer(self._pause_s)
            self._ask_at = now + self._pause_s
            self._is_done = self.is_idle and not self._desk.ended and self._is_over()

    def _has_room(self) -> bool:
        slots, ahead = self._mill.engine.slots, self._ahead
        is_hungry = len(self._hand.fresh) < ahead and self._hand.words < _MOST_WORDS
        return is_hungry and len(self._hand) < 4 * (slots + ahead)

    @property
    def _ahead(self) -> int:
        """Pages beyond the slots: what the engine begins while this thread judges and commits."""
        return max(2, self._mill.engine.slots // 4)

    def _take_more(self) -> bool:
        """Claim a batch; False when there is none."""
        mill = self._mill
        claims = mill.claim(Stage.OCR, mill.profile.batch_pages)
        if not claims:
            return False
        self._pause_s, self._ask_at = SHORTEST_PAUSE_S, 0.0
        items, known = mill.database.run(
            lambda conn: (pages.to_read(conn, claims), readings.cached(conn, claims))
        )
        for item in items:
            self._desk.lay_out(item, known.get(item.claim.id))
        return True

    def _send(self) -> None:
        if not self._desk.goes_on:
            return
        slots = self._mill.engine.slots
        most_retries = max(1, slots // _RETRY_SHARE)
        while self._hand.sent < slots + self._ahead and (page := self._hand.next_to_send(most_retries)):
            engine = page.engine or self._mill.engine
            futures = [engine.submit(part) for part in page.parts]
            self._hand.fly(page, futures)
            for future in futures:
                future.add_done_callback(partial(self._when_answered, page))

    def _when_answered(self, page: PageInHand, future: Future[Reading]) -> None:
        self._events.put(partial(self._desk.answered, page, future))

    def _when_made(self, page: PageInHand, future: Future[Made]) -> None:
        self._events.put(partial(self._desk.made, page, future))

    def _ask_now(self) -> None:
        self._ask_at = 0.0

    def _take_in(self) -> None:
        """Wait until something is done or due, and take in what is."""
        now = time.monotonic()
        due = min(now + _LOOK_S, self._group_at, self._ask_at if self._has_room() else math.inf)
        try:
            self._events.get(timeout=max(0.0, due - now))()
            for _ in range(_EVENTS_A_TURN):
                self._events.get_nowait()()
        except Empty:
            return

    def _commit(self) -> None:
        """Commit what has ended: when it is much, has waited, or nothing more is under way."""
        ended, now = self._desk.ended, time.monotonic()
        if not ended:
            return
        self._group_at = min(self._group_at, now + _GROUP_S)
        if now >= self._group_at or len(ended) >= _GROUP_PAGES or not self._hand.sent:
            keep(self._mill, ended)
            self.count += len(ended)
            ended.clear()
            self._group_at, self._told_at = math.inf, now
            if self.is_idle:
                # Documents are loaded soon enough as lanes look; nobody is to wait for the last one.
                self._mill.bells.worked(Stage.OCR)

    def _tell(self) -> None:
        """When nothing has ended for a while, say which pages take so long."""
        now = time.monotonic()
        if not self._hand.flying or now < self._told_at + _TOLD_EVERY_S:
            return
        self._told_at = now
        longest = sorted(self._hand.flying, key=lambda page: page.sent_at or now)[:_TOLD_PAGES]
        told = ", ".join(
            f"document={page.item.claim.document_id} page={page.item.claim.page_no} "
            f"step={page.step.name} {page.elapsed_s:.0f} s"
            for page in longest
        )
        log.info("reading pages=%d, longest: %s", len(self._hand.flying), told)
