"""Break a running installation in every way we know, and measure how it comes back.

    python -m bench.recovery [--kill NAME …] [--pages 60] [--scale 1.0] [--write docs/recovery.md]

The installation is a real one: `pagemill up` with the embedded Postgres, a Prefect server and a worker,
watching a folder every five minutes; a scripted OCR server takes its time for each page. For each kill a
document is put in and a scan asked for; in the middle of the work one thing is killed, really. Nothing else
is done by hand: what goes on, goes on by itself.

"Stood still" is the longest time in which the ledger shows no progress, from the kill to the end of the work.
Exit code 1 when a page was lost, failed without need, was read twice into the ledger or shown in part; when
work stood still, or a dead process held some, for more than three minutes beyond the outage; or when an
invariant of the ledger is broken. `--scale` shortens outages.
"""

import argparse
import datetime as dt
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg

from bench import arguments
from bench.recovery_kills import KILLS, Kill, answer_for
from bench.recovery_site import Site, site, wait_until
from bench.recovery_watch import Watch, asked_again, broken_rules, documents, is_ended, one, shown
from bench.result import Row, table

_MOST_S = 180.0
_BEGIN_S, _END_S, _SHOWN_S = 600.0, 900.0, 200.0
_READ = "SELECT count(*) FROM reading JOIN source USING (document_id) WHERE uri = %s"
_MADE = "SELECT count(*) FROM page_image JOIN source USING (document_id) WHERE uri = %s"
_BEGIN, _END = "<!-- table -->", "<!-- end -->"
_COMMAND = "python -m bench.recovery --write docs/recovery.md"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a kill did."""

    row: Row
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wish:
    """What is measured."""

    pages: int = 60
    scale: float = 1.0
    answer_s: float = 1.0


def measure(kill: Kill, wish: Wish, made: Site) -> Outcome:
    """One kill of an installation that has nothing to do."""
    outage_s = kill.outage_s * wish.scale
    made.answer_s = answer_for(outage_s, wish.answer_s, wish.pages)
    before = Before([run.id for run in shown(made, ())[0]], len(made.server.entries))
    path = made.put(kill.name, wish.pages, endless=bool(kill.failing))
    with Watch(made) as watch:
        made.begin()
        _wait_for_work(made, kill, path, wish.pages)
        struck = time.monotonic()
        kill.strike(made, outage_s)
        wait_until(lambda: is_ended(made, path), _END_S, f"all of the work, {kill.name}")
        ended = time.monotonic()
        runs = _runs_at_the_end(made, before.runs)
    return _outcome(made, kill, watch, Story(path, struck, ended, outage_s, runs, before.requests))


@dataclass(frozen=True, slots=True)
class Before:
    """What there was before a kill."""

    runs: Sequence[object]
    requests: int


@dataclass(frozen=True, slots=True)
class Story:
    """What was done when; moments on the monotonic clock."""

    path: Path
    struck: float
    ended: float
    outage_s: float
    runs: Sequence[str]
    requests: int
    """That were made before."""


def _outcome(made: Site, kill: Kill, watch: Watch, story: Story) -> Outcome:
    stood_s, resumed_s = watch.pause_after(story.struck, story.ended)
    with made.connect() as connection:
        (document,) = documents(connection, story.path)
    late = {
        f"stood still for {stood_s:.0f} s": stood_s > _MOST_S + story.outage_s,
        f"held by the dead for {watch.held_s:.0f} s": watch.held_s > _MOST_S,
        f"{watch.torn} documents shown in part": watch.torn > 0,
    }
    faults = [*document.faults(kill.failing), *broken_rules(made)]
    faults += [about for about, is_so in late.items() if is_so]
    row: Row = {
        "kill": f"`{kill.name}`",
        "what was killed": kill.about.format(story.outage_s),
        "pages": document.pages,
        "stood still, s": round(stood_s),
        "until, s after": round(resumed_s),
        "all done, s after": round(story.ended - story.struck),
        "pages asked again": asked_again(made, story.requests),
        "pages taken up again": document.again,
        "held by the dead, s": round(watch.held_s),
        "runs on the screen": ", ".join(story.runs),
        "faults": "; ".join(faults) or "none",
        "load": round(os.getloadavg()[1]),
    }
    return Outcome(row, tuple(faults))


def _wait_for_work(made: Site, kill: Kill, path: Path, pages: int) -> None:
    """Until images are being made, or all are made and reading has begun."""

    def is_time() -> bool:
        with suppress(psycopg.Error), made.connect() as connection:
            images, readings = (one(connection, query, str(path)) for query in (_MADE, _READ))
            return images > 0 if kill.while_rendering else readings > 3 and images >= pages
        return False

    wait_until(is_time, _BEGIN_S, f"work that can be interrupted, {kill.name}")


def _runs_at_the_end(made: Site, before: Sequence[object]) -> list[str]:
    """What the screen says of the runs, once all have ended."""

    def are_ended() -> bool:
        with suppress(httpx.HTTPError):
            return all(run.state.is_final() for run in shown(made, before)[0])
        return False

    with suppress(TimeoutError):
        wait_until(are_ended, _SHOWN_S, "the end of all runs")
    return shown(made, before)[1]


@contextmanager
def installation(folder: Path) -> Iterator[Site]:
    """One to be broken again and again, idle; its store is a small file system, where that may be made."""
    store = folder / "home" / "store"
    store.mkdir(parents=True)
    is_small = (
        os.geteuid() == 0
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=256m", "tmpfs", store], check=False
        ).returncode
    )
    try:
        with site(folder) as made:
            wait_until(lambda: is_idle(made), _BEGIN_S, "the end of the first scan")
            yield made
    finally:
        if is_small:
            subprocess.run(["umount", store], check=True)


def is_idle(made: Site) -> bool:
    """Whether all flow runs have ended."""
    runs = shown(made, ())[0]
    return bool(runs) and all(run.state.is_final() for run in runs)


def merged(text: str, rows: Sequence[Row], command: str) -> str:
    """A page with its table brought up to date: rows of these kills are replaced, the others stay."""
    head, _, rest = text.partition(_BEGIN)
    old, _, tail = rest.partition(_END)
    kept = {cells[0]: line for line in old.splitlines() if (cells := _cells(line)) and cells[0][:1] == "`"}
    made = table(rows).splitlines()
    kept |= {_cells(line)[0]: line for line in made[2:]}
    order = [f"`{kill.name}`" for kill in KILLS]
    # Cells without padding: rows of several runs differ in that.
    lines = [_row(line) for line in (*made[:2], *(kept[name] for name in order if name in kept))]
    said = f"`{command}`, last {dt.datetime.now(dt.UTC).date()}:"
    return "\n".join([head + _BEGIN, said, "", *lines, _END + tail])


def _row(line: str) -> str:
    return f"| {' | '.join(_cells(line))} |"


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []


def _measured(kill: Kill, wish: Wish, made: Site) -> Outcome:
    """As `measure`; work that never ends is a fault like others."""
    try:
        return measure(kill, wish, made)
    except TimeoutError as error:
        return Outcome({"kill": f"`{kill.name}`", "faults": str(error)}, (str(error),))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.recovery", description=__doc__.split("\n")[0])
    parser.add_argument("--kill", nargs="+", choices=[kill.name for kill in KILLS], help="only these")
    parser.add_argument("--pages", type=int, default=60, help="of each document")
    parser.add_argument("--scale", type=float, default=1.0, help="of outages; 1 is the full length")
    parser.add_argument("--write", type=Path, help="bring the table of this page up to date")
    return parser.parse_args()


def main() -> int:
    """0 when everything came back as it must."""
    told = _arguments()
    wish = Wish(told.pages, told.scale)
    rows: list[Row] = []
    is_well = True
    with tempfile.TemporaryDirectory(prefix="pm-") as folder, installation(Path(folder)) as made:
        for kill in KILLS:
            if told.kill and kill.name not in told.kill:
                continue
            if why := kill.needs():
                print(f"{kill.name}: left out, {why}", flush=True)
                continue
            outcome = _measured(kill, wish, made)
            is_well = is_well and not outcome.faults
            rows.append(outcome.row)
            print(dict(outcome.row), flush=True)
            if told.write:
                told.write.write_text(merged(told.write.read_text(), rows, _COMMAND))
            wait_until(lambda: is_idle(made), _BEGIN_S, "the end of all runs")
    return int(not is_well)


if __name__ == "__main__":
    arguments.run(main)
