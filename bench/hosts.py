"""Scaling out: the same work on one host and on two, which share Postgres and the store, and nothing else.

    python -m bench.hosts [--pages 120] [--rounds 2] [--stages split ocr load]

A host is a network namespace with a name of its own and one core (2 cores: two hosts). Postgres listens on
the cables, asks for a password, and is reached by TCP; the store is a folder that each home links to. Every
round puts in new documents and works them off twice, as one host and as two: drains of split, then of ocr, at
a scripted server of each host, then of load. Needs root, Linux and at least two cores.

Exit code 1 when a page was read twice or not at all, or when one of two hosts did nothing.
"""

import argparse
import datetime as dt
import json
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import psutil
import psycopg
import pymupdf

from bench import arguments
from bench.double import profile_file
from bench.hosts_net import Host, Server, hosts, postgres, why_not
from bench.result import Row, table
from bench.watch import CpuClock
from flows.opening import CALLER, Caller, open_mill
from models.settings import load_settings
from tasks.register import register_roots

PROFILE = "hosts"
STAGES = ("split", "ocr", "load")
TEXT = "Words on paper that stand on every page of this document, in just this order."
_DOCUMENT_PAGES = 20
_END_S = 900.0
_RATES = """
SELECT stage, sum(stage_run.pages),
       extract(epoch FROM max(stage_run.ended_at) - min(stage_run.started_at))::float,
       count(DISTINCT split_part(worker, ':', 1)), max(attempt)
FROM stage_run JOIN document ON document.id = document_id JOIN source ON source.document_id = document.id
WHERE starts_with(uri, %s) GROUP BY stage
"""


@dataclass(frozen=True, slots=True)
class Farm:
    """What the hosts share, and where each has its home."""

    folder: Path
    server: Server
    everyone: tuple[Host, ...]

    def home(self, host: Host) -> Path:
        """Of a host; its store is everyone's."""
        home = self.folder / host.name
        if not home.exists():
            (home / "profiles").mkdir(parents=True)
            (home / "profiles" / f"{PROFILE}.toml").write_text(profile_file(PROFILE))
            (home / "store").symlink_to(self.folder / "store")
        return home

    def environment(self, host: Host) -> dict[str, str]:
        """Of a host's processes."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PAGEMILL_", "PREFECT_"))}
        return kept | {
            "PAGEMILL_HOME": str(self.home(host)),
            "PAGEMILL_DATABASE_URL": self.server.url(host.ours),
            "PAGEMILL_JOBS": "1",
            "PAGEMILL_VECTORS": "false",
            # The scripted servers say what they were told to, not what stands on a page.
            "PAGEMILL_OCR_GOLDEN": "false",
        }


@dataclass
class Round:
    """The same work, done by some hosts."""

    workers: int
    pages: int
    cpu_s: dict[str, float] = field(default_factory=dict)
    """Of the hosts' processes, by stage."""
    rates: dict[str, tuple[int, float, int, int]] = field(default_factory=dict)
    """By stage: pages, seconds from the first to the last, hosts that did some, most attempts."""
    asked: Counter[str] = field(default_factory=Counter)
    """Requests by picture, at all servers."""

    def faults(self) -> list[str]:
        """What must not be, where pages were read."""
        if self.cpu_s and "ocr" not in self.cpu_s:
            return []
        read, _, at_work, tries = self.rates.get("ocr", (0, 0.0, 0, 0))
        checks = {
            f"{self.pages - read} pages not read": read != self.pages,
            f"{sum(self.asked.values()) - self.pages} pages asked again": self.asked.total() != self.pages,
            f"read in {tries} attempts": tries != 1,
            f"{at_work} of {self.workers} hosts read": at_work != self.workers,
        }
        return [about for about, is_so in checks.items() if is_so]


def measure(farm: Farm, workers: int, pages: int, number: int, stages: Sequence[str] = STAGES) -> Round:
    """New documents, worked off by so many hosts, each on a core of its own."""
    done = Round(workers, pages)
    inbox = farm.folder / f"in-{number}-{workers}"
    fill(inbox, pages)
    _enter(farm, inbox)
    for stage in stages:
        done.cpu_s[stage] = 0.0
        for told, cpu_s in _drain(farm, stage, workers):
            done.cpu_s[stage] += cpu_s
            done.asked.update(told)
    with psycopg.connect(farm.server.url(farm.everyone[0].ours)) as connection:
        rows = connection.execute(_RATES, [f"{inbox}/"]).fetchall()
    done.rates = {row[0]: (int(row[1]), row[2], int(row[3]), int(row[4])) for row in rows}
    return done


def _drain(farm: Farm, stage: str, workers: int) -> Iterator[tuple[list[str], float]]:
    """What each host asked its server, and the CPU seconds it used; all begin when all are ready."""
    runs = [_Run.start(farm, stage, core) for core in range(workers)]
    _wait(lambda: all(run.is_ready() for run in runs), runs)
    for run in runs:
        run.go()
    _wait(lambda: all(run.process.poll() is not None for run in runs), runs)
    for run in runs:
        told = run.log.read_text()
        if run.process.returncode:
            raise SystemExit(told[-4_000:])
        yield json.loads(told.splitlines()[-1]), run.clock.seconds - run.before_s


@dataclass
class _Run:
    """One drain of one host."""

    process: psutil.Popen
    clock: CpuClock
    log: Path
    before_s: float = 0.0
    """CPU seconds until it was ready."""

    @classmethod
    def start(cls, farm: Farm, stage: str, core: int) -> Self:
        """On the host of that number, pinned to that core."""
        host = farm.everyone[core]
        log = farm.home(host) / f"{stage}.log"
        command = [sys.executable, "-m", "bench.hosts_drain", stage]
        process = host.start(command, farm.environment(host), core, log)
        return cls(process, CpuClock(process.pid), log)

    def is_ready(self) -> bool:
        """Whether it waits for the word, or has ended before."""
        return self.process.poll() is not None or "ready" in self.log.read_text()

    def go(self) -> None:
        """The word."""
        self.clock.look()
        self.before_s = self.clock.seconds
        with suppress(BrokenPipeError):  # it has ended, which is told when all have
            self.process.stdin.write("go\n")
            self.process.stdin.close()


def _wait(truth: Callable[[], bool], runs: Sequence[_Run]) -> None:
    """Look at what the runs use until it is so. Raises TimeoutError after a quarter of an hour."""
    until = time.monotonic() + _END_S
    while not truth():
        for run in runs:
            run.clock.look()
        if time.monotonic() > until:
            raise TimeoutError("a drain does not end")
        time.sleep(0.1)


def fill(inbox: Path, pages: int) -> None:
    """Documents of at most 20 pages, none like another."""
    inbox.mkdir()
    for first in range(0, pages, _DOCUMENT_PAGES):
        with pymupdf.open() as document:
            for number in range(first, min(first + _DOCUMENT_PAGES, pages)):
                page = document.new_page()
                page.insert_text((72, 96), TEXT, fontsize=11)
                page.insert_text((72, 760), f"{inbox.name} {number}", fontsize=11)
            document.save(inbox / f"{first:05}.pdf")


def _enter(farm: Farm, inbox: Path) -> None:
    """Into the ledger, as a scan does."""
    host = farm.everyone[0]
    settings = load_settings(home=farm.home(host), database_url=farm.server.url(host.ours))
    token = CALLER.set(Caller(settings, lambda _: None, threading.Event()))
    try:
        with open_mill("ingest", PROFILE, [], 1, reads=False) as (mill, recipe_id):
            register_roots(mill, [inbox], recipe_id)
    finally:
        CALLER.reset(token)


def rows(rounds: Sequence[Round]) -> list[Row]:
    """A row for each stage and number of hosts: the rounds together."""
    found: list[Row] = []
    for stage, key in (("split", "split"), ("preprocess", "split"), ("ocr", "ocr"), ("load", "load")):
        for workers in sorted({one.workers for one in rounds}):
            some = [one for one in rounds if one.workers == workers and stage in one.rates]
            if not some:
                continue
            pages = sum(one.pages for one in some)
            seconds = sum(one.rates[stage][1] for one in some)
            found.append(
                {
                    "stage": stage,
                    "hosts, a core each": workers,
                    "pages": pages,
                    "pages a second": round(pages / seconds, 2) if seconds else None,
                    "CPU s a page": round(sum(one.cpu_s[key] for one in some) / pages, 3),
                    "pages asked twice": sum(one.asked.total() - len(one.asked) for one in some),
                }
            )
    return found


@contextmanager
def farm(folder: Path, port: int) -> Iterator[Farm]:
    """Two hosts, a Postgres and an empty store."""
    (folder / "store").mkdir()
    with ExitStack() as stack:
        everyone = stack.enter_context(hosts(2))
        addresses = [host.ours for host in everyone]
        server = stack.enter_context(postgres(folder / "db", addresses, port))
        yield Farm(folder, server, everyone)


def main() -> int:
    """0 when each page was read once, by both hosts where there were two."""
    parser = argparse.ArgumentParser(prog="python -m bench.hosts", description=__doc__.split("\n")[0])
    parser.add_argument("--pages", type=int, default=120, help="of each round")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=STAGES, help="drains to run")
    parser.add_argument("--port", type=int, default=22_432, help="of Postgres, on the cables alone")
    told = parser.parse_args()
    if why := why_not():
        print(f"left out: {why}")
        return 0
    with tempfile.TemporaryDirectory(prefix="pm-") as name, farm(Path(name), told.port) as made:
        turns = [(turn, hosts) for turn in range(told.rounds) for hosts in (1, 2)]
        rounds = [measure(made, n, told.pages, turn, told.stages) for turn, n in turns]
    faults = [fault for one in rounds for fault in one.faults()]
    print(f"{dt.datetime.now(dt.UTC).date()}, load {os.getloadavg()[1]:.0f} on {os.cpu_count()} cores")
    print(table(rows(rounds)), *faults, sep="\n")
    return int(bool(faults))


if __name__ == "__main__":
    arguments.run(main)
