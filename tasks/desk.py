"""The desk of an OCR drain: what becomes of answers. Judged, tried again on the ladder, or ended."""

import logging
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import replace

from models.engine import OcrRequest
from models.errors import Code, EngineUnavailable, EnvironmentFault, PageFailed, PagemillError, TransientError
from models.reading import Reading
from models.work import CachedReading, PageToRead
from tasks.hand import Hand, PageInHand, Tried
from tasks.keeping import Ended, ended
from tasks.ladder import Ladder, Made
from tasks.ledger import failure_of
from tasks.mill import Mill
from tasks.requests import request_of
from tasks.validate import judge
from tasks.work.custom import find_profile
from tasks.work.ladder import FIRST, Step

log = logging.getLogger(__name__)

WHOLE = "whole"
"""Step of a page that was to be asked by regions and was not: it has but one, or could not be cut."""
LAYER = Step(0, "text-layer")
"""First try at a page whose text layer is preferred to a served model."""
_LEAST_SILENCE_S = 60.0
_LOOK_S = 0.5
"""Between two looks for pages whose time is up."""

WhenMade = Callable[[PageInHand, Future[Made]], None]


class Desk:
    """Pages in hand, and those that have ended since the last commit."""

    def __init__(self, mill: Mill, when_made: WhenMade) -> None:
        """`when_made` is called in any thread when what a step sends is ready; then call `made`."""
        self.hand = Hand()
        self.ended: list[Ended] = []
        self.goes_on = True
        """Whether further steps are begun; else their pages are left to the ledger."""
        self._mill, self._when_made = mill, when_made
        self._ladder = Ladder(mill)
        self._broken_off: dict[int, PageInHand] = {}
        self._answered_at = time.monotonic()
        self._expire_at = 0.0

    def lay_out(self, item: PageToRead, known: CachedReading | None) -> None:
        """A claimed page: to be sent, or a copy of one that was read before and looks the same."""
        mill, request = self._mill, request_of(self._mill, item)
        # With a text layer the answer also depends on that, and equal pictures may have different ones.
        if known is not None and not request.words:
            reading = replace(known.reading, seconds=0.0)
            self.ended.append(Ended(judge(item, request, reading, mill.profile, known.id)))
            return
        is_made_first = self._prefers_layer(request) or request.recipe.regions != "off"
        page = PageInHand(item, request, mill.profile.name, parts=() if is_made_first else (request,))
        before = self._broken_off.pop(item.claim.id, None)
        if before is not None:
            page.tries, page.step = before.tries, before.tries[-1].step
        self.hand.add(page)
        if before is not None:
            self._climb(page)
        elif self._prefers_layer(request):
            page.step = LAYER
            self._make(page, self._ladder.from_layer(request))
        elif is_made_first:
            self._make(page, self._ladder.by_regions(request))

    def _prefers_layer(self, request: OcrRequest) -> bool:
        """Whether the text layer comes before the model. Engines of our own look at it themselves."""
        is_preferred = self._mill.profile.vlm is not None and request.recipe.text_layer == "prefer"
        return is_preferred and bool(request.words)

    def _make(self, page: PageInHand, future: Future[Made]) -> None:
        future.add_done_callback(lambda done: self._when_made(page, done))

    def answered(self, page: PageInHand, future: Future[Reading]) -> None:
        """A part of a page is done."""
        place = self.hand.land(page, future)
        if place is None:
            return
        try:
            page.answers[place] = future.result()
        except CancelledError:
            self.hand.put_back(page)
        except Exception as error:
            self._failed(page, error)
        else:
            self._answered_at = time.monotonic()
            if not page.flight:
                self._judge(page)

    def made(self, page: PageInHand, future: Future[Made]) -> None:
        """What a step sends is ready; one that cannot be taken is passed over."""
        self.hand.preparing.discard(page)
        try:
            made = future.result()
        except (PagemillError, CancelledError) as error:
            if not page.tries:
                if isinstance(error, EnvironmentFault):
                    raise
                self._ask_otherwise(page, error)
                return
            log.warning("no step=%s document=%d page=%d: %s", page.step.name, *_place(page), error)
            self._climb(page)
            return
        if isinstance(made, Reading):
            page.parts, page.answers = (page.first,), {0: made}
            self._judge(page)
        else:
            page.parts = made
            (self.hand.again if page.is_retry else self.hand.fresh).append(page)

    def _ask_otherwise(self, page: PageInHand, error: Exception) -> None:
        """What was to be made for a first try cannot be: a layer that is not sane is read, regions as one."""
        log.info("asked otherwise document=%d page=%d: %s", *_place(page), error)
        is_layer, page.step = page.step is LAYER, FIRST
        if is_layer and page.first.recipe.regions != "off":
            self.hand.preparing.add(page)
            self._make(page, self._ladder.by_regions(page.first))
            return
        trial = page.first.trial if is_layer else replace(page.first.trial, rung=WHOLE)
        page.parts = (replace(page.first, trial=trial),)
        self.hand.fresh.append(page)

    def expire(self) -> None:
        """End steps of pages that have had all the seconds they may have.

        Engines have deadlines of their own; this is for what passes them. A server may be away for a while,
        and that is not the page's time.
        """
        now = time.monotonic()
        if now < self._expire_at:
            return
        self._expire_at = now + _LOOK_S
        most = self._mill.profile.ladder_limits.seconds
        away_s = self._mill.settings.ocr_wait_s
        for page in [page for page in self.hand.flying if page.spent_s > most + away_s]:
            self._failed(page, PageFailed(f"It was not read within {most:g} s.", Code.OCR_TIMEOUT))

    def _judge(self, page: PageInHand) -> None:
        self.hand.recall(page)
        started = time.perf_counter()
        reading = _joined(page)
        profile = find_profile(page.profile, self._mill.settings) if page.engine else self._mill.profile
        result = judge(page.item, page.first, reading, profile)
        judging_s = time.perf_counter() - started
        page.tries.append(
            Tried(page.step, page.profile, page.parts[0], reading.seconds, result, judging_s=judging_s)
        )
        self._climb(page)

    def _failed(self, page: PageInHand, error: Exception) -> None:
        failure, seconds = failure_of(page.item.claim, error), page.elapsed_s
        self.hand.recall(page)
        if isinstance(error, EngineUnavailable) and error.code is not Code.WORKER_DIED:
            self._check_silence(error)
            if page.is_retry:
                self._broken_off[page.item.claim.id] = page
            self._end(page, Ended(failure=failure))
        elif isinstance(failure.error, TransientError) and not page.is_retry:
            self._end(page, Ended(failure=failure))
        else:
            page.tries.append(Tried(page.step, page.profile, page.parts[0], seconds, error=failure.error))
            self._climb(page)

    def _check_silence(self, error: EngineUnavailable) -> None:
        """One page after the other would wait for an engine that is gone: better to say so and end."""
        silent_s = time.monotonic() - self._answered_at
        if silent_s >= max(_LEAST_SILENCE_S, 2 * self._mill.settings.ocr_wait_s):
            raise EnvironmentFault(
                f"The OCR engine has not answered for {silent_s:.0f} s: {error.message} Pages wait in the "
                "ledger; see to the engine and run the same again.",
                error.code,
            )

    def _climb(self, page: PageInHand) -> None:
        step = self._ladder.next(page, page.step.number)
        if step is None:
            self._end(page, ended(page))
        elif not self.goes_on:
            self.hand.drop(page)
        else:
            log.info("next step=%s document=%d page=%d", step.name, *_place(page))
            self.hand.preparing.add(page)
            self._make(page, self._ladder.begin(page, step))

    def _end(self, page: PageInHand, how: Ended) -> None:
        self.hand.drop(page)
        self.ended.append(how)


def _joined(page: PageInHand) -> Reading:
    """The reading of the step, from those of its parts."""
    if len(page.parts) == 1 and page.parts[0].region is None:
        return page.answers[0]
    # With what cuts regions out: nearly all pages are read in one.
    from tasks.work.regions_asked import joined_regions  # noqa: PLC0415

    return joined_regions(page.parts, [page.answers[place] for place in sorted(page.answers)])


def _place(page: PageInHand) -> tuple[int, int]:
    return page.item.claim.document_id, page.item.claim.page_no
