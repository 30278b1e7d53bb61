"""Killable worker processes.

Native code hangs and crashes, so it runs in children: one that overruns its time is killed, one that dies
takes only its own task with it, and all are replaced after so many tasks. Where the system has a fork server,
children come from one that has done the heavy imports: a replacement then costs milliseconds, not a second.
"""

import contextlib
import logging
import os
import signal
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from functools import partial
from multiprocessing import resource_tracker, spawn
from typing import Any, TypeVar

from pebble import ProcessExpired, ProcessPool

from models.errors import Code, PageFailed, PagemillError, TransientError

if sys.platform == "win32":
    from multiprocessing.context import SpawnContext as _BaseContext
    from multiprocessing.context import SpawnProcess as _BaseProcess
else:
    from multiprocessing.context import ForkServerContext as _BaseContext
    from multiprocessing.context import ForkServerProcess as _BaseProcess

T = TypeVar("T")

_log = logging.getLogger(__name__)

_preparation_data = spawn.get_preparation_data
_PRELOAD = ["tasks.work.preprocess", "tasks.work.layers", "tasks.work.settled"]

_KEPT_BYTES = {"MALLOC_MMAP_THRESHOLD_": 16 << 20, "MALLOC_TRIM_THRESHOLD_": 64 << 20}
"""What glibc hands back to the system at once: blocks above the first, and free memory above the second. By
default that is every picture of a page, and for each new one the kernel must find and clear memory anew."""

# The pool kills a child that overruns; this is for children whose pool was killed first.
_ORPHAN_GRACE_S = 30.0


class WorkerPool:
    """At most `workers` child processes that run picklable module-level functions.

    `recycle_after`: tasks after which a child is replaced; 0 never. `initializer(*initargs)` runs once in
    each new child. Children take paths and return small dataclasses: what is passed is pickled both ways.
    """

    def __init__(
        self,
        workers: int,
        *,
        recycle_after: int = 0,
        initializer: Callable[..., object] | None = None,
        initargs: Sequence[object] = (),
    ) -> None:
        self._new_pool = partial(
            ProcessPool, workers, recycle_after, _start_child, (initializer, *initargs), _context()
        )
        self._lock = threading.Lock()
        self._open: set[Future[Any]] = set()
        self._closed = False
        self._has_children = False
        self._pool = self._new_pool()

    def submit(
        self,
        fn: Callable[..., T],
        *args: Any,
        timeout_s: float,
        timeout_code: Code,
        crash_code: Code = Code.WORKER_DIED,
    ) -> Future[T]:
        """Run `fn(*args)` in a child. May be called from any thread.

        The future ends with the result; with the error of our tree that `fn` raised (any other becomes a
        PagemillError with code `internal`); with PageFailed (`timeout_code`) when the task ran longer than
        `timeout_s` seconds and its child was killed; or with TransientError (`crash_code`), which names the
        signal or exit number, when the child died or none can be started. Cancelling it kills a child that
        has begun. Raises RuntimeError after `close`.
        """
        outer: Future[T] = Future()
        with self._lock:
            try:
                inner = self._schedule(fn, args, timeout_s)
            except BrokenExecutor as error:
                # As where SIGTERM goes to the whole group: what starts the children has ended with them.
                outer.set_exception(TransientError(_death(error), crash_code))
                return outer
            self._open.add(outer)
        outer.add_done_callback(self._open.discard)
        pass_cancelling(outer, inner)
        inner.add_done_callback(lambda done: _conclude(outer, done, timeout_s, timeout_code, crash_code))
        return outer

    def close(self) -> None:
        """Kill the children; futures that have not ended are cancelled."""
        with self._lock:
            self._closed = True
            unfinished = tuple(self._open)
        for future in unfinished:
            future.cancel()
        self._pool.stop()  # type: ignore[no-untyped-call]
        self._pool.join()

    def _schedule(self, fn: Callable[..., T], args: tuple[Any, ...], timeout_s: float) -> Future[T]:
        if self._closed:
            raise RuntimeError("the worker pool is closed")
        call = (fn, args, timeout_s + _ORPHAN_GRACE_S)
        try:
            return self._with_children(call, timeout_s)
        except RuntimeError:
            # The pool gives up when a child dies without a task, as from the kernel's memory killer.
            _log.warning("worker pool broke; starting a new one")
            self._pool, self._has_children = self._new_pool(), False
            return self._with_children(call, timeout_s)

    def _with_children(self, call: tuple[Any, ...], timeout_s: float) -> Future[Any]:
        schedule = partial(self._pool.schedule, _run, args=call, timeout=timeout_s)
        if not self._has_children:
            # Ctrl-C is raised in the main thread: where that starts children, one is left that nobody knows.
            with ThreadPoolExecutor(1) as starter:
                begun: Future[Any] = starter.submit(schedule).result()
            self._has_children = True
            return begun
        return schedule()


class _Process(_BaseProcess):
    """A child that imports what it runs, and not the program's main module as well.

    That is what multiprocessing would have it do, and under a Prefect worker the main module is all of
    Prefect: 2.6 s for each child. So tasks must be functions of modules that can be imported by name.
    """

    _starting = threading.Lock()

    def start(self) -> None:
        with self._starting:
            spawn.get_preparation_data = _without_main
            try:
                with _deaf_to_the_terminal():
                    super().start()
            finally:
                spawn.get_preparation_data = _preparation_data


class _Context(_BaseContext):
    Process = _Process


def _without_main(name: str) -> dict[str, Any]:
    return {key: value for key, value in _preparation_data(name).items() if not key.startswith("init_main")}


@contextlib.contextmanager
def _deaf_to_the_terminal() -> Iterator[None]:
    """What is started meanwhile never hears Ctrl-C or that the terminal is closed; children are told, too.

    It is for the parent, who lets pages in hand come to their end; a child that died of it would count as a
    crash of its page.
    """
    if sys.platform == "win32":
        yield
        return
    # Its own start would unblock the signal.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _context() -> _Context:
    # Children are as many as there are cores: threads of numpy's in each would only wait for one another.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for name, most in _KEPT_BYTES.items():
        os.environ.setdefault(name, str(most))
    context = _Context()
    if sys.platform != "win32":
        context.set_forkserver_preload(_PRELOAD)
    return context


def _start_child(initializer: Callable[..., object] | None, *initargs: object) -> None:
    # Python's own handler would wait for native code to return; the default action does not.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if initializer is not None:
        initializer(*initargs)


def _run(fn: Callable[..., T], args: tuple[Any, ...], limit_s: float) -> T:
    """In the child: only errors that can be pickled leave it."""
    _alarm(limit_s)
    try:
        return fn(*args)
    except PagemillError:
        raise
    except (Exception, SystemExit) as error:
        raise PagemillError(f"{type(error).__name__}: {error}") from error
    finally:
        _alarm(0)


def _alarm(seconds: float) -> None:
    """Let the kernel kill this process then, even inside native code; 0 takes it back."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def pass_cancelling(outer: Future[Any], inner: Future[Any]) -> None:
    """Whoever cancels `outer` cancels `inner`, which is to settle `outer` when it ends.

    It is held weakly: two futures in a circle would keep arguments and result until Python looks for garbage.
    """
    held = weakref.ref(inner)

    def pass_on(ended: Future[Any]) -> None:
        if ended.cancelled() and (begun := held()) is not None:
            begun.cancel()

    outer.add_done_callback(pass_on)


def settle(
    outer: Future[T], done: Future[T], told: Callable[[BaseException], BaseException] | None = None
) -> None:
    """End `outer` as `done` has ended; its error is what `told` makes of it."""
    if done.cancelled():
        outer.cancel()
        # Whoever waits in `concurrent.futures.wait` is told only now.
        outer.set_running_or_notify_cancel()
    elif outer.set_running_or_notify_cancel():
        error = done.exception()
        if error is None:
            outer.set_result(done.result())
        else:
            outer.set_exception(told(error) if told else error)


def _conclude(
    outer: Future[T], done: Future[T], timeout_s: float, timeout_code: Code, crash_code: Code
) -> None:
    if not outer.set_running_or_notify_cancel():
        return
    error = done.exception()
    if error is None:
        outer.set_result(done.result())
    elif isinstance(error, ProcessExpired | BrokenExecutor):
        outer.set_exception(TransientError(_death(error), crash_code))
    elif isinstance(error, TimeoutError):
        stopped = f"It took longer than {timeout_s:g} s and was stopped."
        outer.set_exception(PageFailed(stopped, timeout_code))
    else:
        outer.set_exception(error)


def _death(error: ProcessExpired | BrokenExecutor) -> str:
    if not isinstance(error, ProcessExpired):
        return f"The worker processes died ({error})."
    number = error.exitcode
    if number >= 0:
        return f"The worker process ended by itself with exit number {number}."
    name = signal.strsignal(-number)
    hint = "; often the system's answer to too little memory" if number == -9 else ""
    return f"The worker process was killed by signal {-number} ({name}{hint})."
