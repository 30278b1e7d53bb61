"""An engine that answers by a script: for tests of everything around OCR, and for demonstrations.

    engine = FakeEngine([said("page 1"), PageFailed("torn", Code.OCR_FAILED), Delayed(0.2, said("third"))])
    engine = FakeEngine({image.sha256: [EngineUnavailable("down"), said("second try")]}, default=said("-"))
    engine = FakeEngine(lambda request: said("upright") if request.trial.turn == 90 else looped())

It keeps to the protocol: futures end in another thread, at most `slots` at once, errors arrive through them.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from models.engine import OcrRequest
from models.errors import ConfigurationError
from models.reading import Block, BlockType, Reading, ReadingSource


@dataclass(frozen=True, slots=True)
class Delayed:
    """An answer that takes `seconds`."""

    seconds: float
    answer: "Reading | Exception"


@dataclass(frozen=True, slots=True)
class Awaiting:
    """An answer that comes when `holds` says so, or when the engine is closed."""

    holds: Callable[[], object]
    answer: "Reading | Exception"


Answer = Reading | Exception | Delayed | Awaiting
Script = Sequence[Answer] | Mapping[str, Answer | Sequence[Answer]] | Callable[[OcrRequest], Answer | None]


class FakeEngine:
    """Answers pages by `script`: a sequence, a mapping from image SHA-256, or a function of the request.

    A sequence is used up page by page as submitted; a function sees how a page is asked for. A mapping's
    value may itself be a sequence: its answers are given one after the other to the same image, the last
    again and again. `default` answers what the script does not; without one such a page ends with
    ConfigurationError. `requests` is the log, in order of submission. `slots` may be set to less meanwhile.
    """

    def __init__(
        self, script: Script = (), *, default: Answer | None = None, slots: int = 2, name: str = "fake"
    ) -> None:
        self.name = name
        self.slots = slots
        self.requests: list[OcrRequest] = []
        self._default = default
        self._by_image = {key: _sequence(value) for key, value in _items(script)}
        self._in_order = list(script) if isinstance(script, Sequence) else []
        self._by_request = script if callable(script) else None
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._threads = ThreadPoolExecutor(slots, thread_name_prefix="fake-engine")

    def submit(self, request: OcrRequest) -> Future[Reading]:
        """Take the next answer for this page; the future ends with it."""
        with self._lock:
            self.requests.append(request)
            answer = self._next(request)
        return self._threads.submit(self._give, answer)

    def facts(self) -> Mapping[str, str]:
        """What stands in for versions."""
        return {"fake": "scripted"}

    def close(self) -> None:
        """Cancel what has not begun; delays end at once."""
        self._closing.set()
        self._threads.shutdown(cancel_futures=True)

    def _next(self, request: OcrRequest) -> Answer:
        sha256 = request.image.sha256
        if self._by_request and (answer := self._by_request(request)) is not None:
            return answer
        answers = self._by_image.get(sha256)
        if answers:
            return answers.pop(0) if len(answers) > 1 else answers[0]
        if self._in_order:
            return self._in_order.pop(0)
        if self._default is not None:
            return self._default
        return ConfigurationError(f"The script has no answer for page image {sha256}.")

    def _give(self, answer: Answer) -> Reading:
        if isinstance(answer, Delayed):
            self._closing.wait(answer.seconds)
            answer = answer.answer
        if isinstance(answer, Awaiting):
            while not answer.holds() and not self._closing.wait(0.02):
                pass
            answer = answer.answer
        if isinstance(answer, Exception):
            raise answer
        return answer


def said(text: str) -> Reading:
    """A reading that says `text`: a paragraph for each part between empty lines, without boxes."""
    blocks = tuple(Block(BlockType.PARAGRAPH, part) for part in text.split("\n\n") if part)
    return Reading(ReadingSource.OCR, text, blocks, engine="fake", confidence=1.0)


def _items(script: Script) -> list[tuple[str, Answer | Sequence[Answer]]]:
    return list(script.items()) if isinstance(script, Mapping) else []


def _sequence(value: Answer | Sequence[Answer]) -> list[Answer]:
    return list(value) if isinstance(value, Sequence) else [value]
