"""How Prefect treats our tasks: what is tried again, what is cached, and under which key.

Without a Prefect server nothing of Prefect runs: `perform` then calls the plain function, and the ledger in
Postgres, which decides anyway, does the rest. See docs/adr/0004-flows-without-a-server.md.
"""

import hashlib
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar

from prefect import Task, task
from prefect.cache_policies import NO_CACHE, CacheKeyFnPolicy, CachePolicy
from prefect.client.schemas.objects import State, TaskRun
from prefect.context import FlowRunContext, TaskRunContext

from models.errors import TransientError
from models.stage import STAGE_VERSION, Stage

P = ParamSpec("P")
R = TypeVar("R")


# The caller says what the result depends on: see `cache_key`.
BY_KEY = CacheKeyFnPolicy(cache_key_fn=lambda _context, parameters: str(parameters["key"]))


def is_transient(_task: Task[..., Any], _run: TaskRun, state: State[Any]) -> bool:
    """Retry condition: only errors of the transient family are worth another try."""
    return isinstance(state.result(raise_on_failure=False), TransientError)


def stage_task(name: str, policy: CachePolicy = NO_CACHE) -> Callable[[Callable[P, R]], Task[P, R]]:
    """A Prefect task for one batch of a stage: transient errors are tried twice more, with jitter."""
    return task(
        name=name,
        retries=2,
        retry_delay_seconds=[2, 10],
        retry_jitter_factor=0.5,
        retry_condition_fn=is_transient,
        cache_policy=policy,
        persist_result=policy is not NO_CACHE,
        result_serializer="json" if policy is not NO_CACHE else None,
        cache_result_in_memory=False,
    )


def perform(work: Task[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """`work` as a task run where a flow run is under way, else as the plain function it wraps."""
    if FlowRunContext.get() or TaskRunContext.get():
        return work(*args, **kwargs)
    return work.fn(*args, **kwargs)


def cache_key(stage: Stage, parts: Iterable[str]) -> str:
    """Explicit key of a batch: stage, its version, and a digest of content hashes and options.

    Never a path and never the arguments as they come: two stages with equal arguments must not meet, and a
    changed file under an old name must not hit.
    """
    digest = hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest()
    return f"{stage}-{STAGE_VERSION[stage]}-{digest}"
