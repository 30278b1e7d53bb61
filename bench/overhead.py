"""What pagemill costs around OCR, and whether the cores are busy meanwhile.

    python -m bench.overhead FILE_OR_FOLDER… [--jobs N] [--recipe KEY=VALUE] [--write docs/overhead.md]

Runs one `pagemill ingest` in a fresh home and watches its processes. CPU seconds tell the parts apart: the
command itself (flows, ledger, checks), Postgres, and the worker processes that render, read and embed. The
overhead is what command and Postgres used, as a share of all. Busy is the share of time in which the cores
worked, while OCR had pages waiting; other programs on the machine count as busy too, so keep it quiet.
"""

import argparse
import datetime as dt
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from bench import arguments
from bench.family import Family
from bench.ingested import stop

PAGEMILL = str(Path(sys.executable).parent / "pagemill")
_LOOK_S = 0.5


@dataclass
class Watch:
    """What the processes used, and how busy the machine was, look by look."""

    family: Family = field(default_factory=Family)
    busy: list[tuple[float, float]] = field(default_factory=list)
    """Seconds since the start, share of all cores that worked."""

    def look(self, command: psutil.Process, home: Path, elapsed: float) -> None:
        """Take in what has been used since the last look."""
        self.busy.append((elapsed, psutil.cpu_percent() / 100))
        self.family.look(command, home, at_pss=False)

    def busy_between(self, first: float, last: float) -> float:
        """Mean share of the cores that worked between two moments."""
        shares = [share for elapsed, share in self.busy if first <= elapsed <= last]
        return sum(shares) / len(shares) if shares else 0.0


def run(sources: list[str], home: Path, jobs: int, recipe: list[str]) -> tuple[Watch, float]:
    """Ingest and watch; the watch and the wall seconds."""
    options = [part for option in recipe for part in ("--recipe", option)]
    command = [PAGEMILL, "ingest", *sources, "--jobs", str(jobs), *options]
    env = os.environ | {"PAGEMILL_HOME": str(home)}
    started = time.monotonic()
    process = psutil.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    watch = Watch()
    psutil.cpu_percent()
    while process.poll() is None:
        time.sleep(_LOOK_S)
        watch.look(process, home, time.monotonic() - started)
    if process.returncode not in {0, 3}:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}: there is nothing to tell.")
    return watch, time.monotonic() - started


def _timings(home: Path) -> dict[str, Any]:
    env = os.environ | {"PAGEMILL_HOME": str(home)}
    answer = subprocess.run([PAGEMILL, "timings", "--json"], env=env, check=True, capture_output=True)
    stop(home)
    report: dict[str, Any] = json.loads(answer.stdout)
    return report


def report(watch: Watch, wall_s: float, timings: dict[str, Any], jobs: int) -> str:
    """The figures as Markdown."""
    cpu = watch.family.cpu
    total = sum(cpu.values()) or 1.0
    around = (cpu["command"] + cpu["postgres"]) / total
    ocr = next(row for row in timings["rows"] if row["key"] == "ocr")
    # Start-up and the last page's loading have no OCR waiting.
    busy = watch.busy_between(0.1 * wall_s, 0.9 * wall_s)
    lines = [
        "| what | figure |",
        "| --- | --- |",
        f"| pages read | {ocr['pages']} |",
        f"| wall seconds | {wall_s:.0f} |",
        f"| worker processes | {jobs} |",
        *(
            f"| CPU seconds, {role} | {cpu[role]:.0f} ({cpu[role] / total:.1%}) |"
            for role in ("command", "postgres", "worker")
        ),
        f"| **overhead: command and Postgres, share of CPU** | **{around:.1%}** |",
        f"| **cores busy from 10 % to 90 % of the run** | **{busy:.0%}** |",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--recipe", action="append", default=[])
    parser.add_argument("--write", type=Path)
    wish = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pm-") as folder:
        watch, wall_s = run(wish.sources, Path(folder), wish.jobs, wish.recipe)
        figures = report(watch, wall_s, _timings(Path(folder)), wish.jobs)
    print(figures)
    if wish.write:
        command = "python -m bench.overhead " + " ".join(Path(source).name for source in wish.sources)
        head = f"# Overhead around OCR\n\nMeasured {dt.datetime.now(dt.UTC):%Y-%m-%d} by `{command}`.\n\n"
        wish.write.write_text(f"{head}{figures}\n")


if __name__ == "__main__":
    arguments.run(main)
