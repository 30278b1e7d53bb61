"""Killable worker processes that keep to their documents.

A child that has a document open draws its next page for less: its objects need not be found nor its fonts
loaded anew, which takes longer than to draw a page of type. So a child works on the documents that it has
open, then on one that no other has; and sooner than to wait, on any.
"""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from models.errors import Code
from tasks.work.pool import WorkerPool, pass_cancelling, settle

T = TypeVar("T")

_LOOKED_AT = 64
"""So many of the tasks that wait are looked at for one that suits a child."""


@dataclass(slots=True, eq=False)
class _Child:
    pool: WorkerPool
    documents: deque[str]
    """Those it worked on last, and has open."""


@dataclass(slots=True, eq=False)
class _Task:
    near: str
    begin: Callable[[WorkerPool], Future[Any]]
    outer: Future[Any]


class WorkerCrew:
    """At most `workers` child processes, as a WorkerPool has them. `documents`: so many each keeps open.

    `recycle_after`: tasks after which a child is replaced; 0 never.
    """

    def __init__(self, workers: int, *, documents: int, recycle_after: int = 0) -> None:
        self._children = [
            _Child(WorkerPool(1, recycle_after=recycle_after), deque(maxlen=documents))
            for _ in range(workers)
        ]
        self._free, self._waiting = deque(self._children), deque[_Task]()
        self._lock = threading.Lock()
        self._is_closed = False

    def submit(
        self,
        fn: Callable[..., T],
        *args: Any,
        near: str = "",
        timeout_s: float,
        timeout_code: Code,
        crash_code: Code = Code.WORKER_DIED,
    ) -> Future[T]:
        """As WorkerPool.submit. `near` names the document that `fn` opens, if any."""
        outer: Future[T] = Future()

        def begin(pool: WorkerPool) -> Future[T]:
            return pool.submit(
                fn, *args, timeout_s=timeout_s, timeout_code=timeout_code, crash_code=crash_code
            )

        with self._lock:
            if self._is_closed:
                raise RuntimeError("the worker crew is closed")
            self._waiting.append(_Task(near, begin, outer))
        self._go_on()
        return outer

    def close(self) -> None:
        """Kill the children; futures that have not ended are cancelled."""
        with self._lock:
            self._is_closed = True
            waiting, self._waiting = self._waiting, deque()
        for task in waiting:
            task.outer.cancel()
        for child in self._children:
            child.pool.close()

    def _go_on(self) -> None:
        while dealt := self._deal():
            self._begin(*dealt)

    def _deal(self) -> tuple[_Child, _Task] | None:
        """A task and the child that is to do it; None where there is none, or no child is free."""
        with self._lock:
            while self._waiting and self._waiting[0].outer.cancelled():
                self._waiting.popleft()
            if not self._free or not self._waiting:
                return None
            child, task = self._suited()
            self._free.remove(child)
            self._waiting.remove(task)
            if task.near:
                if task.near in child.documents:
                    child.documents.remove(task.near)
                child.documents.append(task.near)
            return child, task

    def _suited(self) -> tuple[_Child, _Task]:
        """The first task whose document a free child has open, or none has; else the first."""
        for task in islice(self._waiting, _LOOKED_AT):
            having = [child for child in self._children if task.near in child.documents]
            for child in having or self._free:
                if child in self._free:
                    return child, task
        return self._free[0], self._waiting[0]

    def _begin(self, child: _Child, task: _Task) -> None:
        try:
            inner = task.begin(child.pool)
        except RuntimeError:
            # Closed meanwhile.
            task.outer.cancel()
            return
        pass_cancelling(task.outer, inner)
        inner.add_done_callback(partial(self._ended, child, task.outer))

    def _ended(self, child: _Child, outer: Future[Any], done: Future[Any]) -> None:
        with self._lock:
            self._free.append(child)
        self._go_on()
        settle(outer, done)
