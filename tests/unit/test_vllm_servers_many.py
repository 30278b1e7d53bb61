"""Several servers, many pages, priorities, and what the client costs."""

import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tasks.work.doubles.vllm_server import Asked, Model, Mood, Said, ScriptedVllm
from tests.served import page, reading, until

pytestmark = pytest.mark.slow


def test_several_servers_share_the_pages(tmp_path: Path) -> None:
    with (
        ScriptedVllm(Said("a", seconds=0.05), slots=4) as one,
        ScriptedVllm(Said("b", seconds=0.05)) as two,
        reading(one, two, in_flight=4) as engine,
    ):
        until(lambda: engine.slots == 8)
        futures = [engine.submit(page(tmp_path, number)) for number in range(60)]
        got = [future.result(120).text for future in futures]
    assert min(got.count("a"), got.count("b")) >= 5


def test_the_one_with_the_least_outstanding_comes_first(tmp_path: Path) -> None:
    with (
        ScriptedVllm(Said("slow", tokens=60_000, seconds=600)) as slow,
        ScriptedVllm(Said("quick", seconds=0.02)) as quick,
        reading(slow, quick, in_flight=4) as engine,
    ):
        until(lambda: engine.slots == 8)
        futures = [engine.submit(page(tmp_path, number)) for number in range(80)]
        until(lambda: sum(future.done() for future in futures) == 76)
        assert slow.open == len(slow.entries) == 4


def test_a_failing_server_is_left_out_until_it_proves_itself(tmp_path: Path) -> None:
    with (
        ScriptedVllm(Said("a", seconds=0.03)) as good,
        ScriptedVllm(Said("b", seconds=0.03)) as bad,
        reading(good, bad, in_flight=4) as engine,
    ):
        until(lambda: engine.slots == 8)
        bad.die()
        futures = [engine.submit(page(tmp_path, number)) for number in range(40)]
        assert {future.result(120).text for future in futures} == {"a"}
        assert engine.slots == 4
        bad.revive()
        until(lambda: engine.slots == 8, 15)
        futures = [engine.submit(page(tmp_path, number)) for number in range(40)]
        assert {future.result(120).text for future in futures} == {"a", "b"}


def test_a_wedged_one_of_two_costs_time_but_no_page(tmp_path: Path) -> None:
    with (
        ScriptedVllm(Said("a", seconds=0.02)) as good,
        ScriptedVllm(Said("b", seconds=0.02)) as bad,
        reading(good, bad, in_flight=4, first_token_s=2.0, tokens_per_s=100.0) as engine,
    ):
        until(lambda: engine.slots == 8)
        bad.feel(Mood.WEDGED)
        futures = [engine.submit(page(tmp_path, number)) for number in range(40)]
        assert {future.result(120).text for future in futures} == {"a"}


def test_urgent_pages_go_first(tmp_path: Path) -> None:
    order: list[int] = []

    def script(asked: Asked) -> Said:
        order.append(int(asked.body.get("priority") or 0))
        return Said("x", seconds=0.02)

    with (
        ScriptedVllm(script, slots=1, model=Model(has_priorities=True), down_s=3_600) as server,
        reading(server, in_flight=1) as engine,
    ):
        late = [engine.submit(page(tmp_path, number, priority=10)) for number in range(5)]
        soon = [engine.submit(page(tmp_path, number, priority=1)) for number in range(5, 10)]
        server.revive()
        for future in (*late, *soon):
            future.result(120)
    assert order == [1] * 5 + [10] * 5


@pytest.mark.slow
def test_seats_are_filled_while_pages_remain(tmp_path: Path) -> None:
    with ScriptedVllm(Said("x", seconds=0.5), slots=16) as server, reading(server) as engine:
        for number in range(200):
            engine.submit(page(tmp_path, number))
        # More than run: when one ends, another is there to be seated.
        until(lambda: server.open > 16)


@pytest.mark.slow
def test_threads_do_not_grow_with_pages(tmp_path: Path) -> None:
    with ScriptedVllm() as server, reading(server) as engine:
        before = threading.active_count()
        requests = [page(tmp_path, number) for number in range(50)]
        futures = [engine.submit(requests[number % 50]) for number in range(700)]
        most = 0
        while not all(future.done() for future in futures):
            most = max(most, threading.active_count())
            time.sleep(0.01)
    assert most <= before + 1


@pytest.mark.slow
def test_each_page_gets_its_own_answer_among_many_alike(tmp_path: Path) -> None:
    with (
        ScriptedVllm(lambda asked: Said(asked.images[0], seconds=0.005), slots=16) as server,
        reading(server) as engine,
    ):
        requests = [page(tmp_path, number) for number in range(500)]
        futures = [engine.submit(request) for request in requests]
        got = [future.result(120).text for future in futures]
    assert got == [request.image.sha256 for request in requests]


@pytest.mark.slow
def test_waiting_time_at_the_server_is_told_with_the_reading(tmp_path: Path) -> None:
    with ScriptedVllm(Said("x", seconds=0.1), slots=1) as server, reading(server, in_flight=4) as engine:
        futures = [engine.submit(page(tmp_path, number)) for number in range(40)]
        waits = [future.result(120).queue_s for future in futures]
    # The first ones were sent at once, for one seat.
    assert max(wait or 0.0 for wait in waits) > 0.05


def test_facts_name_servers_versions_and_weights() -> None:
    with (
        ScriptedVllm(model=Model(version="0.25.1", root="/weights/x")) as one,
        ScriptedVllm() as two,
        reading(one, two) as engine,
    ):
        facts = engine.facts()
    assert (facts["vllm"], facts["model"]) == ("0.25.1, 0.32.0", "/models/glm-ocr, /weights/x")
    assert re.fullmatch(r"(http://127.0.0.1:\d+ vllm 0[\d.]+(, )?){2}", facts["server"])


@pytest.mark.slow
def test_a_page_costs_the_client_a_few_milliseconds(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tasks.work.doubles.vllm_server", "--port", "0", "--slots", "32"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            with reading(url) as engine:
                requests = [page(tmp_path, number, size=(1_000, 1_000)) for number in range(20)]
                until(lambda: not engine.waiting_for)
                started = time.process_time()
                futures = [engine.submit(requests[number % 20]) for number in range(500)]
                for future in futures:
                    future.result(120)
                spent = (time.process_time() - started) / 500
        finally:
            server.terminate()
    # 3 ms where it was measured: this is for what a page must never cost, on a slow machine either.
    assert spent < 0.050
