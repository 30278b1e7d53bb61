"""A stopwatch that travels with the work, so that time spent in a worker process is told by that process."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Timed(Generic[T]):
    """A result and the wall-clock seconds it took where it was made."""

    value: T
    seconds: float


def timed(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Timed[T]:
    """Call `function` and say how long it took."""
    started = time.perf_counter()
    value = function(*args, **kwargs)
    return Timed(value, time.perf_counter() - started)
