"""What benchmarks need at toy size: a served model that answers at once, pictures made in-process."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bench import pictures, served
from tasks.work.doubles.vllm_server import Said, ScriptedVllm


@pytest.fixture
def server() -> Iterator[ScriptedVllm]:
    """A served GLM-OCR that says three words on every page."""
    with ScriptedVllm(Said("A short page.", tokens=3)) as scripted:
        yield scripted


class InThread(ThreadPoolExecutor):
    """In the place of a WorkerPool."""

    def submit(self, fn: Any, /, *args: Any, **_limits: Any) -> Future[Any]:
        """Run it in the one thread, for as long as it takes."""
        return super().submit(fn, *args)

    def close(self) -> None:
        """Wait for what was begun."""
        self.shutdown()


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures are made in a thread: a process of its own takes longer to start than a toy to measure."""
    monkeypatch.setattr(pictures, "WorkerPool", lambda _jobs: InThread(1))


@pytest.fixture
def planned(server: ScriptedVllm, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Whatever is to be served, the scripted server serves it; says what was asked for."""
    asked: list[dict[str, Any]] = []

    def plan(profile: object, model: str, python: object, extra: list[str], **how: Any) -> None:
        asked.append({"model": model, "extra": list(extra), **how})

    @contextmanager
    def serving(_plan: object, _log: Path) -> Iterator[str]:
        yield server.url

    monkeypatch.setattr(served, "plan", plan)
    monkeypatch.setattr(served, "serving", serving)
    return asked
