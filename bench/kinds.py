"""CPU seconds of the client a page, all in, on text pages and on scans.

    python -m bench.kinds FILE_OR_FOLDER… [--pages 300] [--of-each 40] [--jobs 2] [--out FOLDER]

Pages of either kind are taken out of the PDFs as they are and read by `pagemill ingest` in a fresh home,
once each, with a scripted server in a process of its own: split, pictures, requests, checks, ledger. CPU is
that of the command and all its descendants, start included; what a run of one page takes
is told beside it, and Postgres too. Exit code 1 when a kind misses its target.
"""

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pymupdf

from bench import arguments, facts
from bench.ingested import Ingested, Served, ingest, stop, tried_once
from bench.pages import KINDS, TARGETS_S, kind_of
from bench.pictures import files
from bench.result import Journal, Row, machine
from models.document import MediaType
from models.errors import PagemillError
from tasks.work.media import sniff
from tasks.work.split import open_document


def excerpts(places: Iterable[Path], folder: Path, most: int, of_each: int) -> dict[str, list[Path]]:
    """PDFs of one kind of page each, at most `most` pages a kind and `of_each` of a document."""
    made: dict[str, list[Path]] = defaultdict(list)
    left = dict.fromkeys(KINDS, most)
    for number, source in enumerate(sorted(files(places))):
        for kind, pages in _by_kind(source).items():
            chosen = pages[: min(of_each, left[kind])]
            if chosen:
                path = folder / kind / f"{number:04}.pdf"
                path.parent.mkdir(parents=True, exist_ok=True)
                _excerpt(source, chosen, path)
                made[kind].append(path)
                left[kind] -= len(chosen)
    return made


def _by_kind(source: Path) -> Mapping[str, list[int]]:
    """Page numbers by kind; nothing of what is no PDF or cannot be opened."""
    found: dict[str, list[int]] = defaultdict(list)
    try:
        kind = sniff(source)
        count = open_document(source, kind).page_count if kind is MediaType.PDF else 0
    except PagemillError:
        return {}
    for page_no in range(1, count + 1):
        found[kind_of(source, page_no)].append(page_no)
    return found


def _excerpt(source: Path, pages: Sequence[int], path: Path) -> None:
    with pymupdf.open(source) as document:
        document.select([page_no - 1 for page_no in pages])
        document.save(path, garbage=3)


def measure(kinds: Mapping[str, Sequence[Path]], served: Served) -> Iterator[Row]:
    """A row a kind, each from a run in a home of its own, after a run of one page."""
    with tempfile.TemporaryDirectory(prefix="pm-") as folder:
        first = Path(folder) / "one.pdf"
        _excerpt(next(path for paths in kinds.values() for path in paths), [1], first)
        start_s = _run([first], served).cpu_s
    for kind, paths in kinds.items():
        done = _run(paths, served)
        yield {
            "page": kind,
            "documents": len(paths),
            "pages": done.pages,
            "cpu_s": round(done.cpu_s, 1),
            "cpu_s_per_page": round(done.cpu_s / done.pages, 4),
            "target_s": TARGETS_S.get(kind),
            "of_one_page_s": round(start_s, 1),
            "without_start_s_per_page": round((done.cpu_s - start_s) / max(1, done.pages - 1), 4),
            "postgres_s_per_page": round(done.postgres_s / done.pages, 4),
            "wall_s": round(done.wall_s, 1),
        }


def _run(paths: Sequence[Path], served: Served) -> Ingested:
    with tempfile.TemporaryDirectory(prefix="pm-") as home:
        try:
            return ingest(paths, served, Path(home), tried_once("glm-ocr"))
        finally:
            stop(Path(home))


def main() -> int:
    """0 when each kind keeps within its target."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("documents", nargs="+", type=Path)
    parser.add_argument("--pages", type=int, default=300, help="at most so many of a kind")
    parser.add_argument("--of-each", type=int, default=40, help="at most so many of a document")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("bench-results"))
    wish = parser.parse_args()
    served, rows = Served(jobs=wish.jobs), list[Row]()
    told = machine() | facts.documents(wish.documents) | {"jobs": wish.jobs}
    journal = Journal("kinds", "CPU of the client by kind of page", told, wish.out)
    with tempfile.TemporaryDirectory(prefix="pm-") as folder:
        for row in measure(excerpts(wish.documents, Path(folder), wish.pages, wish.of_each), served):
            rows.append(row)
            journal.add(row)
    journal.finish()
    return int(
        any(row["target_s"] and float(row["cpu_s_per_page"] or 0) > float(row["target_s"]) for row in rows)
    )


if __name__ == "__main__":
    arguments.run(main)
