"""What Prefect costs: many pages, a real server on a real Postgres, and an engine that costs nothing.

    python -m bench.orchestration [--pages 10000] [--pages-a-document 25]
        [--recipe KEY=VALUE …] [--out FOLDER]

One `ingest` flow splits, draws, reads, checks and loads; only the engine is a fake. Server: CPU of the
server's processes and of its database's connections, from the run's start to its end. Client: Prefect's
threads in the flow's process, and what its calls of flows and tasks took beyond the functions that they wrap.
Behind: the longest time from an event or a state at the client to its row in the server's database. Exit code
1 when a target is missed: 2 task runs for 256 pages of a stage, 5 % of all CPU, 10 s.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg

from bench import arguments, growth
from bench.family import tree_s
from bench.ingested import stop
from bench.result import Result, Row, machine
from bench.served import free_port
from db import embedded, postmaster
from flows.installation.api import wait_for_server
from flows.installation.database import NAME
from flows.installation.environment import client_variables

TASK_RUNS, SHARE, BEHIND_S = 2 / 256, 0.05, 10.0
"""At most so many task runs a page and stage, so much of all CPU, so many seconds."""

_START_S = 180.0
_IDLE_S = 20.0
_SETTLE_S = 12.0
_LOOK_S = 0.5
_RECORDED = """
SELECT (SELECT coalesce(extract(epoch FROM max(created - timestamp)), 0) FROM task_run_state),
       (SELECT coalesce(extract(epoch FROM max(recorded - occurred)), 0) FROM events),
       (SELECT count(*) FROM task_run WHERE state_type = 'COMPLETED'), (SELECT count(*) FROM events)
"""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the server's database holds after a run."""

    states_behind_s: float
    events_behind_s: float
    task_runs: int
    events: int


class Clock:
    """CPU seconds of a server's processes, and of Postgres by database, since the clock was made."""

    def __init__(self, server: psutil.Process, home: Path) -> None:
        self._server, self._home = server, home
        self._seen: dict[tuple[int, float], tuple[str, float]] = {}
        self.look()
        self._before = self._sums()

    def look(self) -> None:
        """Take in what they have used; call often, since connections end."""
        for process in self._members():
            try:
                times, key = process.cpu_times(), (process.pid, process.create_time())
                known = self._seen.get(key)
                part = known[0] if known else self._part(process)
            except psutil.Error:
                continue
            self._seen[key] = part, times.user + times.system

    def seconds(self) -> Mapping[str, float]:
        """By part: server, its database, the rest of Postgres."""
        sums = self._sums()
        return {part: sums[part] - self._before[part] for part in ("server", "database", "postgres")}

    def _sums(self) -> dict[str, float]:
        sums: dict[str, float] = defaultdict(float)
        for part, seconds in self._seen.values():
            sums[part] += seconds
        return sums

    def _members(self) -> list[psutil.Process]:
        found = []
        for root in (self._server, postmaster.find_server(self._home.resolve() / "postgres")):
            with suppress(psutil.Error):
                found += [root, *root.children(recursive=True)] if root else []
        return found

    def _part(self, process: psutil.Process) -> str:
        title = " ".join(process.cmdline())
        if not title.startswith("postgres"):
            return "server" if "postgres" not in process.name() else "postgres"
        # As a connection's process calls itself: "postgres: USER DATABASE ADDRESS STATE".
        return "database" if f" {NAME} " in title else "postgres"


@contextmanager
def prefect_server(home: Path, port: int) -> Iterator[tuple[str, psutil.Process]]:
    """The server as `pagemill up` runs it: its API's URL and its process."""
    environ = os.environ | {"PAGEMILL_HOME": str(home)}
    command = [sys.executable, "-m", "flows.installation.server", "127.0.0.1", str(port)]
    with (home / "server.log").open("wb") as log:
        # In a session of its own, as an installation keeps it.
        process = psutil.Popen(
            command, env=environ, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
    url = f"http://127.0.0.1:{port}/api"
    try:
        wait_for_server(url, None, _START_S, lambda: None)
        yield url, process
    finally:
        process.terminate()
        process.wait(60)


def idle(server: psutil.Process, home: Path) -> float:
    """CPU seconds a second of server and database while nobody asks anything of them."""
    clock = Clock(server, home)
    time.sleep(_IDLE_S)
    clock.look()
    used = clock.seconds()
    return (used["server"] + used["database"]) / _IDLE_S


def run(
    folder: Path, home: Path, url: str, clock: Clock, recipe: Sequence[str] = ()
) -> tuple[dict[str, Any], float]:
    """The flow in a process of its own: what it told, and the CPU seconds of it and its workers."""
    environ = os.environ | {"PAGEMILL_HOME": str(home), "PAGEMILL_VECTORS": "false"}
    environ |= client_variables(home, url, None)
    flow_s = 0.0
    with (home / "run.log").open("wb") as log:
        command = [sys.executable, "-m", "bench.orchestrated", str(folder), *recipe]
        process = psutil.Popen(
            command, env=environ, stdout=subprocess.PIPE, stderr=log, start_new_session=True
        )
        try:
            while process.poll() is None:
                clock.look()
                flow_s = max(flow_s, tree_s(process))
                time.sleep(_LOOK_S)
        finally:
            if process.poll() is None:
                process.terminate()
    if process.returncode:
        raise SystemExit((home / "run.log").read_text()[-4000:])
    told: dict[str, Any] = json.loads(process.communicate()[0].splitlines()[-1])
    return told, flow_s


def recorded(home: Path) -> Recorded:
    """From the server's own tables, after all has had time to come in."""
    url = embedded.start(home).replace("+psycopg", "").replace("/pagemill?", f"/{NAME}?")
    with psycopg.connect(url) as connection:
        row = connection.execute(_RECORDED).fetchone()
    assert row is not None
    return Recorded(float(row[0]), float(row[1]), int(row[2]), int(row[3]))


def measure(pages: int, a_document: int, home: Path, recipe: Sequence[str] = ()) -> list[Row]:
    """Rows of figure, value and target, of one run in the fresh folder `home`."""
    growth.documents(home / "in", pages, a_document)
    embedded.start(home)
    try:
        with prefect_server(home, free_port()) as (url, server):
            idle_s = idle(server, home)
            clock, started = Clock(server, home), time.monotonic()
            told, flow_s = run(home / "in", home, url, clock, recipe)
            wall_s, used = time.monotonic() - started, clock.seconds()
            time.sleep(_SETTLE_S)
            parts = {**used, "flow": flow_s, "idle": idle_s * wall_s}
            return rows(pages, told, parts, recorded(home), wall_s)
    finally:
        stop(home)


def rows(
    pages: int, told: Mapping[str, Any], used: Mapping[str, float], kept: Recorded, wall_s: float
) -> list[Row]:
    """What was measured, beside what may be."""
    client = told["calls_s"] + told["prefect_threads_s"]
    server = used["server"] + used["database"]
    whole = used["flow"] + server + used["postgres"]
    share = (client + server) / whole
    most = TASK_RUNS * pages
    stages = sorted(told["task_runs"].items())
    return [
        *({"what": f"task runs, {name}", "value": count, "at_most": round(most)} for name, count in stages),
        {"what": "Prefect's share of all CPU", "value": round(share, 4), "at_most": SHARE},
        {"what": "states behind, s", "value": round(kept.states_behind_s, 2), "at_most": BEHIND_S},
        {"what": "events behind, s", "value": round(kept.events_behind_s, 2), "at_most": BEHIND_S},
        {
            "what": "task runs not recorded",
            "value": sum(told["task_runs"].values()) - kept.task_runs,
            "at_most": 0,
        },
        {
            "what": "CPU s, flow and its workers, Prefect's part left out",
            "value": round(used["flow"] - client, 1),
        },
        {"what": "CPU s, Prefect's client: calls", "value": round(told["calls_s"], 2)},
        {"what": "CPU s, Prefect's client: threads", "value": round(told["prefect_threads_s"], 2)},
        {"what": "CPU s, Prefect's server", "value": round(used["server"], 2)},
        {"what": "CPU s, Prefect's database", "value": round(used["database"], 2)},
        {"what": "CPU s, server and database in as long without a run", "value": round(used["idle"], 2)},
        {"what": "CPU s, the rest of Postgres", "value": round(used["postgres"], 1)},
        {"what": "events recorded", "value": kept.events},
        {"what": "wall s", "value": round(wall_s, 1)},
    ]


def is_met(found: list[Row]) -> bool:
    """Whether every figure that has a target keeps to it."""
    return all(float(row["value"] or 0) <= float(row["at_most"] or 0) for row in found if "at_most" in row)


def main() -> int:
    """0 when all targets are met."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--pages-a-document", type=int, default=25)
    parser.add_argument("--recipe", nargs="*", default=[], help="options of the recipe, KEY=VALUE")
    parser.add_argument("--out", type=Path, default=Path("bench-results"))
    wish = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pm-") as folder:
        found = measure(wish.pages, wish.pages_a_document, Path(folder), wish.recipe)
    facts = machine() | {"pages": wish.pages, "pages_a_document": wish.pages_a_document}
    facts["recipe"] = " ".join(wish.recipe)
    result = Result("orchestration", "what Prefect costs", tuple(found), facts)
    print(result.table())
    print(result.save(wish.out))
    return int(not is_met(found))


if __name__ == "__main__":
    arguments.run(main)
