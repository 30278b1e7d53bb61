"""Commands as they are typed, in this process and on settings of the test's own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from cli.main import app
from models.settings import Settings, load_settings

Typed = Callable[..., Result]


def typing_on(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Typed:
    """What types a command; neither the environment nor the log of this process is touched."""
    monkeypatch.setattr("cli.environment.enter", lambda **_: settings)
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


def typing_at(home: Path, monkeypatch: pytest.MonkeyPatch, **changes: Any) -> Typed:
    """The same, on a home."""
    return typing_on(load_settings(home=home, **changes), monkeypatch)


def catching(monkeypatch: pytest.MonkeyPatch, target: str, answer: object = None) -> list[tuple[Any, ...]]:
    """Calls of a function that is replaced: what it was given without the settings, keywords last."""
    calls: list[tuple[Any, ...]] = []

    def caught(_settings: Settings, *given: Any, **named: Any) -> object:
        calls.append((*given, named))
        return answer

    monkeypatch.setattr(target, caught)
    return calls
