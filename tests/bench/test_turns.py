"""Servers in turn on the same pages."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench import result, turns
from bench.double import double
from models.errors import ConfigurationError
from tasks.work.doubles.vllm_server import Said, ScriptedVllm
from tests.bench import toys


@pytest.fixture
def pair() -> Iterator[tuple[ScriptedVllm, ScriptedVllm]]:
    with ScriptedVllm(Said("A page.", tokens=5)) as one, ScriptedVllm(Said("A page.", tokens=5)) as other:
        yield one, other


def body(page: int) -> bytes:
    message = {"role": "user", "content": "Text Recognition:"}
    return json.dumps({"model": "glm-ocr", "messages": [message], "page": page}).encode()


def test_each_round_has_pages_of_its_own_and_begins_with_another_server(
    pair: tuple[ScriptedVllm, ScriptedVllm],
) -> None:
    servers = {"a": pair[0].url, "b": pair[1].url}
    rounds = [[body(0), body(1)], [body(2), body(3)]]
    rows = list(turns.turns(servers, rounds, 1))
    assert [(row["server"], row["round"]) for row in rows] == [("a", 1), ("b", 1), ("b", 2), ("a", 2)]
    for server in pair:
        assert [entry.asked.body["page"] for entry in server.entries] == [0, 1, 2, 3]


def row(server: str, number: int, seconds: float, failed: int = 0) -> result.Row:
    return {"server": server, "round": number, "pages": 12, "failed": failed, "wall_s": seconds}


def test_a_server_is_held_against_the_first_on_the_same_pages() -> None:
    rows = [row("a", 1, 6.0), row("b", 1, 4.0), row("b", 2, 2.0), row("a", 2, 4.0)]
    told = turns.compared(rows, "a")
    assert [one["times"] for one in told] == [1, 1.5, 2, 1, 1, pytest.approx(5 / 3, abs=1e-3)]
    assert [(one["server"], one["pages_per_s"]) for one in told[4:]] == [("a", 2.4), ("b", 4.0)]


def test_where_requests_failed_nothing_is_said_of_speed() -> None:
    told = turns.compared([row("a", 1, 6.0), row("b", 1, 1.0, failed=11)], "a")
    assert [one["times"] for one in told] == [1, None, 1, None]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["a=http://x"], "Two servers at least"),
        (["a=http://x", "a=http://y"], "a name of its own"),
        (["http://x", "b=http://y"], "NAME=URL, not 'http://x'"),
        (["a=http://x", "b="], "NAME=URL, not 'b='"),
    ],
)
def test_servers_need_names(typed: list[str], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        turns.servers_of(typed)


@pytest.mark.slow
def test_the_slower_of_two_servers_is_told_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_process: None
) -> None:
    with double(4, 0.6, 5) as slow, double(4, 0.1, 5) as fast:
        words = ["glm-ocr", toys.FAX, "--server", f"slow={slow.url}", "--server", f"fast={fast.url}"]
        more = ["--pages", "2", "--rounds", "1", "--in-flight", "1", "--jobs", "1", "--out", tmp_path]
        monkeypatch.setattr(sys, "argv", ["bench.turns", *map(str, [*words, *more])])
        turns.main()
    told = result.load(tmp_path / "turns.json")
    assert [row["server"] for row in told.rows] == ["slow", "fast", "slow", "fast"]
    assert [row["failed"] for row in told.rows[:2]] == [0, 0]
    times = told.rows[-1]["times"]
    assert isinstance(times, float)
    assert times > 1
    assert told.facts["rounds"] == 1
