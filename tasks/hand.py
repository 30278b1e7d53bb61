"""The pages that a drain has in hand: claimed and not ended, waiting, being read, or to be read once more."""

import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field

from models.engine import OcrEngine, OcrRequest
from models.errors import PagemillError
from models.reading import Reading
from models.verdict import Severity, Verdict
from models.work import PageResult, PageToRead
from tasks.work.checks import badness
from tasks.work.ladder import FIRST, Step, Try, best_of

_FAILED = (float("inf"),)


@dataclass(frozen=True, slots=True)
class Tried:
    """A step that was made: a judged reading or an error."""

    step: Step
    profile: str
    request: OcrRequest
    seconds: float
    """Of the engine, or until it gave up."""
    result: PageResult | None = None
    error: PagemillError | None = None
    judging_s: float = 0.0

    @property
    def codes(self) -> tuple[str, ...]:
        """Of all findings, or of the error."""
        if self.result is None:
            return (self.error.code.value,) if self.error else ()
        return tuple(finding.code for finding in self.result.findings)

    def as_try(self) -> Try:
        """As the ladder decides by it."""
        result = self.result
        if result is None:
            return Try(self.step, frozenset(self.codes), _FAILED, is_bad=True, seconds=self.seconds, tokens=0)
        weighs = [finding.code for finding in result.findings if finding.severity is not Severity.INFO]
        tokens = (result.reading.tokens_in or 0) + (result.reading.tokens_out or 0)
        is_bad = result.verdict is Verdict.BAD
        return Try(self.step, frozenset(weighs), badness(result.findings), is_bad, self.seconds, tokens)


@dataclass(slots=True, eq=False)
class PageInHand:
    """A page, what was tried on it, and what is to be sent or under way now."""

    item: PageToRead
    first: OcrRequest
    profile: str
    """Who reads it at this step."""
    step: Step = FIRST
    parts: tuple[OcrRequest, ...] = ()
    """Requests of this step: one, or one for each half or region; none while they are being made."""
    engine: OcrEngine | None = None
    """Another than the drain's, for this step."""
    tries: list[Tried] = field(default_factory=list)
    flight: dict[Future[Reading], int] = field(default_factory=dict)
    """Parts that are being read, by place."""
    answers: dict[int, Reading] = field(default_factory=dict)
    sent_at: float | None = None

    @property
    def is_retry(self) -> bool:
        """Whether it was tried before."""
        return bool(self.tries)

    @property
    def elapsed_s(self) -> float:
        """Since this step was sent; 0 while it is not."""
        return 0.0 if self.sent_at is None else time.monotonic() - self.sent_at

    @property
    def spent_s(self) -> float:
        """Engine seconds of all tries, the one under way included."""
        return sum(tried.seconds for tried in self.tries) + self.elapsed_s

    def best(self) -> Tried:
        """The try to keep."""
        return self.tries[best_of([tried.as_try() for tried in self.tries])]


class Hand:
    """Pages by what they wait for. Those never read go first; tries beyond the first share slots."""

    def __init__(self) -> None:
        self.fresh: deque[PageInHand] = deque()
        self.again: deque[PageInHand] = deque()
        self.flying: set[PageInHand] = set()
        self.preparing: set[PageInHand] = set()
        self.sent = 0
        """Requests under way."""
        self.words = 0
        """Of the text layers of all pages."""
        self._retries = 0

    def __len__(self) -> int:
        return len(self.fresh) + len(self.again) + len(self.flying) + len(self.preparing)

    def __iter__(self) -> Iterator[PageInHand]:
        for pages in (self.fresh, self.again, self.flying, self.preparing):
            yield from pages

    def add(self, page: PageInHand) -> None:
        """A page that was just claimed."""
        self.words += len(page.item.facts.words)
        if not page.is_retry:
            (self.fresh.append if page.parts else self.preparing.add)(page)

    def next_to_send(self, most_retries: int) -> PageInHand | None:
        """The page to send next. While fresh ones wait, at most `most_retries` others are under way."""
        if self.again and (not self.fresh or self._retries < most_retries):
            return self.again.popleft()
        return self.fresh.popleft() if self.fresh else None

    def fly(self, page: PageInHand, futures: Iterable[Future[Reading]]) -> None:
        """The page's parts have been sent."""
        page.flight = {future: place for place, future in enumerate(futures)}
        page.answers, page.sent_at = {}, time.monotonic()
        self.flying.add(page)
        self.sent += len(page.flight)
        self._retries += page.is_retry

    def land(self, page: PageInHand, future: Future[Reading]) -> int | None:
        """A part has ended: its place; None for one that had been given up."""
        place = page.flight.pop(future, None)
        self.sent -= place is not None
        return place

    def recall(self, page: PageInHand) -> None:
        """The step is over or given up: open requests are closed, answers that still come find nobody."""
        if page in self.flying:
            self.flying.remove(page)
            self._retries -= page.is_retry
        self.sent -= len(page.flight)
        flight, page.flight, page.sent_at = page.flight, {}, None
        # The last first: an engine would send a part that waits in the place of one that is under way.
        for future in reversed(flight):
            future.cancel()

    def put_back(self, page: PageInHand) -> None:
        """The step has to be sent again, before others of its kind."""
        self.recall(page)
        (self.again if page.is_retry else self.fresh).appendleft(page)

    def drop(self, page: PageInHand) -> None:
        """The page has ended, or is left to the ledger."""
        self.recall(page)
        self.preparing.discard(page)
        self.words -= len(page.item.facts.words)
