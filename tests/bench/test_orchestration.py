"""What Prefect costs: how its share is told from the rest, and a toy run with a real server."""

import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from bench import orchestrated, orchestration

TOLD = {"calls_s": 1.0, "prefect_threads_s": 1.0, "task_runs": {"ocr": 7, "split": 2}}
USED = {"flow": 42.0, "server": 5.0, "database": 3.0, "postgres": 2.0, "idle": 4.0}


def burn(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def rows(**kept: Any) -> dict[str, Any]:
    found = {"states_behind_s": 1.0, "events_behind_s": 2.0, "task_runs": 9, "events": 40} | kept
    return {
        str(row["what"]): row
        for row in orchestration.rows(1_000, TOLD, USED, orchestration.Recorded(**found), 60.0)
    }


class Called:
    """As flows and tasks are: an object that wraps a function."""

    def __init__(self, fn: Any) -> None:
        self.fn, self.name = fn, "called"

    def __call__(self) -> Any:
        burn(0.01)
        return self.fn()


def test_a_meter_counts_what_a_call_takes_beyond_its_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Called, "__call__", Called.__call__)
    meter = orchestrated.Meter()
    meter.watch(Called)
    inner = Called(lambda: burn(0.04))

    def work() -> str:
        inner()
        burn(0.02)
        return "done"

    outer = Called(work)
    assert [outer(), outer()] == ["done", "done"]
    # 0.02 each; with the functions themselves it were 0.12 more.
    assert 0.04 <= meter.calls_s < 0.1
    assert work() == "done"


def test_cpu_of_threads_is_told_by_name() -> None:
    watched = orchestrated.Threads()
    burnt, seen = threading.Semaphore(0), threading.Event()

    def busy() -> None:
        burn(0.1)
        burnt.release()
        seen.wait()

    threads = [threading.Thread(target=busy, name=f"busy-{number}") for number in range(2)]
    for thread in threads:
        thread.start()
    for _ in threads:
        burnt.acquire()
    watched.look()
    seen.set()
    for thread in threads:
        thread.join()
    told = watched.by_name()
    # The system counts in hundredths of a second.
    assert told["busy"] > 0.15
    assert "MainThread" in told


@pytest.mark.parametrize(
    ("name", "is_ours"),
    [("lane", True), ("Thread-3 (message_manager_loop)", True), ("EventsWorker", False), ("screen", False)],
)
def test_threads_are_prefects_unless_they_are_known(name: str, is_ours: bool) -> None:
    assert orchestrated.is_ours(name) is is_ours


def test_prefects_share_is_of_all_cpu() -> None:
    found = rows()
    assert found["Prefect's share of all CPU"]["value"] == round(10 / 52, 4)
    assert found["CPU s, flow and its workers, Prefect's part left out"]["value"] == 40
    assert found["task runs, ocr"] == {"what": "task runs, ocr", "value": 7, "at_most": 8}
    assert found["task runs not recorded"]["value"] == 0


@pytest.mark.parametrize(
    ("kept", "is_met"), [({}, False), ({"events_behind_s": 11.0}, False), ({"task_runs": 8}, False)]
)
def test_a_target_that_is_missed_is_told(kept: dict[str, float], is_met: bool) -> None:
    found = list(rows(**kept).values())
    assert orchestration.is_met(found) is is_met
    within = [row for row in found if row["what"] != "Prefect's share of all CPU"]
    assert orchestration.is_met(within) is not bool(kept)


def test_connections_are_told_apart_by_database() -> None:
    clock = orchestration.Clock.__new__(orchestration.Clock)

    class Named:
        def __init__(self, title: str, name: str = "postgres") -> None:
            self.title, self.short = title, name

        def cmdline(self) -> list[str]:
            return [self.title]

        def name(self) -> str:
            return self.short

    parts = {
        "postgres: mill prefect 127.0.0.1(5432) idle": "database",
        "postgres: mill pagemill [local] SELECT": "postgres",
        "postgres: walwriter ": "postgres",
        "/opt/postgres/bin/postgres": "postgres",
    }
    assert {title: clock._part(Named(title)) for title in parts} == parts
    assert clock._part(Named("python -m prefect server start", "python")) == "server"


@pytest.mark.slow
def test_a_toy_run_with_a_real_server_is_recorded_and_weighed(monkeypatch: pytest.MonkeyPatch) -> None:
    with TemporaryDirectory(prefix="pm-") as folder:
        monkeypatch.setattr(orchestration, "_IDLE_S", 0.5)
        monkeypatch.setattr(orchestration, "_SETTLE_S", 4.0)
        found = {str(row["what"]): row["value"] for row in orchestration.measure(20, 10, Path(folder))}
    # Pages that an engine reads at once need no task run to wait in.
    assert found.get("task runs, ocr", 0) in {0, 1}
    assert 1 <= int(str(found["task runs, preprocess"])) <= 4
    assert found["task runs, load"] in {1, 2}
    assert 0 < float(str(found["Prefect's share of all CPU"])) < 1
    assert float(str(found["events behind, s"])) >= 0
