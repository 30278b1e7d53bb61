"""How runs stand on Prefect's screen, under way and at their end: a real server, a scripted engine."""

import functools
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.states import Cancelling
from pydantic import SecretStr

from db import runs
from flows import opening, showing
from flows.ingest import ingest
from flows.local import run_ingest
from models.errors import Code, PageFailed
from models.outcome import Headway
from models.settings import Settings
from tasks.work.engines.fake import Awaiting, Delayed, FakeEngine, said
from tests import factories
from tests.flows.prefects import artifacts_of
from tests.flows.yard import Yard, saying

pytestmark = pytest.mark.slow

TORN = PageFailed("torn", Code.OCR_FAILED)


@pytest.fixture
def named(server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The server is named to this process, and its screen is looked at often."""
    monkeypatch.setattr(opening, "shown", functools.partial(showing.shown, every_s=0.2))
    with temporary_settings({PREFECT_API_URL: server}):
        yield server


@pytest.fixture
def settings(yard: Yard, postgres: str) -> Settings:
    return yard.settings.model_copy(update={"database_url": SecretStr(postgres)})


def run(settings: Settings, yard: Yard, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> FlowRun:
    """Ingest the inbox in this process; the flow run as the server has it at the end."""
    monkeypatch.setattr(opening, "open_engine", lambda *_: engine)
    return flow_run_of(yard, run_ingest(settings, [str(yard.inbox)], "ppocr", jobs=1))


def flow_run_of(yard: Yard, run_id: int) -> FlowRun:
    found = yard.database.run(lambda conn: runs.get(conn, run_id))
    with get_client(sync_client=True) as client:
        return client.read_flow_run(found.prefect_run_id)  # type: ignore[arg-type]


def state_of(flow_run: FlowRun) -> tuple[str, str, str]:
    assert flow_run.state is not None
    return flow_run.state.type.value, flow_run.state.name or "", flow_run.state.message or ""


def test_runs_end_whole_partial_or_lost_and_say_so(
    named: str, yard: Yard, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO", "THREE"))
    partial = run(settings, yard, saying(said("first"), TORN, said("third")), monkeypatch)
    assert state_of(partial) == ("COMPLETED", "PartiallyDone", "2 of 3 pages of 1 document read.")
    factories.write(yard.inbox / "b.pdf", factories.pdf("FOUR"))
    lost = run(settings, yard, saying(TORN), monkeypatch)
    assert state_of(lost) == ("FAILED", "Failed", "0 of 1 pages of 1 document read.")
    again = run(settings, yard, FakeEngine(), monkeypatch)
    assert state_of(again) == ("COMPLETED", "Completed", "Nothing new among 2 files.")
    assert artifacts_of(named, again.id) == {}
    assert [row.outcome for row in yard.rows("run")] == ["partial", "failed", "ok"]


def test_what_fails_in_a_task_fails_the_run(
    named: str, yard: Yard, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(FakeEngine):
        def submit(self, request: Any) -> Any:
            raise RuntimeError("a defect")

    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE"))
    with pytest.raises(RuntimeError, match="a defect"):
        run(settings, yard, Broken(), monkeypatch)
    kind, _, message = state_of(flow_run_of(yard, yard.rows("run")[-1].id))
    assert (kind, "a defect" in message) == ("FAILED", True)


def test_progress_is_kept_up_to_date_in_one_place(
    named: str, yard: Yard, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: set[float] = set()
    true_text = showing.progress_text

    def noting(headway: Headway, unit: str, run_id: int) -> str:
        seen.add(headway.percent)
        return true_text(headway, unit, run_id)

    monkeypatch.setattr(showing, "progress_text", noting)
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO", "THREE", "FOUR"))
    words = said("Words on paper")
    watched = FakeEngine(
        [Awaiting(lambda: seen, words)], default=Awaiting(lambda: len(seen) > 1, words), slots=1
    )
    done = run(settings, yard, watched, monkeypatch)
    assert len(seen) > 1
    assert artifacts_of(named, done.id)["ingest-progress"] == 100.0


def test_a_cancel_on_the_screen_ends_a_run_without_a_worker_and_the_next_goes_on(
    named: str, yard: Yard, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf(*map(str, range(30))))
    threading.Thread(target=cancel_after_a_page, args=(named, yard), daemon=True).start()
    words = said("Words on paper")
    slow = FakeEngine([words] * 3, default=Delayed(600.0, words), slots=2)
    cancelled = run(settings, yard, slow, monkeypatch)
    kind, name, message = state_of(cancelled)
    assert (kind, name) == ("CANCELLED", "Cancelled")
    assert "What is left waits for the next run." in message
    assert [row.outcome for row in yard.rows("run")] == ["cancelled"]
    assert {row.status for row in yard.rows("claim")} == {"waiting", "ready", "done"}
    before = len(yard.rows("reading"))
    finished = run(settings, yard, FakeEngine(default=said("Words on paper")), monkeypatch)
    assert state_of(finished)[2] == f"{30 - before} pages of 1 document read."
    assert sorted(row.page_no for row in yard.rows("reading")) == list(range(1, 31))


def cancel_after_a_page(url: str, yard: Yard) -> None:
    """As the button on the screen does it."""
    with temporary_settings({PREFECT_API_URL: url}), get_client(sync_client=True) as client:
        while not yard.rows("reading"):
            time.sleep(0.1)
        client.set_flow_run_state(yard.rows("run")[-1].prefect_run_id, Cancelling())


def test_a_scan_by_the_clock_opens_no_engine_where_nothing_is_new(
    named: str, yard: Yard, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAGEMILL_HOME", str(yard.home))
    monkeypatch.setattr("flows.ingesting.get_settings", lambda: settings)
    monkeypatch.setattr("flows.opening.get_settings", lambda: settings)
    monkeypatch.setattr("tasks.mill.open_engine", lambda *_: pytest.fail("nothing is to be read"))
    assert ingest(paths=[str(yard.inbox)], return_state=True).is_completed()
    assert state_of(flow_run_of(yard, yard.rows("run")[-1].id))[2] == "Nothing new among 0 files."
