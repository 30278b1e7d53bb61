"""Whether memory stays flat: the same pages 100, 1,000 and 5,000 times through client, drain and Postgres.

    python -m bench.growth [--pages 100,1000,5000] [--slots 16] [--seconds 0.8] [--jobs 2] [--out FOLDER]

Each size is one `pagemill ingest` in a fresh home, of PDFs of 100 cheap pages each, read by a scripted server
in a process of its own. Peaks are those that the system has noted of each process. Exit code 1 when the
command or a worker had a quarter more at the most pages than at the second size.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pymupdf

from bench import arguments
from bench.ingested import Ingested, Served, ingest, stop, tried_once
from bench.result import Journal, Row, machine

PAGES_A_DOCUMENT = 100
_MOST_GROWTH = 1.25


def documents(folder: Path, pages: int, a_document: int = PAGES_A_DOCUMENT) -> list[Path]:
    """PDFs of so many pages in all; no page is like another."""
    folder.mkdir(parents=True)
    made = []
    for first in range(0, pages, a_document):
        path = folder / f"{first:06}.pdf"
        with pymupdf.open() as document:
            for number in range(first, min(first + a_document, pages)):
                page = document.new_page()
                lines = [f"Page {number + 1}, line {line} of what nobody printed" for line in range(20)]
                page.insert_text((60, 80), lines, fontsize=16)
            document.save(path)
        made.append(path)
    return made


def measure(pages: int, served: Served) -> tuple[Ingested, Row]:
    """One size in a home of its own."""
    with tempfile.TemporaryDirectory(prefix="pm-") as folder:
        paths, home = documents(Path(folder) / "in", pages), Path(folder) / "home"
        home.mkdir()
        try:
            done = ingest(paths, served, home, tried_once("glm-ocr"))
        finally:
            stop(home)
    return done, row(done)


def row(done: Ingested) -> Row:
    """Figures for a table."""
    family, workers = done.family, done.family.peaks("worker")
    return {
        "pages": done.pages,
        "requests": done.requests,
        "wall_s": round(done.wall_s, 1),
        "command_peak_mb": round(family.peaks("command")[0]),
        "worker_peak_mb": round(workers[0]) if workers else None,
        "workers": len(workers),
        "command_pss_mb": round(family.pss_mb["command"]),
        "workers_pss_mb": round(family.pss_mb["worker"]),
        "postgres_pss_mb": round(family.pss_mb["postgres"]),
        "cpu_ms_per_page": round(1000 * done.cpu_s / done.pages, 1),
        "postgres_ms_per_page": round(1000 * done.postgres_s / done.pages, 1),
        "slots_filled": round(done.filled, 4),
        "filled_while_ready": None if done.filled_ready is None else round(done.filled_ready, 4),
        "first_picture_s": round(done.first_picture_s, 3),
        "first_request_s": round(done.first_request_s, 3),
    }


def is_flat(rows: Sequence[Row]) -> bool:
    """Whether the most pages took hardly more memory than the second size, or than the only other."""
    base, most = rows[min(1, len(rows) - 1)], rows[-1]
    columns = ("command_peak_mb", "worker_peak_mb")
    return all(float(most[name] or 0) <= _MOST_GROWTH * float(base[name] or 1) for name in columns)


def main() -> int:
    """0 when memory is flat."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    usual = Served()
    parser.add_argument("--pages", default="100,1000,5000")
    parser.add_argument("--slots", type=int, default=usual.slots)
    parser.add_argument("--seconds", type=float, default=usual.seconds, help="of the server a page")
    parser.add_argument("--jobs", type=int, default=usual.jobs)
    parser.add_argument("--out", type=Path, default=Path("bench-results"))
    wish = parser.parse_args()
    served, rows = Served(wish.slots, wish.seconds, jobs=wish.jobs), list[Row]()
    facts = machine() | {"slots": wish.slots, "seconds_per_page": wish.seconds, "jobs": wish.jobs}
    journal = Journal("growth", "memory against pages", facts, wish.out)
    for pages in map(int, wish.pages.split(",")):
        rows.append(measure(pages, served)[1])
        journal.add(rows[-1])
    journal.finish()
    return int(not is_flat(rows))


if __name__ == "__main__":
    arguments.run(main)
