"""What an installation keeps on disk for each page that it reads, and for each scan that finds nothing.

    python -m bench.disk FOLDER [--pages 400] [--scans 20]

`pagemill up` in a fresh home reads PDFs of FOLDER, until so many pages are read, with a scripted OCR server
that answers 2,000 characters a page; then the watched folder is scanned so many times more. Prints bytes: by
folder of the home, and by table of pagemill's database.
"""

import argparse
import os
import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pymupdf

from bench import arguments
from bench.double import profile_file
from bench.recovery_site import PROFILE, SLOTS, Site, wait_until
from bench.served import free_port
from tasks.work.doubles.vllm_server import Asked, Model, Said, ScriptedVllm

_LETTERS = "eeeeetttaaaooiinnsshhrrddllucmwfgypbvk    "
_CHARACTERS = 2_000
_END_S = 3_600.0
_DONE = "SELECT count(*) FROM claim WHERE status NOT IN ('done', 'failed')"
_PAGES = "SELECT count(*) FROM reading"
_TABLES = """
SELECT relname, pg_total_relation_size(oid) FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
"""


def text_of(asked: Asked) -> Said:
    """A page that is like no other, in the letters of English."""
    rng = random.Random(str(asked))
    return Said("".join(rng.choices(_LETTERS, k=_CHARACTERS)))


def sizes(site: Site) -> Counter[str]:
    """Bytes of each part of the home."""
    home, found = site.home, Counter[str]()
    for name in ("store", "prefect", "logs", "run"):
        found[name] = size_of(home / name)
    found["postgres: write-ahead log"] = size_of(home / "postgres" / "pg_wal")
    with site.connect() as connection:
        connection.execute("CHECKPOINT")
        for name in ("pagemill", "prefect"):
            row = connection.execute("SELECT pg_database_size(%s)", (name,)).fetchone()
            found[f"postgres: {name}"] = row[0] if row else 0
    for name in ("pagemill", "prefect"):
        with site.connect(name) as connection:
            found.update({f"{name}, {table}": size for table, size in connection.execute(_TABLES)})
    return found


def size_of(folder: Path) -> int:
    """Bytes of the files below a folder."""
    files = (Path(place) / name for place, _, names in os.walk(folder) for name in names)
    return sum(file.stat().st_size for file in files if file.is_file())


def fill(inbox: Path, sources: Iterable[Path], pages: int) -> int:
    """Copy PDFs that can be opened into the inbox, until they have so many pages; says how many."""
    count = 0
    for source in sources:
        if count >= pages:
            break
        if number := pages_of(source):
            copy = Path(shutil.copy(source, inbox / f"{count:06}-{source.name}"))
            os.utime(copy, (time.time() - 60,) * 2)
            count += number
    return count


def pages_of(path: Path) -> int:
    """How many; 0 of a file that cannot be opened."""
    try:
        with pymupdf.open(path) as document:
            return 0 if document.needs_pass else len(document)
    except (RuntimeError, ValueError):
        return 0


def read_all(site: Site) -> int:
    """Scan and wait until all is read; how many pages."""
    before = one(site, _PAGES)
    site.begin()
    wait_until(lambda: one(site, _PAGES) > before and not one(site, _DONE), _END_S, "all is read")
    return one(site, _PAGES)


def scan(site: Site, times: int) -> None:
    """Scans that find nothing, one after the other."""
    for _ in range(times):
        wait_until(partial(is_over, site, site.begin()), 300, "the scan is over")


def is_over(site: Site, run_id: Any) -> bool:
    """Whether a flow run has ended."""
    with site.client() as client:
        state = client.read_flow_run(run_id).state
    return state is not None and state.is_final()


def one(site: Site, query: str) -> int:
    """The number that a query gives."""
    with site.connect() as connection:
        row = connection.execute(query.encode()).fetchone()
    return int(row[0]) if row else 0


def tell(before: Counter[str], after: Counter[str], number: int, noun: str) -> None:
    """What has grown, the most first, and for each."""
    grew = {name: after[name] - before[name] for name in after if after[name] > before[name]}
    for name, grown in sorted(grew.items(), key=lambda item: -item[1]):
        print(f"{name:35} {after[name]:>13,} B, grown by {grown:>12,} B, {grown / number:>10,.0f} B a {noun}")


def measure(folder: Path, pages: int, scans: int) -> None:
    """All of it, in a home of its own."""
    with tempfile.TemporaryDirectory(prefix="pm-") as place:
        home, inbox = Path(place) / "home", Path(place) / "inbox"
        inbox.mkdir()
        (home / "profiles").mkdir(parents=True)
        (home / "profiles" / f"{PROFILE}.toml").write_text(profile_file(PROFILE))
        with ScriptedVllm(text_of, model=Model(name=PROFILE), slots=SLOTS) as server:
            site = Site(home, inbox, free_port(), server)
            try:
                site.up()
                scan(site, 1)
                empty = sizes(site)
                fill(inbox, sorted(folder.rglob("*.pdf")), pages)
                count = read_all(site)
                scan(site, 1)
                full = sizes(site)
                tell(empty, full, count, f"page, of {count}")
                scan(site, scans)
                tell(full, sizes(site), scans, f"scan, of {scans}")
            finally:
                site.down()


def main() -> None:
    """As the module says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--scans", type=int, default=20)
    wish = parser.parse_args()
    measure(wish.folder, wish.pages, wish.scans)


if __name__ == "__main__":
    arguments.run(main)
