"""What the pure part of a batch found, in a form that Prefect can keep: keyed by content, never by path.

Small on purpose: facts, hashes and reasons. Texts and pixels stay in the ledger and in the store.
"""

import threading
from collections.abc import Mapping
from concurrent.futures import Future, wait
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from models.errors import (
    Code,
    DocumentRejected,
    EnvironmentFault,
    PagemillError,
    PermanentError,
    TransientError,
)
from tasks.work.clock import Timed

T = TypeVar("T")

_LOOK_S = 0.2
"""A stop is heard within it."""


class Refusal(BaseModel):
    """An error of our tree as data."""

    model_config = ConfigDict(frozen=True)

    code: Code
    message: str
    is_transient: bool
    is_rejection: bool = False
    is_fault: bool = False
    """Of the machine."""

    @classmethod
    def of(cls, error: PagemillError) -> "Refusal":
        """`error` as data."""
        return cls(
            code=error.code,
            message=error.message,
            is_transient=isinstance(error, TransientError),
            is_rejection=isinstance(error, DocumentRejected),
            is_fault=isinstance(error, EnvironmentFault),
        )

    def error(self) -> PagemillError:
        """The error again, of its family."""
        if self.is_transient:
            return TransientError(self.message, self.code)
        if self.is_fault:
            return EnvironmentFault(self.message, self.code)
        return (DocumentRejected if self.is_rejection else PermanentError)(self.message, self.code)


class Entry(BaseModel, Generic[T]):
    """What was found about one content or page: a value or a refusal, and the seconds it took."""

    model_config = ConfigDict(frozen=True)

    value: T | None = None
    refusal: Refusal | None = None
    seconds: float = 0.0

    def result(self) -> T:
        """The value; raises the refusal's error where there is none."""
        if self.refusal is not None:
            raise self.refusal.error()
        if self.value is None:
            raise PermanentError("An entry without value and refusal was kept.", Code.INTERNAL)
        return self.value


class Manifest(BaseModel, Generic[T]):
    """Entries of a batch."""

    model_config = ConfigDict(frozen=True)

    entries: dict[str, Entry[T]]
    run_id: int = 0
    """The run that made it."""

    def holds_for(self, run_id: int) -> bool:
        """Whether it can be used in this run: what an earlier run was refused is asked for again.

        A password may have been given since, a file may be back.
        """
        return run_id == self.run_id or all(entry.refusal is None for entry in self.entries.values())


def entries_of(
    futures: Mapping[str, Future[Timed[T]] | Refusal], stopping: threading.Event
) -> dict[str, Entry[T]]:
    """Wait for children's answers. Those still at work when `stopping` is set are killed and left out.

    Raises as `entry_of`.
    """
    entries: dict[str, Entry[T]] = {}
    for name, future in futures.items():
        if isinstance(future, Refusal):
            entries[name] = Entry(refusal=future)
        elif _comes(future, stopping):
            entries[name] = entry_of(future)
        else:
            future.cancel()
    return entries


def _comes(future: Future[Timed[T]], stopping: threading.Event) -> bool:
    while not wait([future], 0 if stopping.is_set() else _LOOK_S).done:
        if stopping.is_set():
            return False
    return True


def entry_of(future: Future[Timed[T]]) -> Entry[T]:
    """Wait for a child's answer. Errors outside our tree are raised, they are faults of the program."""
    try:
        timed = future.result()
    except PagemillError as error:
        return Entry(refusal=Refusal.of(error))
    return Entry(value=timed.value, seconds=timed.seconds)
