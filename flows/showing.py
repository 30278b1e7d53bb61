"""A run on Prefect's screen while it is under way: how far it is, and whether somebody ends it there."""

import contextvars
import logging
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

import httpx
from prefect.artifacts import create_progress_artifact
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import ArtifactUpdate
from prefect.client.schemas.objects import FlowRun
from prefect.context import FlowRunContext
from prefect.exceptions import PrefectException

from db import outcomes
from models.errors import PagemillError
from models.outcome import Headway
from models.stage import Stage
from tasks.mill import Mill

log = logging.getLogger(__name__)

EVERY_S = 5.0
"""A look is one or two requests, whatever the number of pages."""
_QUERY_SHARE = 20
"""Counting what is left of a large ledger takes a while: looking takes at most a twentieth of the time."""
_PATIENCE_S = 10.0
"""The end of a run waits no longer for a screen that does not answer."""


@dataclass(frozen=True, slots=True)
class Measure:
    """By which stage the progress of a run is counted."""

    stage: Stage
    before: tuple[Stage, ...] = ()
    unit: str = "pages"


_READ = Measure(Stage.OCR, (Stage.PREPROCESS,))
_MEASURES = {"split": Measure(Stage.PREPROCESS), "load": Measure(Stage.LOAD, (Stage.VALIDATE,), "documents")}


@contextmanager
def shown(mill: Mill, kind: str, every_s: float = EVERY_S) -> Iterator[None]:
    """Show a run of `kind` while the body works, when it is a flow run.

    The mill is stopped when somebody cancels the run on the screen and no worker is there to end it.
    """
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        yield
        return
    screen, ended = _Screen(mill, kind, context.flow_run), threading.Event()
    watch = (contextvars.copy_context().run, (screen.watch, ended, every_s))
    thread = threading.Thread(target=watch[0], args=watch[1], name="screen", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(_PATIENCE_S)


class _Screen:
    """Looks at the run every few seconds, in a thread of its own. A screen that is away stops no run."""

    def __init__(self, mill: Mill, kind: str, flow_run: FlowRun) -> None:
        self._mill, self._kind, self._flow_run = mill, kind, flow_run
        self._measure = _MEASURES.get(kind, _READ)
        self._artifact: uuid.UUID | None = None
        self._seen: Headway | None = None
        self._query_s = 0.0

    def watch(self, ended: threading.Event, every_s: float) -> None:
        """Until `ended`, and once more then."""
        with get_client(sync_client=True) as client:
            while not ended.wait(max(every_s, _QUERY_SHARE * self._query_s)):
                self._look(client)
            self._look(client)

    def _look(self, client: SyncPrefectClient) -> None:
        try:
            if self._flow_run.deployment_id is None:
                self._mind_cancelling(client)
            self._show(client)
        except (PrefectException, httpx.HTTPError, PagemillError) as error:
            log.info("screen not reached run=%d: %s", self._mill.run_id, type(error).__name__)

    def _mind_cancelling(self, client: SyncPrefectClient) -> None:
        """A run of a worker is ended by that; of any other nobody but itself takes care."""
        state = client.read_flow_run(self._flow_run.id).state
        if state is not None and (state.is_cancelling() or state.is_cancelled()):
            self._mill.stopping.set()

    def _show(self, client: SyncPrefectClient) -> None:
        mill, measure, began = self._mill, self._measure, time.monotonic()
        headway = mill.database.run(
            lambda conn: outcomes.headway(conn, mill.run_id, measure.stage, measure.before, mill.profile.name)
        )
        self._query_s = time.monotonic() - began
        # A run that finds no work has nothing to show.
        if headway == self._seen or not (headway.done or headway.left):
            return
        told = progress_text(headway, measure.unit, mill.run_id)
        if self._artifact is None:
            made = create_progress_artifact(headway.percent, f"{self._kind}-progress", told)
            self._artifact = cast("uuid.UUID", made)
        else:
            client.update_artifact(self._artifact, ArtifactUpdate(data=headway.percent, description=told))
        self._seen = headway


def progress_text(headway: Headway, unit: str, run_id: int) -> str:
    """How far a run has come, in words."""
    return f"{headway.done} of {headway.done + headway.left} {unit} known so far. Run {run_id}."
