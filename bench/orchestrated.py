"""One ingest flow with an engine that has nothing to do, told apart by what its CPU was spent on.

    PREFECT_API_URL=http://… python -m bench.orchestrated FOLDER [KEY=VALUE …]

Prints JSON. Prefect's part in the process is all CPU of its own threads, and in the others what calls of
flows and tasks took beyond the functions that they wrap.
"""

import json
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import Future
from functools import wraps
from typing import Any

import psutil
from prefect import Flow, Task

from bench.watch import Looker
from flows.local import run_ingest
from models.engine import OcrRequest
from models.reading import Reading
from models.settings import load_settings
from tasks.work.engines import ppocr
from tasks.work.engines.fake import FakeEngine, said

_OURS = ("MainThread", "lane", "scan", "fake-engine", "heartbeat", "telemetry", "watch", "native")
"""Threads of pagemill, by the start of their names, and of libraries in C."""
_POOL = ("task_scheduler_loop", "pool_manager_loop", "message_manager_loop")
"""Threads of the worker pools, by the functions that they run, which stand at the end of their names."""


class LayerEngine(FakeEngine):
    """Says what the text layer says, at once."""

    def submit(self, request: OcrRequest) -> Future[Reading]:
        """A paragraph with the words of the page; requests are not kept, since there are many."""
        return self._threads.submit(said, " ".join(word.text for word in request.words) or "-")


class Meter:
    """CPU seconds of Prefect's calls, and how many task runs there were by name."""

    def __init__(self) -> None:
        self.calls_s = 0.0
        self.task_runs: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._inner = threading.local()

    def watch(self, kind: type[Any]) -> None:
        """Meter all calls of flows, or of tasks, from now on."""
        called = kind.__call__

        def metered(this: Any, *args: Any, **kwargs: Any) -> Any:
            self._wrap(this)
            inside, self._inner.seconds = getattr(self._inner, "seconds", 0.0), 0.0
            before = time.thread_time()
            try:
                return called(this, *args, **kwargs)
            finally:
                whole = time.thread_time() - before
                self._count(this, whole - self._inner.seconds)
                # To a call around this one, all of it was the function's.
                self._inner.seconds = inside + whole

        kind.__call__ = metered

    def _wrap(self, this: Any) -> None:
        if not getattr(this.fn, "is_metered", False):
            this.fn = self._timed(this.fn)

    def _timed(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(fn)  # Prefect reads the names of parameters
        def timed(*args: Any, **kwargs: Any) -> Any:
            before, nested = time.thread_time(), getattr(self._inner, "seconds", 0.0)
            try:
                return fn(*args, **kwargs)
            finally:
                self._inner.seconds = nested + time.thread_time() - before

        timed.is_metered = True  # type: ignore[attr-defined]
        return timed

    def _count(self, this: Any, seconds: float) -> None:
        with self._lock:
            self.calls_s += seconds
            if isinstance(this, Task):
                self.task_runs[this.name] += 1


class Threads(Looker):
    """CPU seconds of this process's threads, looked at until they end."""

    def __init__(self) -> None:
        super().__init__(every_s=0.5)
        self._seconds: dict[int, tuple[str, float]] = {}

    def by_name(self) -> dict[str, float]:
        """Until now, numbers of names left out."""
        self.look()
        told: dict[str, float] = defaultdict(float)
        for name, seconds in self._seconds.values():
            told[name.rstrip("0123456789-_")] += seconds
        return dict(told)

    def look(self) -> None:
        """Take in what each has used."""
        names = {thread.native_id: thread.name for thread in threading.enumerate()}
        for thread in psutil.Process().threads():
            known = self._seconds.get(thread.id, ("", 0.0))[0]
            self._seconds[thread.id] = (
                names.get(thread.id) or known or "native",
                thread.user_time + thread.system_time,
            )


def is_ours(name: str) -> bool:
    """Whether a thread of this name is pagemill's or its worker pools'; the others are Prefect's."""
    return name.startswith(_OURS) or any(loop in name for loop in _POOL)


def main() -> None:
    """Run, then tell."""
    meter = Meter()
    for kind in (Flow, Task):
        meter.watch(kind)
    # Whoever opens the engine of profile ppocr gets the fake.
    vars(ppocr)["open_engine"] = lambda *_: LayerEngine(slots=32)
    settings = load_settings()
    with Threads() as threads:
        run_ingest(settings, [sys.argv[1]], "ppocr", sys.argv[2:])
        by_thread = threads.by_name()
    prefects = {name: s for name, s in by_thread.items() if not is_ours(name)}
    told = {
        "process_s": time.process_time(),
        "calls_s": meter.calls_s,
        "threads": by_thread,
        "prefect_threads_s": sum(prefects.values()),
        "task_runs": dict(meter.task_runs),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
