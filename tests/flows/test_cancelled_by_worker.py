"""Runs that a worker started: cancelled on the screen they stop, beside a command they share the work."""

import json
import os
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun
from prefect.deployments import run_deployment
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.states import Cancelling

from flows.installation.deployments import find_file, read_file, register
from flows.installation.pools import make_pools
from tasks.work.doubles.vllm_server import Asked, Model, Said, ScriptedVllm
from tests import factories
from tests.e2e.shell import PAGEMILL
from tests.flows.prefects import artifacts_of, cpu_worker, wait_for_end
from tests.flows.yard import Yard
from tests.served import until

pytestmark = pytest.mark.slow

_PAGES = 30


@pytest.fixture
def worked(server: str, tmp_path: Path) -> Iterator[str]:
    """The server with all deployments and one worker that is at work."""
    with temporary_settings({PREFECT_API_URL: server}), get_client(sync_client=True) as client:
        make_pools(client, 1)
        register(client, read_file(find_file()).deployments)
        with cpu_worker(server, tmp_path / "worker.log"):
            yield server


@pytest.fixture
def stuck() -> threading.Event:
    """While it is set, the server reads no page after the fourth to its end."""
    return threading.Event()


@pytest.fixture
def vllm(stuck: threading.Event) -> Iterator[ScriptedVllm]:
    """Reads every page in half a second, two at a time, each with words of its own."""

    def answer(asked: Asked) -> Said:
        text = f"The words that stand on page number {asked.number}."
        return (
            Said(text, tokens=60_000, seconds=600)
            if stuck.is_set() and asked.number > 4
            else Said(text, seconds=0.5)
        )

    with ScriptedVllm(answer, model=Model(name="glm-ocr"), slots=2) as scripted:
        yield scripted


def variables(yard: Yard, postgres: str, vllm: ScriptedVllm) -> dict[str, str]:
    """Where everything is, for a process of its own."""
    return {
        "PAGEMILL_HOME": str(yard.home),
        "PAGEMILL_DATABASE_URL": postgres,
        "PAGEMILL_VECTORS": "false",
        "PAGEMILL_OCR_URL": vllm.url,
        "PAGEMILL_OCR_GOLDEN": "false",
    }


def begin(yard: Yard, postgres: str, vllm: ScriptedVllm) -> UUID:
    """Ask for a run that reads the inbox; nobody waits."""
    wish: dict[str, Any] = {"paths": [str(yard.inbox)], "profile": "glm-ocr", "settle_s": 0, "jobs": 1}
    # What the server says is not what stands on the pages.
    wish["options"] = ["text_layer=ignore"]
    jobs = {"env": variables(yard, postgres, vllm)}
    made = run_deployment("ingest/adhoc", parameters=wish, job_variables=jobs, timeout=0, as_subflow=False)
    assert isinstance(made, FlowRun)
    return made.id


def wait_for_readings(yard: Yard, number: int) -> None:
    until(lambda: len(yard.rows("reading")) >= number, 300)


def test_a_cancelled_run_gives_all_back_and_the_next_reads_each_page_once(
    worked: str, yard: Yard, postgres: str, vllm: ScriptedVllm, stuck: threading.Event
) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf(*(f"Page {number}" for number in range(_PAGES))))
    stuck.set()
    first = begin(yard, postgres, vllm)
    wait_for_readings(yard, 2)
    with get_client(sync_client=True) as client:
        client.set_flow_run_state(first, Cancelling())
    cancelled = wait_for_end(first)
    assert cancelled.state is not None
    assert cancelled.state.type.value == "CANCELLED"
    assert [row.outcome for row in yard.rows("run")] == ["cancelled"]
    kept = len(yard.rows("reading"))
    assert 2 <= kept < _PAGES
    assert {row.status for row in yard.rows("claim")} == {"waiting", "ready", "done"}
    until(lambda: not vllm.open)
    assert vllm.aborted > 0

    stuck.clear()
    finished = wait_for_end(begin(yard, postgres, vllm))
    assert finished.name.startswith("ingest cpu-0 20")
    assert finished.state is not None
    assert finished.state.message == f"{_PAGES - kept} pages of 1 document read."
    assert [row.page_no for row in yard.rows("reading")] == list(range(1, _PAGES + 1))
    answered = Counter(entry.asked.images for entry in vllm.entries if entry.outcome == "stop")
    assert len(answered) == _PAGES
    assert [row.outcome for row in yard.rows("run")] == ["cancelled", "ok"]
    shown = artifacts_of(worked, finished.id)
    assert shown["ingest-progress"] == 100.0
    assert {row["stage"]: row["ok"] for row in shown["ingest-stages"]}["ocr"] == _PAGES - kept


def test_a_command_beside_a_run_shares_its_work_and_its_server_and_no_page_is_read_twice(
    worked: str, yard: Yard, postgres: str, vllm: ScriptedVllm, tmp_path: Path
) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf(*(f"Page {number}" for number in range(_PAGES))))
    mine = factories.write(tmp_path / "mine" / "b.pdf", factories.pdf("My first page", "My second page"))
    run = begin(yard, postgres, vllm)
    wait_for_readings(yard, 2)
    command = [*PAGEMILL, "ingest", str(mine), "--profile", "glm-ocr", "--jobs", "1", "--json"]
    command += ["--recipe", "text_layer=ignore"]
    # No server of Prefect is named to it: it works in its own process.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PREFECT_")}
    environment |= variables(yard, postgres, vllm)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [(one["status"], one["page_count"]) for one in report["documents"]] == [("complete", 2)]
    wait_for_end(run)
    assert {row.status for row in yard.rows("document")} == {"complete"}
    assert len(yard.rows("reading")) == _PAGES + 2
    answered = Counter(entry.asked.images for entry in vllm.entries if entry.outcome == "stop")
    assert set(answered.values()) == {1}
    assert len(answered) == _PAGES + 2
