"""Servers looked after: real processes, started, proven, killed, wedged, grown."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import psutil
import pytest

from bench.served import free_port
from models.errors import EnvironmentFault
from tasks.work.doubles.vllm_server import Model, ScriptedVllm
from tasks.work.doubles.vllm_server.app import Mood
from tasks.work.serving.plan import Plan
from tasks.work.serving.proof import prove
from tasks.work.serving.pulse import pulse, read_pulse
from tasks.work.serving.smoke import smoke_test
from tasks.work.serving.supervisor import Patience, State, Supervised
from tasks.work.serving.visit import serving
from tasks.work.serving.vllm import Installation
from tests.unit import vlms
from tests.unit.stand_in import program

pytestmark = pytest.mark.slow

PATIENCE = Patience(start_s=120, proof_s=4.0, stall_s=0.6, idle_proof_s=0.4, stop_s=5, starts=2)


def plan(folder: Path, **changes: object) -> Plan:
    there = Installation(program(folder), "0.25.1", "5.17.0")
    about: dict[str, object] = {"installation": there, "model": str(folder), "port": free_port()}
    return vlms.plan(**about | changes)


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Supervised]:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    one = Supervised(plan(tmp_path).servers()[0], tmp_path / "log", patience=PATIENCE, tell=lambda _: None)
    one.start()
    until(one, lambda: one.state is State.READY)
    yield one
    one.stop()


def until(one: Supervised, holds: Callable[[], bool], seconds: float = 180.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, one.state
        time.sleep(0.05)
        one.tick()


def feel(one: Supervised, mood: str) -> None:
    Path(one.server.plan.model, "mood").write_text(mood)


def test_a_server_is_ready_once_it_has_read_a_small_picture(watched: Supervised) -> None:
    assert prove(watched.server.url, watched.server.plan.vlm).holds
    assert watched.memory_mb() > 20


def test_a_killed_server_is_started_anew(watched: Supervised) -> None:
    (pid,) = listeners(watched.server.port)
    os.kill(pid, signal.SIGKILL)
    until(watched, lambda: watched.state is State.WAITING)
    until(watched, lambda: watched.state is State.READY)
    assert watched.restarts == 1
    assert listeners(watched.server.port) != {pid}


def test_an_idle_server_that_no_longer_reads_is_started_anew(watched: Supervised) -> None:
    feel(watched, "wedged")
    until(watched, lambda: watched.state is State.WAITING)
    until(watched, lambda: watched.state is State.READY)
    assert prove(watched.server.url, watched.server.plan.vlm).holds


def test_work_without_a_token_is_a_wedged_server_though_health_says_well(watched: Supervised) -> None:
    feel(watched, "wedged")
    asking = threading.Thread(target=ask, args=(watched.server.url,))
    asking.start()
    until(watched, lambda: watched.state is State.WAITING)
    asking.join(120)
    assert watched.restarts == 1


def test_a_frozen_server_is_announced_and_started_anew(watched: Supervised) -> None:
    told: list[str] = []
    watched._tell = told.append
    (pid,) = listeners(watched.server.port)
    os.kill(pid, signal.SIGSTOP)
    until(watched, lambda: watched.state is State.WAITING)
    assert "it does not answer" in told[-1]
    until(watched, lambda: watched.state is State.READY)
    assert listeners(watched.server.port) != {pid}


def test_what_stands_still_is_announced_once_before_it_is_ended(tmp_path: Path) -> None:
    told: list[str] = []
    one = Supervised(plan(tmp_path).servers()[0], tmp_path / "log", tell=told.append)
    assert not any(one._is_stuck(still_s, answers=True) for still_s in (1.0, 30.0, 31.0, 119.0))
    assert [line.partition(": ")[2] for line in told] == [
        "there is work and no token comes; started anew unless that ends within 90 s"
    ]


def test_a_server_that_grows_is_started_anew_when_nothing_is_in_flight(watched: Supervised) -> None:
    watched._most_memory_mb = watched.memory_mb() + 150
    feel(watched, "grow")
    until(watched, lambda: watched.restarts == 1)
    until(watched, lambda: watched.state is State.READY)
    assert watched.memory_mb() < watched._most_memory_mb


def test_a_stopped_server_leaves_no_process(watched: Supervised) -> None:
    (pid,) = listeners(watched.server.port)
    watched.stop()
    assert not psutil.pid_exists(pid)
    assert watched.state is State.STOPPED


def test_a_server_that_never_reads_is_given_up(tmp_path: Path) -> None:
    said: list[str] = []
    (server,) = plan(tmp_path, extra=("--fails",)).servers()
    one = Supervised(server, tmp_path / "log", patience=replace(PATIENCE, starts=1), tell=said.append)
    one.start()
    until(one, lambda: one.state is State.GIVEN_UP)
    assert "given up after 1 start" in said[-1]
    assert "out of memory" in (tmp_path / "log").read_text()


def test_what_others_serve_on_its_port_is_not_taken_for_a_server(tmp_path: Path) -> None:
    said: list[str] = []
    (server,) = plan(tmp_path).servers()
    model = Model(name=server.plan.vlm.served_name)
    one = Supervised(server, tmp_path / "log", patience=replace(PATIENCE, starts=1), tell=said.append)
    with ScriptedVllm(model=model, port=server.port):
        one.start()
        assert one.state is State.GIVEN_UP
        with pytest.raises(EnvironmentFault), serving(server.plan, tmp_path / "log", PATIENCE, said.append):
            pass
    assert f"Port {server.port} of 127.0.0.1 cannot be used" in said[0]


def test_optional_flags_pass_by_reading_and_fail_by_not_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    works, said = smoke_test(plan(tmp_path), tmp_path / "log", PATIENCE, lambda _: None)
    assert works, said
    works, said = smoke_test(plan(tmp_path, extra=("--fails",)), tmp_path / "log", PATIENCE, lambda _: None)
    assert not works
    assert str(tmp_path / "log") in said


def test_a_proof_says_why_it_does_not_hold() -> None:
    with ScriptedVllm(model=Model(name="other")) as server:
        assert "HTTP 404" in prove(server.url, vlms.vlm()).error
        server.feel(Mood.WEDGED)
        assert "ReadTimeout" in prove(server.url, vlms.vlm(served_name="other"), deadline_s=1.5).error
    assert "ConnectError" in prove(server.url, vlms.vlm()).error


def test_the_pulse_sums_over_engines() -> None:
    beat = read_pulse(
        [
            "# HELP vllm:num_requests_running Number of requests",
            'vllm:num_requests_running{engine="0",model_name="a {b}"} 3.0',
            'vllm:num_requests_running{engine="1",model_name="a {b}"} 2.0',
            'vllm:generation_tokens_total{engine="0"} 10.0',
            'vllm:prompt_tokens_total{engine="0"} 5.0',
        ]
    )
    assert (beat.running, beat.waiting, beat.tokens, beat.in_work) == (5, 0, 15.0, True)
    assert pulse("http://127.0.0.1:1") is None


def ask(url: str) -> None:
    body = {"model": "tiny", "max_tokens": 99, "messages": [{"role": "user", "content": "x"}]}
    try:
        httpx.post(f"{url}/v1/chat/completions", json=body, timeout=20)
    except httpx.HTTPError:
        return


def listeners(port: int) -> set[int]:
    """Processes that listen on a port."""
    return {
        connection.pid
        for connection in psutil.net_connections("tcp4")
        if connection.status == psutil.CONN_LISTEN and connection.laddr.port == port and connection.pid
    }


def test_its_log_does_not_grow_without_bound(watched: Supervised) -> None:
    with watched.log.open("ab") as log:
        log.truncate(11_000_000)
    watched.tick()
    assert watched.log.stat().st_size < 10_000
    assert watched.log.with_suffix(".log.1").exists()
