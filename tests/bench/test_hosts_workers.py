"""Two hosts with `pagemill up` on each, at toy size: what is told of a round, and a real one."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from bench import hosts_net, hosts_workers
from bench.hosts import TEXT, farm
from bench.hosts_workers import Round, machines, measure
from bench.served import free_port
from tasks.work.doubles.vllm_server import Asked, Said
from tasks.work.doubles.vllm_server.script import Script

DONE = {("ocr", "pm-1"): (3, 10.0, 12.0), ("ocr", "pm-2"): (1, 11.0, 14.0)}
RUNS = [("ingest", "cpu-pm-2", "Completed"), ("ocr", "gpu-pm-1", "Completed")]
COUNTS = {"documents": 1, "complete": 1, "pages_known": 4, "readings": 4, "editions": 1}
GOOD = Round(2, 4, **COUNTS, is_found=True, asked=Counter("abcd"), done=DONE, runs=RUNS)


def test_a_round_in_which_both_hosts_read_and_each_page_was_asked_once_has_no_fault() -> None:
    assert GOOD.faults() == []


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"pages_known": 3}, "1 pages lost"),
        ({"complete": 0}, "1 documents not complete"),
        ({"readings": 5}, "5 readings"),
        ({"editions": 2}, "2 editions"),
        ({"asked": Counter("abcdd")}, "1 pages asked again"),
        ({"asked": Counter("abc")}, "3 pages asked"),
        ({"runs": RUNS[:1]}, "runs on 1 of 2 hosts"),
        ({"done": {("ocr", "pm-1"): (4, 1.0, 2.0)}}, "1 of 2 hosts read"),
        ({"is_found": False}, "not to be found"),
    ],
)
def test_what_must_not_be_is_told(changed: Mapping[str, Any], fault: str) -> None:
    assert replace(GOOD, **changed).faults() == [fault]


def test_a_kill_may_cost_the_requests_that_were_under_way_and_no_more() -> None:
    killed = replace(GOOD, is_killed=True, asked=Counter("abcddd"))
    assert killed.faults(most_lost=2) == []
    assert killed.faults(most_lost=1) == ["2 pages asked again"]


def test_pages_a_second_are_counted_from_the_first_to_the_last_of_all_hosts() -> None:
    (row,) = hosts_workers.rows([GOOD])
    assert row["stage"] == "ocr"
    assert row["pages a second"] == 1.0
    assert row["pages by host"] == "3 + 1"
    assert row["hosts, a core each"] == "2"
    assert hosts_workers.rows([replace(GOOD, is_killed=True)])[0]["hosts, a core each"] == "2, one killed"


def test_flow_runs_are_told_by_flow_and_worker() -> None:
    told = hosts_workers.run_rows(replace(GOOD, runs=[*RUNS, RUNS[1]]))
    assert [(row["flow run"], row["worker"], row["number"]) for row in told] == [
        ("ingest", "cpu-pm-2", 1),
        ("ocr", "gpu-pm-1", 2),
    ]


class Waiting:
    """Scripts of servers that take their time until each of both has been asked."""

    def __init__(self) -> None:
        self.asked: set[int] = set()

    def script(self, number: int) -> Script:
        """Of one of them."""

        def say(_: Asked) -> Said:
            self.asked.add(number)
            return Said(TEXT, seconds=0.0 if len(self.asked) > 1 else 5.0)

        return say


@pytest.mark.slow
@pytest.mark.skipif(hosts_net.why_not() != "", reason="no network namespaces here")
def test_workers_of_two_hosts_share_the_work_of_one_run_and_read_each_page_once() -> None:
    with (
        TemporaryDirectory(prefix="pm-") as folder,
        farm(Path(folder), free_port()) as made,
        machines(made, free_port(), Waiting().script) as both,
    ):
        both[1].up()
        one = measure(both, 2, 120, 0)
    assert one.faults() == []
    assert {flow for flow, _, _ in one.runs} == {"ingest", "split", "ocr", "load"}
