"""What an installation costs while nobody asks anything of it: CPU and memory of `pagemill up`.

    pagemill up
    python -m bench.installation --seconds 180

Memory is the proportional share (PSS), so that pages shared by processes count once; CPU is in percent of one
core. Reading them needs the same user, or root.
"""

import argparse
import time
from collections.abc import Iterable
from dataclasses import dataclass

import psutil

from bench import arguments
from db import postmaster
from models.settings import load_settings
from tasks.work.processes.background import MARK


@dataclass(frozen=True)
class Cost:
    """Of the processes of one name."""

    cpu_s: float = 0.0
    pss_mb: float = 0.0
    processes: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.cpu_s + other.cpu_s, self.pss_mb + other.pss_mb, self.processes + other.processes)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=180.0)
    seconds = parser.parse_args().seconds
    before = costs()
    time.sleep(seconds)
    after = costs()
    print("| part | processes | CPU of one core | PSS |\n| --- | --- | --- | --- |")
    for name, cost in [*sorted(after.items()), ("all", sum(after.values(), Cost()))]:
        earlier = sum(before.values(), Cost()) if name == "all" else before.get(name, Cost())
        share = (cost.cpu_s - earlier.cpu_s) / seconds
        print(f"| {name} | {cost.processes} | {share:.1%} | {cost.pss_mb:.0f} MB |")


def costs() -> dict[str, Cost]:
    """By name of the kept command, and Postgres."""
    home = load_settings().root.resolve()
    found: dict[str, Cost] = {}
    for process in psutil.process_iter():
        try:
            mark = process.environ().get(MARK, "")
        except psutil.Error:
            continue
        if mark.startswith(f"{home}/run/"):
            name = mark.rpartition("/")[2]
            found[name] = found.get(name, Cost()) + cost([process])
    server = postmaster.find_server(home / "postgres")
    if server is not None:
        found["Postgres itself"] = cost([server, *server.children(recursive=True)])
    return found


def cost(processes: Iterable[psutil.Process]) -> Cost:
    """Of these; those that end meanwhile, count for nothing."""
    total = Cost()
    for process in processes:
        try:
            times, memory = process.cpu_times(), process.memory_full_info()
        except psutil.NoSuchProcess:
            continue
        used = times.user + times.system + times.children_user + times.children_system
        total += Cost(used, memory.pss / 2**20, 1)
    return total


if __name__ == "__main__":
    arguments.run(main)
