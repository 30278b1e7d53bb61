"""Scaling out with all that belongs to it: `pagemill up` on two hosts, as docs/installation.md says.

    python -m bench.hosts_workers [--pages 2000] [--rounds 1] [--kill]

The hosts are those of bench.hosts: network namespaces with a name, a home and one core of their own, which
share Postgres and the store. The first runs the Prefect server; each has a worker of the pool `cpu`, one of
the pool `gpu`, and an OCR server of its own, scripted, that takes 0.2 s for a page. New documents are read by
a run of `ingest/adhoc`, by the first host alone and then by both. Needs root, Linux and at least two cores.

With --kill all processes of the second host are killed when a third of the pages is read.

Exit code 1 when a page was lost, read twice, or when one of two hosts did nothing.
"""

import argparse
import datetime as dt
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.sorting import FlowRunSort
from pydantic import SecretStr

from bench import arguments
from bench.hosts import PROFILE, TEXT, Farm, farm, fill
from bench.hosts_net import Host, why_not
from bench.recovery_site import wait_until
from bench.result import Row, table
from flows.installation.api import open_client
from tasks.work.doubles.vllm_server import Model, Said, ScriptedVllm
from tasks.work.doubles.vllm_server.script import Script

_AUTH = "mill:hunter2"
_SAID = Said(TEXT, seconds=0.2)
_UNDER_WAY = 8 + 64
"""Most pages that a killed host was asking for, or had the answers of and not committed."""
_END_S = 1_200.0
_STAGES = ("split", "preprocess", "ocr", "load")

_DONE = """
SELECT stage, split_part(split_part(worker, ':', 1), '+', 1), sum(stage_run.pages),
       extract(epoch FROM min(stage_run.started_at))::float,
       extract(epoch FROM max(stage_run.ended_at))::float
FROM stage_run JOIN document ON document.id = document_id JOIN source ON source.document_id = document.id
WHERE starts_with(uri, %s) AND outcome = 'ok' GROUP BY 1, 2
"""
_STATE = """
SELECT count(*) FILTER (WHERE status = 'complete'), coalesce(sum(page_count), 0),
       (SELECT count(*) FROM reading JOIN source USING (document_id) WHERE starts_with(uri, %(inbox)s)),
       (SELECT count(*) FROM edition JOIN source USING (document_id) WHERE starts_with(uri, %(inbox)s))
FROM document JOIN source ON source.document_id = document.id WHERE starts_with(uri, %(inbox)s)
"""


@dataclass(frozen=True, slots=True)
class Machine:
    """A host with an installation of its own."""

    farm: Farm
    host: Host
    core: int
    port: int
    """Of the Prefect server, on the first host."""
    ocr: ScriptedVllm

    def environment(self) -> dict[str, str]:
        """Of its commands: what docs/installation.md lets a person export."""
        told = {"PAGEMILL_PREFECT_AUTH": _AUTH, "PAGEMILL_OCR_URL": self.ocr.url}
        if self.core:
            told["PREFECT_API_URL"] = f"http://{self.host.first}:{self.port}/api"
        return self.farm.environment(self.host) | told

    def call(self, *words: object) -> str:
        """What a command of pagemill says there. Raises SystemExit with that where it fails."""
        command = [sys.executable, "-m", "cli.main", *map(str, words)]
        log = self.farm.home(self.host) / "command.log"
        process = self.host.start(command, self.environment(), self.core, log)
        process.communicate(timeout=_END_S)
        if process.returncode:
            raise SystemExit(f"{self.host.name}: {log.read_text()[-4_000:]}")
        return log.read_text()

    def up(self) -> None:
        """Bring it up; the first with the server."""
        first = () if self.core else ("--host", "0.0.0.0", "--port", self.port)
        self.call("up", "--gpu", PROFILE, *first)

    def kill(self) -> None:
        """As a machine that loses its current."""
        listed = subprocess.run(
            ["ip", "netns", "pids", self.host.name], capture_output=True, text=True, check=True
        )
        for pid in listed.stdout.split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)


@dataclass
class Round:
    """The same work, done by some hosts."""

    hosts: int
    pages: int
    is_killed: bool = False
    documents: int = 0
    complete: int = 0
    pages_known: int = 0
    readings: int = 0
    editions: int = 0
    is_found: bool = False
    """A search on the last host finds it."""
    asked: Counter[str] = field(default_factory=Counter)
    """Requests by picture, at all servers."""
    done: dict[tuple[str, str], tuple[int, float, float]] = field(default_factory=dict)
    """By stage and host: pages, and when the first began and the last ended."""
    runs: list[tuple[str, str, str]] = field(default_factory=list)
    """Flow, worker and last state of each flow run."""

    def faults(self, most_lost: int = _UNDER_WAY) -> list[str]:
        """What must not be; a kill may cost `most_lost` requests."""
        again = self.asked.total() - len(self.asked)
        at_work = {worker.partition("-")[2] for _, worker, _ in self.runs}
        readers = {host for stage, host in self.done if stage == "ocr"}
        checks = {
            f"{self.pages - self.pages_known} pages lost": self.pages_known != self.pages,
            f"{self.documents - self.complete} documents not complete": self.complete != self.documents,
            f"{self.readings} readings": self.readings != self.pages,
            f"{self.editions} editions": self.editions != self.documents,
            f"{again} pages asked again": again > (most_lost if self.is_killed else 0),
            f"{len(self.asked)} pages asked": len(self.asked) != self.pages,
            f"runs on {len(at_work)} of {self.hosts} hosts": len(at_work) != self.hosts,
            f"{len(readers)} of {self.hosts} hosts read": len(readers) != self.hosts,
            "not to be found": not self.is_found,
        }
        return [about for about, is_so in checks.items() if is_so]

    @property
    def name(self) -> str:
        """How many hosts, and what became of them."""
        return f"{self.hosts}{', one killed' if self.is_killed else ''}"

    def rate(self, stage: str) -> float:
        """Pages a second, from the first that was begun to the last that was done."""
        some = [of for (name, _), of in self.done.items() if name == stage]
        return sum(of[0] for of in some) / (max(of[2] for of in some) - min(of[1] for of in some))


def measure(
    machines: Sequence[Machine], hosts: int, pages: int, number: int, *, kills: bool = False
) -> Round:
    """New documents, read by a run that somebody asks the server for; `hosts` of the machines are up."""
    first, one = machines[0], Round(hosts, pages, kills)
    inbox = first.farm.folder / f"inbox{number}{hosts}{'k' if kills else ''}"
    fill(inbox, pages)
    one.documents = len(list(inbox.iterdir()))
    seen = [len(machine.ocr.entries) for machine in machines]
    url = f"http://{first.host.theirs}:{first.port}/api"
    with open_client(url, SecretStr(_AUTH)) as client:
        before = {run.id for run in _runs(client)}
        adhoc = client.read_deployment_by_name("ingest/adhoc")
        wish = {"paths": [str(inbox)], "profile": PROFILE, "settle_s": 0.0}
        client.create_flow_run_from_deployment(adhoc.id, parameters=wish)
        if kills:
            wait_until(lambda: _asked(machines, seen).total() > pages / 3, _END_S, "a third is read")
            machines[-1].kill()
        wait_until(lambda: _look(first, inbox, one), _END_S, "all documents are complete")
        wait_until(lambda: not _under_way(client, before), _END_S, "all runs have ended")
        one.runs = [(*run.name.split()[:2], run.state_name) for run in _runs(client) if _is_of(run, before)]
    one.asked = _asked(machines, seen)
    one.is_found = bool(json.loads(first.call("search", inbox.name, "--json")))
    return one


def _look(first: Machine, inbox: Path, one: Round) -> bool:
    """Note what the ledger says; whether all is complete."""
    with psycopg.connect(first.farm.server.url(first.host.ours)) as connection:
        state = connection.execute(_STATE, {"inbox": f"{inbox}/"}).fetchone()
        rows = connection.execute(_DONE, [f"{inbox}/"]).fetchall()
    assert state is not None
    one.complete, one.pages_known, one.readings, one.editions = map(int, state)
    one.done = {(row[0], row[1]): (int(row[2]), row[3], row[4]) for row in rows}
    return one.complete == one.documents


def _asked(machines: Sequence[Machine], seen: Sequence[int]) -> "Counter[str]":
    """Requests by picture after the first `seen` of each server."""
    entries = [entry for machine, n in zip(machines, seen, strict=True) for entry in machine.ocr.entries[n:]]
    return Counter(image for entry in entries for image in entry.asked.images)


def _runs(client: SyncPrefectClient) -> list[Any]:
    """Those that were asked for, maintenance by the clock left out; the oldest first."""
    found = client.read_flow_runs(limit=200, sort=FlowRunSort.EXPECTED_START_TIME_DESC)
    return [run for run in reversed(found) if not run.auto_scheduled]


def _is_of(run: Any, before: set[Any]) -> bool:
    return run.id not in before and run.start_time is not None


def _under_way(client: SyncPrefectClient, before: set[Any]) -> list[Any]:
    """Runs that have begun and not ended; what waits for a dead host has not begun."""
    return [run for run in _runs(client) if _is_of(run, before) and not run.state.is_final()]


def rows(rounds: Sequence[Round]) -> list[Row]:
    """A row for each stage and round."""
    return [
        {
            "stage": stage,
            "hosts, a core each": one.name,
            "pages": one.pages,
            "pages a second": round(one.rate(stage), 2),
            "pages by host": " + ".join(
                str(of[0]) for (name, _), of in sorted(one.done.items()) if name == stage
            ),
        }
        for stage in _STAGES
        for one in rounds
        if any(name == stage for name, _ in one.done)
    ]


def run_rows(one: Round) -> list[Row]:
    """Which worker got which runs."""
    return [
        {"flow run": flow, "worker": worker, "ended": state, "number": n}
        for (flow, worker, state), n in Counter(one.runs).items()
    ]


@contextmanager
def machines(
    made: Farm, port: int, script: Callable[[int], Script] = lambda _: _SAID
) -> Iterator[list[Machine]]:
    """Its hosts, the first of them up; all that runs on them is ended afterwards.

    `script`: of the OCR server of each host, by number.
    """
    with ExitStack() as stack:
        found = []
        for core, host in enumerate(made.everyone):
            said = script(core)
            ocr = stack.enter_context(ScriptedVllm(said, model=Model(name=PROFILE), host=host.ours))
            found.append(Machine(made, host, core, port, ocr))
            stack.callback(found[-1].kill)
        found[0].up()
        yield found


def main() -> int:
    """0 when each page was read once, by both hosts where there were two."""
    parser = argparse.ArgumentParser(prog="python -m bench.hosts_workers", description=__doc__.split("\n")[0])
    parser.add_argument("--pages", type=int, default=2_000, help="of each round")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--kill", action="store_true", help="one more round, in which the second host dies")
    parser.add_argument(
        "--port", type=int, default=21_432, help="of Postgres, on the cables alone; next: Prefect"
    )
    told = parser.parse_args()
    if why := why_not():
        print(f"left out: {why}")
        return 0
    rounds: list[Round] = []
    with (
        tempfile.TemporaryDirectory(prefix="pm-") as name,
        farm(Path(name), told.port) as made,
        machines(made, told.port + 1) as both,
    ):
        for turn in range(told.rounds):
            rounds.append(measure(both, 1, told.pages, turn))
            both[1].up()
            rounds.append(measure(both, 2, told.pages, turn))
            if turn < told.rounds - 1:
                both[1].call("down")
        if told.kill:
            rounds.append(measure(both, 2, told.pages, told.rounds, kills=True))
    print(f"{dt.datetime.now(dt.UTC).date()}, load {os.getloadavg()[1]:.0f} on {os.cpu_count()} cores")
    print(table(rows(rounds)))
    for one in rounds:
        print(f"Hosts: {one.name}", table(run_rows(one)), sep="\n")
    faults = [fault for one in rounds for fault in one.faults()]
    print(*faults, sep="\n")
    return int(bool(faults))


if __name__ == "__main__":
    arguments.run(main)
