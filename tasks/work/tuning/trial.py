"""One measurement: all pages through the client to a server, timed."""

import time
import uuid
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, wait
from contextlib import closing
from dataclasses import dataclass

from models.engine import OcrRequest
from models.errors import EngineUnavailable, PagemillError
from models.profile import Profile
from models.reading import Reading
from models.servers import OcrServers
from tasks.work.engines.vllm import open_engine
from tasks.work.metrics import cer, normalise
from tasks.work.serving.pulse import is_up

_AWAY_S = 10.0
"""A server that does not answer for so long is taken for dead."""
_BUSY_S = 10.0
"""So long a server that reads may leave a question after its health unanswered."""
_QUARTER = 4
"""While the first quarter of the pages is read a server is not full: it has all their pictures before it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the pages were read, in their order; None for a page that was not."""

    seconds: float
    texts: tuple[str | None, ...]
    tokens_in: int = 0
    tokens_out: int = 0
    unread: int = 0
    """Pages that were not waited for: the time for it was over."""
    when_full: float = 0.0
    """Pages a second while the server was full; 0 where there were too few to say."""

    @property
    def failed(self) -> int:
        """Pages without a reading though there was time for them."""
        return sum(text is None for text in self.texts) - self.unread

    @property
    def read(self) -> int:
        """Pages with a reading."""
        return sum(text is not None for text in self.texts)

    @property
    def pages_per_s(self) -> float:
        """How fast pages were read, without the server's filling and emptying if that can be told."""
        return self.when_full or self.read / self.seconds


def read(
    profile: Profile,
    url: str,
    api_key: str,
    requests: Sequence[OcrRequest],
    in_flight: int | None,
    *,
    most_s: float | None = None,
) -> Outcome:
    """Read all pages at once, `in_flight` requests at a time; None: as the client steers it.

    After `most_s` seconds the rest is given up. A page that fails is counted. Raises EngineUnavailable when
    the server went away meanwhile.
    """
    engine = open_engine(_salted(profile), OcrServers((url,), api_key, _AWAY_S, in_flight))
    with closing(engine):
        started = time.perf_counter()
        futures = [engine.submit(request) for request in requests]
        ends: dict[Future[Reading], float] = {}
        for future in futures:
            future.add_done_callback(lambda done: ends.setdefault(done, time.perf_counter()))
        _, late = wait(futures, most_s)
        if late and not _is_there(url):
            raise EngineUnavailable("The server went away while it read.")
        seconds = time.perf_counter() - started
        readings = [None if future in late else _read(future) for future in futures]
    return Outcome(
        seconds,
        tuple(None if reading is None else reading.text for reading in readings),
        sum(reading.tokens_in or 0 for reading in readings if reading),
        sum(reading.tokens_out or 0 for reading in readings if reading),
        len(late),
        when_full(
            (ends[future] - reading.seconds, ends[future])
            for future, reading in zip(futures, readings, strict=True)
            if reading
        ),
    )


def _is_there(url: str) -> bool:
    ends = time.monotonic() + _BUSY_S
    while not (lives := is_up(url)) and time.monotonic() < ends:
        time.sleep(0.5)
    return lives


def when_full(spans: Iterable[tuple[float, float]]) -> float:
    """Pages a second from when a quarter was read until the last was asked for; 0 if there is no such time.

    `spans`: when each page was asked for and when its answer was there, in seconds. A page counts with that
    part of its time which lies in between: many answers end together, and counted by their ends two equal
    measurements were 22 % apart that took 3 % more or less time as a whole.
    """
    known = sorted(spans, key=lambda span: span[1])
    quarter = len(known) // _QUARTER
    if not quarter:
        return 0.0
    begins, ends = known[quarter - 1][1], max(start for start, _ in known)
    if begins >= ends:
        return 0.0
    parts = (max(0.0, min(end, ends) - max(start, begins)) / (end - start) for start, end in known)
    return sum(parts) / (ends - begins)


def distance(untuned: Sequence[str | None], tuned: Sequence[str | None]) -> float:
    """Share of characters that are different, over the pages that were read both times."""
    pairs = [
        (before, after)
        for before, after in zip(untuned, tuned, strict=True)
        if before is not None and after is not None
    ]
    weights = [max(1, len(normalise(before).replace(" ", ""))) for before, _ in pairs]
    edits = sum(cer(*pair) * weight for pair, weight in zip(pairs, weights, strict=True))
    return edits / sum(weights) if weights else 0.0


def _read(future: "Future[Reading]") -> Reading | None:
    try:
        return future.result()
    except EngineUnavailable:
        raise
    except PagemillError:
        return None


def _salted(profile: Profile) -> Profile:
    """The profile with requests that no cache of prefixes knows from the measurement before."""
    assert profile.vlm is not None, "this profile needs no server"
    sampling = profile.vlm.sampling
    salted = sampling.model_copy(update={"extra": {**sampling.extra, "cache_salt": uuid.uuid4().hex}})
    return profile.model_copy(update={"vlm": profile.vlm.model_copy(update={"sampling": salted})})
