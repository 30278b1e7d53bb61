"""A real Prefect server, a real worker of its pool, and what they show of a run."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from uuid import UUID

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun

from bench.served import free_port
from db import embedded


@contextmanager
def prefect_server(home: Path) -> Iterator[str]:
    """The API of a server of our own; its first start makes a database and takes about 20 CPU seconds."""
    url = f"http://127.0.0.1:{free_port()}/api"
    env = os.environ | {
        "PREFECT_HOME": str(home),
        "PREFECT_SERVER_API_PORT": url.rsplit(":", 1)[1].removesuffix("/api"),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
    }
    with ended([sys.executable, "-m", "prefect", "server", "start"], env, home / "log") as process:
        _wait_for_health(url, process, home / "log")
        yield url


@contextmanager
def cpu_worker(url: str, log: Path) -> Iterator[None]:
    """A process worker of the pool `cpu`; runs bring their own environment along.

    Those that the clock starts bring none, and have a home of their own.
    """
    home = log.parent / "clock"
    # Deployments name their command `python`: ours.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = os.environ | {"PATH": path, "PREFECT_API_URL": url, "PREFECT_WORKER_QUERY_SECONDS": "1"}
    env |= {"PAGEMILL_HOME": str(home)}
    command = [sys.executable, "-m", "prefect", "worker", "start", "--pool", "cpu", "--name", "cpu-0"]
    try:
        with ended(command, env, log):
            yield
    finally:
        embedded.stop(home)


@contextmanager
def ended(command: list[str], env: dict[str, str], log: Path) -> "Iterator[subprocess.Popen[bytes]]":
    """A process that is ended at the end."""
    with log.open("wb") as out:
        process = subprocess.Popen(command, env=env, stdout=out, stderr=out, start_new_session=True)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(300)


def artifacts_of(url: str, flow_run_id: UUID | str) -> dict[str, Any]:
    """What a run left on the screen, by key; tables are lists of rows."""
    wanted = json.dumps({"artifacts": {"flow_run_id": {"any_": [str(flow_run_id)]}}}).encode()
    request = urllib.request.Request(f"{url}/artifacts/filter", wanted, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        found = json.load(answer)
    return {one["key"]: json.loads(one["data"]) if one["type"] == "table" else one["data"] for one in found}


def wait_for_end(flow_run_id: UUID, seconds: float = 300.0) -> FlowRun:
    """The run in its final state."""
    until = time.monotonic() + seconds
    with get_client(sync_client=True) as client:
        while True:
            found = client.read_flow_run(flow_run_id)
            if found.state is not None and found.state.is_final():
                return found
            assert time.monotonic() < until, found.state
            time.sleep(0.2)


def _wait_for_health(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + 300
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=60):
                return
        except (URLError, TimeoutError, ConnectionError):
            time.sleep(0.5)
    pytest.fail(f"the Prefect server did not start: {log.read_text()[-2000:]}")
