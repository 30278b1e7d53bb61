"""CPU seconds a page, slots filled and memory of pagemill, chandra-ocr, olmocr and docling, at one server.

    python -m bench.peers.install --envs FOLDER
    python -m bench.clients DOCUMENT… --envs FOLDER [--pages 60] [--each 6] [--slots 16] [--seconds 2]
        [--profile chandra-2] [--recipe KEY=VALUE …] [--jobs 2] [--clients pagemill,docling]
        [--kinds text,scan] [--out FOLDER]

All get the same PDF files, each kind of page apart, and the same OpenAI-compatible server: a double in a
process of its own that answers every page after the same time with as many tokens. So what is measured is the
client's work alone: open, render, encode, send, parse, write. pagemill runs as `pagemill ingest` with its
database (whose CPU stands in a column of its own), without vectors, which no other client makes, and without
second tries, since the answers have nothing to do with the pages. Each client reads one page to warm up and
one more to show what a start costs; `cpu_s_per_page` is the rest: (all - start) / (pages - 1).
"""

import argparse
import os
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench import arguments, child
from bench.clients_pages import KINDS, Pages, gather
from bench.clients_run import Cost, Server, run, serving
from bench.installation import cost
from bench.peers import MODEL, PEERS, Peer, Task
from bench.peers.install import why_missing
from bench.result import Journal, Row, Value, machine
from bench.served import vlm_of
from db import postmaster
from models import profiles
from models.errors import ConfigurationError
from models.profile import Profile

OURS = "pagemill"
_END_S = 60.0
_FINE = (0, 3)
"""Exit codes of pagemill: 3 says that pages want review."""

Runner = Callable[[Task, Path], tuple[Cost, float]]
"""Runs a client for a task, its words to a log: what it cost, and CPU seconds of its database."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What is the same for all clients."""

    envs: Path
    slots: int = 16
    seconds: float = 2.0
    """What each answer takes."""
    profile: str = "chandra-2"
    """Of pagemill; Chandra 2 is what the others read with where they can choose."""
    jobs: int = 2
    recipe: tuple[str, ...] = ()
    """Further options of pagemill's recipe."""
    clients: tuple[str, ...] = (OURS, *(peer.name for peer in PEERS))


def measure(sets: Iterable[Pages], setting: Setting, folder: Path) -> Iterator[Row]:
    """One row for each client and kind of page. A client that is not there or fails has its reason."""
    with serving(setting.slots, setting.seconds) as server:
        for pages in sets:
            yield from _rows(pages, setting, server, folder / pages.kind.replace(" ", "-"))


def told(setting: Setting) -> dict[str, Value]:
    """What the figures hold for: machine, versions of the clients, and what was asked for."""
    facts = machine() | _versions(setting)
    facts |= {"slots": setting.slots, "seconds": setting.seconds, "cores": os.cpu_count()}
    return facts | {"profile": setting.profile, "recipe": " ".join(setting.recipe)}


def _rows(pages: Pages, setting: Setting, server: Server, folder: Path) -> Iterator[Row]:
    for name in setting.clients:
        place = folder / name
        place.mkdir(parents=True)
        head: dict[str, Value] = {"kind": pages.kind, "client": name, "pages": pages.pages}
        peer = next((peer for peer in PEERS if peer.name == name), None)
        if peer is not None and not peer.version(setting.envs):
            row: Row = {**head, "failed": why_missing(peer, setting.envs)}
        else:
            runner = _ours(setting, server, place) if peer is None else partial(_theirs, peer, setting)
            try:
                row = {**head, **_figures(runner, pages, setting, server, place)}
            finally:
                _end_database(place)
        yield row


def _figures(runner: Runner, pages: Pages, setting: Setting, server: Server, place: Path) -> Row:
    def reading(folder: Path, name: str) -> tuple[Cost, float]:
        return runner(Task(folder, server.url, place / name, setting.slots), place / f"{name}.log")

    warm, _ = reading(pages.singles[0], "warm")
    start, _ = reading(pages.singles[1], "start")
    server.asked()
    whole, database_s = reading(pages.folder, "all")
    asked = server.asked()
    failed = warm.failed or start.failed or whole.failed
    if failed or not asked.requests:
        return {"failed": failed or "it asked the server for nothing"}
    return {
        "cpu_s_per_page": round((whole.cpu_s - start.cpu_s) / max(1, pages.pages - 1), 4),
        "start_cpu_s": round(start.cpu_s, 2),
        "all_in_per_page": round(whole.cpu_s / pages.pages, 4),
        "database_per_page": round(database_s / pages.pages, 4) if database_s else None,
        "requests": asked.requests,
        "filled": asked.filled,
        "most_in_flight": asked.most_in_flight,
        "peak_mb": round(whole.peak_mb),
        "wall_s": round(whole.wall_s, 1),
    }


def with_ratios(rows: Sequence[Row]) -> list[Row]:
    """The rows with their CPU a page as a multiple of pagemill's on that kind of page."""
    by_kind = {
        row.get("kind"): float(row.get("cpu_s_per_page") or 0) for row in rows if row["client"] == OURS
    }
    found: list[Row] = []
    for row in rows:
        ours, theirs = by_kind.get(row.get("kind"), 0.0), row.get("cpu_s_per_page")
        is_told = ours > 0 and theirs is not None
        found.append({**row, "times_ours": round(float(theirs or 0) / ours, 2) if is_told else None})
    return found


def _theirs(peer: Peer, setting: Setting, task: Task, log: Path) -> tuple[Cost, float]:
    command = peer.command(setting.envs / peer.name / "bin", task)
    # None of them is to ask the network for anything but the server.
    variables = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", **peer.variables(task)}
    return run(command, variables, log), 0.0


def _ours(setting: Setting, server: Server, place: Path) -> Runner:
    profile = _without_tries(profiles.get(setting.profile))
    home = place / "home"
    variables = child.environ(
        profile, PAGEMILL_HOME=str(home), PAGEMILL_OCR_URL=server.url, PAGEMILL_VECTORS="false"
    )

    def ingest(task: Task, log: Path) -> tuple[Cost, float]:
        words = ["ingest", str(task.folder), "--profile", profile.name, "--jobs", str(setting.jobs)]
        before = _database_s(home)
        for option in ("text_layer=ignore", *setting.recipe):
            words += ["--recipe", option]
        spent = run(child.command(*words), variables, log, fine=_FINE)
        return spent, _database_s(home) - before

    return ingest


def _without_tries(profile: Profile) -> Profile:
    vlm = vlm_of(profile).model_copy(update={"served_name": MODEL, "consent": ""})
    return profile.model_copy(update={"name": "bench", "vlm": vlm, "ladder": ()})


def _database_s(home: Path) -> float:
    server = postmaster.find_server(home / "postgres")
    return cost([server, *server.children(recursive=True)]).cpu_s if server else 0.0


def _end_database(place: Path) -> None:
    """Stop the Postgres that pagemill leaves running for its next command."""
    server = postmaster.find_server(place / "home" / "postgres")
    if server is not None:
        server.send_signal(signal.SIGINT)
        server.wait(_END_S)


def _versions(setting: Setting) -> dict[str, Value]:
    return {
        peer.package: peer.version(setting.envs) or None for peer in PEERS if peer.name in setting.clients
    }


def main() -> None:
    """Measure, print, save."""
    wish = _arguments()
    setting = Setting(
        wish.envs, wish.slots, wish.seconds, wish.profile, wish.jobs, tuple(wish.recipe), wish.clients
    )
    vlm_of(profiles.get(setting.profile))
    with tempfile.TemporaryDirectory(prefix="pm-") as name:
        folder = Path(name)
        sets = list(gather(wish.documents, wish.pages, wish.each, folder / "pages", wish.kinds))
        if not sets:
            raise ConfigurationError("No page to measure: none of the documents is a PDF with such pages.")
        about = "clients at one server: CPU seconds a page"
        journal, rows = Journal("clients", about, told(setting), wish.out), list[Row]()
        for row in measure(sets, setting, folder):
            journal.add(row)
            rows.append(row)
        journal.finish(with_ratios(rows))


def _arguments() -> argparse.Namespace:
    made = arguments.parser(__doc__)
    made.add_argument("documents", nargs="+", type=Path, help="PDF files and folders of such")
    made.add_argument(
        "--envs", type=Path, required=True, metavar="FOLDER", help="of the others' environments"
    )
    made.add_argument("--pages", type=arguments.count, default=60, metavar="N", help="at most, of each kind")
    made.add_argument("--each", type=arguments.count, default=6, metavar="N", help="at most, of a document")
    made.add_argument("--slots", type=arguments.count, default=16, metavar="N", help="of the server")
    made.add_argument("--seconds", type=float, default=2.0, metavar="S", help="until a page is answered")
    made.add_argument("--profile", default="chandra-2", help="of pagemill")
    made.add_argument("--jobs", type=arguments.count, default=2, metavar="N", help="of pagemill")
    made.add_argument("--recipe", nargs="+", default=[], metavar="KEY=VALUE", help="of pagemill")
    clients = Setting(Path()).clients
    made.add_argument("--clients", type=_some_of(clients), default=clients, help=", ".join(clients))
    made.add_argument("--kinds", type=_some_of(KINDS), default=KINDS, help=f"of pages: {', '.join(KINDS)}")
    arguments.add_out(made)
    return made.parse_args()


def _some_of(known: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
    def names(text: str) -> tuple[str, ...]:
        found = tuple(text.split(","))
        if unknown := [name for name in found if name not in known]:
            raise argparse.ArgumentTypeError(f"'{unknown[0]}' is none of {', '.join(known)}")
        return found

    return names


if __name__ == "__main__":
    arguments.run(main)
