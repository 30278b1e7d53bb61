"""How Prefect treats our tasks: what is tried again, what is cached, and under which key.

Without a Prefect server nothing of Prefect runs: `perform` then calls the plain function, and the ledger in
Postgres, which decides anyway, does the rest. See docs/adr/0004-flows-without-a-server.md.
"""

import hashlib
import sys
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from models.errors import TransientError
from models.stage import STAGE_VERSION, Stage

if TYPE_CHECKING:
    from prefect import Task
    from prefect.client.schemas.objects import State, TaskRun
    from prefect.context import FlowRunContext

P = ParamSpec("P")
R = TypeVar("R")


def flow_run_context() -> "FlowRunContext | None":
    """What Prefect knows of the flow run that is under way here, if one is.

    Without importing Prefect, which takes a second: where nobody has, there is no flow run.
    """
    context = sys.modules.get("prefect.context")
    return context.FlowRunContext.get() if context else None


def is_transient(_task: "Task[..., Any]", _run: "TaskRun", state: "State[Any]") -> bool:
    """Retry condition: only errors of the transient family are worth another try."""
    return isinstance(state.result(raise_on_failure=False), TransientError)


class StageTask(Generic[P, R]):
    """A batch of a stage: the plain function `fn`, and when called a task run of it."""

    def __init__(self, fn: Callable[P, R], name: str, *, is_kept: bool) -> None:
        self.fn = fn
        self._name, self._is_kept = name, is_kept
        self.__doc__ = fn.__doc__

    @cached_property
    def task(self) -> "Task[P, R]":
        """As Prefect's task: transient errors are tried twice more, with jitter."""
        from prefect import task  # noqa: PLC0415
        from prefect.cache_policies import NO_CACHE, CacheKeyFnPolicy  # noqa: PLC0415

        # The caller says what the result depends on: see `cache_key`.
        by_key = CacheKeyFnPolicy(cache_key_fn=lambda _context, parameters: str(parameters["key"]))
        made: Task[P, R] = task(
            name=self._name,
            retries=2,
            retry_delay_seconds=[2, 10],
            retry_jitter_factor=0.5,
            retry_condition_fn=is_transient,
            cache_policy=by_key if self._is_kept else NO_CACHE,
            persist_result=self._is_kept,
            result_serializer="json" if self._is_kept else None,
            cache_result_in_memory=False,
        )(self.fn)
        return made

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """A task run, inside a flow run."""
        return self.task(*args, **kwargs)


def stage_task(name: str, *, is_kept: bool = False) -> Callable[[Callable[P, R]], StageTask[P, R]]:
    """Make a function a stage's batch. `is_kept`: its result by the argument `key`, see `cache_key`."""

    def made(fn: Callable[P, R]) -> StageTask[P, R]:
        return StageTask(fn, name, is_kept=is_kept)

    return made


def perform(work: StageTask[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """`work` as a task run where a flow run is under way, else as the plain function it wraps."""
    context = sys.modules.get("prefect.context")
    if flow_run_context() or (context and context.TaskRunContext.get()):
        return work(*args, **kwargs)
    return work.fn(*args, **kwargs)


def cache_key(stage: Stage, parts: Iterable[str]) -> str:
    """Explicit key of a batch: stage, its version, and a digest of content hashes and options.

    Never a path and never the arguments as they come: two stages with equal arguments must not meet, and a
    changed file under an old name must not hit.
    """
    digest = hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest()
    return f"{stage}-{STAGE_VERSION[stage]}-{digest}"
