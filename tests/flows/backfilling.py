"""Backfills as tests run them: the flow in this process, with a scripted engine."""

import datetime as dt
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import SecretStr

from flows import opening
from flows.backfill import backfill
from flows.backfilling import plan
from flows.opening import CALLER, Caller
from models.backfill import FromStage, Plan, Selection, Wish
from models.engine import OcrRequest
from models.reading import Reading
from models.settings import Settings
from tasks.work.engines.fake import Answer, FakeEngine, said
from tests.flows.yard import Yard

OTHER = ["text_layer=ignore"]
"""Another recipe with the same pictures."""
SMALLER = ["long_edge_px=512"]
"""Another recipe with pictures of its own."""


class WordEngine(FakeEngine):
    """Answers by the words of the page's text layer."""

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        super().__init__()
        self._answers = answers

    def submit(self, request: OcrRequest) -> Future[Reading]:
        """The answer to these words."""
        self._default = self._answers[" ".join(word.text for word in request.words)]
        return super().submit(request)


class ClockedEngine(FakeEngine):
    """Knows when it was asked for what."""

    def __init__(self, *, default: Answer) -> None:
        super().__init__(default=default)
        self._asked: list[tuple[int, dt.datetime]] = []

    def submit(self, request: OcrRequest) -> Future[Reading]:
        """As any FakeEngine."""
        self._asked.append((request.priority, dt.datetime.now(dt.UTC)))
        return super().submit(request)

    def at(self, priority: int) -> list[dt.datetime]:
        """When pages of this priority were sent."""
        return [at for found, at in self._asked if found == priority]


@dataclass
class Backfills:
    """Runs backfills in a yard; `engine` reads in the next one."""

    yard: Yard
    settings: Settings
    engine: FakeEngine = field(default_factory=lambda: FakeEngine(default=said("Read again")))

    def run(self, *, stop_after_s: float = 0, **options: Any) -> int:
        """A backfill to its end, or until stopped; its id."""
        stop = threading.Event()
        if stop_after_s:
            threading.Timer(stop_after_s, stop.set).start()
        token = CALLER.set(Caller(self.settings, lambda _: None, stop))
        try:
            backfill.fn(**{"dry_run": False, "here": True} | options)
        finally:
            CALLER.reset(token)
        return max(row.id for row in self.yard.rows("backfill"))

    def plan(self, selection: Selection, *, is_checked: bool = False, **options: Any) -> Plan:
        """What a backfill would do."""
        token = CALLER.set(Caller(self.settings, lambda _: None, threading.Event()))
        try:
            wish = Wish(selection=selection, **{"profile": "ppocr", "start": FromStage.OCR} | options)
            return plan(wish, is_checked=is_checked)
        finally:
            CALLER.reset(token)

    def read(self) -> list[str]:
        """What the engine was asked for since it was put in, by picture."""
        return [request.image.sha256 for request in self.engine.requests]

    def reads(self, *answers: Any, default: str = "Read again") -> FakeEngine:
        """Put in a fresh engine that gives these answers, then the ordinary one."""
        self.engine = FakeEngine(answers, default=said(default))
        return self.engine


def backfills_in(yard: Yard, postgres: str, monkeypatch: pytest.MonkeyPatch) -> Backfills:
    """Backfills over the yard's documents."""
    made = Backfills(yard, yard.settings.model_copy(update={"database_url": SecretStr(postgres)}))
    monkeypatch.setattr(opening, "open_engine", lambda *_: made.engine)
    return made
