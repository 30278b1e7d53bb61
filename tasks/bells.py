"""Bells: work that one stage makes wakes the next one's idle lanes in the same process at once.

Without them an idle lane finds new work only when it asks the ledger again, up to seconds later; other
processes still do.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from models.stage import Stage

_NEXT = {
    Stage.REGISTER: Stage.SPLIT,
    Stage.SPLIT: Stage.PREPROCESS,
    Stage.PREPROCESS: Stage.OCR,
    Stage.OCR: Stage.LOAD,
}


class Bells:
    """One bell a stage; any number of lanes listen to it."""

    def __init__(self) -> None:
        self._listeners: list[tuple[Stage, Callable[[], None]]] = []
        self._lock = threading.Lock()
        self.rung = 0
        """How often; as long as it stays the same, this process has brought nobody work."""

    @contextmanager
    def listening(self, stage: Stage, wake: Callable[[], None]) -> Iterator[None]:
        """Call `wake`, in whatever thread rings, when there may be work for `stage`."""
        with self._lock:
            self._listeners.append((stage, wake))
        try:
            yield
        finally:
            with self._lock:
                self._listeners.remove((stage, wake))

    def worked(self, stage: Stage) -> None:
        """A batch of `stage` has been committed: ring for the stage after it."""
        with self._lock:
            self.rung += 1
            called = [wake for of, wake in self._listeners if of is _NEXT.get(stage)]
        for wake in called:
            wake()

    def wake_all(self) -> None:
        """Every lane is to look at once: it is over."""
        with self._lock:
            called = [wake for _, wake in self._listeners]
        for wake in called:
            wake()
