"""Peak memory of each process while a long PDF is split and its page images are made.

    python -m bench.memory [--pages 2000] [--jobs 2] [--limit-mb 500] [--write docs/memory.md]

Makes a PDF of so many pages, every fourth a full-page scan of its own, and takes it through the same calls in
the same worker processes as a run does: 64 pages a split call, one page an image call. Exit code 1 when a
process had more than the limit.
"""

import argparse
import datetime as dt
import io
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from bench import arguments
from models.document import MediaType
from models.errors import Code
from models.recipe import Recipe
from tasks.work.pool import WorkerPool
from tasks.work.preprocess import preprocess_page
from tasks.work.split import split_pages

PDF = MediaType.PDF
SPLIT_PAGES = 64
_RECYCLE_AFTER = 500


@dataclass(frozen=True, slots=True)
class Peak:
    """The most memory that a process has had so far."""

    pid: int
    mb: int


def peak_now() -> Peak:
    """Of this process."""
    return Peak(os.getpid(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


def peak_after(work: Callable[..., object], *arguments: object) -> Peak:
    """Do `work` and say how much memory this process has had at most."""
    work(*arguments)
    return peak_now()


def make_long_pdf(path: Path, pages: int) -> None:
    """Lines of text on each page and a scan, never the same twice, on every fourth."""
    import pymupdf  # noqa: PLC0415 (in a child: the parent's memory is measured too)
    from PIL import Image  # noqa: PLC0415

    with pymupdf.open() as document:
        for number in range(1, pages + 1):
            page = document.new_page()
            if number % 4 == 0:
                scan = io.BytesIO()
                Image.effect_noise((1240, 1754), 40 + number % 50).save(scan, "JPEG", quality=60)
                page.insert_image(page.rect, stream=scan.getvalue())
            lines = [f"Page {number}, line {line} of a long document" for line in range(50)]
            page.insert_text((72, 72), lines, fontsize=10)
        document.save(path)


def peaks(path: Path, pages: int, jobs: int, store: Path) -> Iterator[Peak]:
    """Peaks as calls end: all splits, then all page images."""
    pool = WorkerPool(jobs, recycle_after=_RECYCLE_AFTER)

    def later(work: Callable[..., object], *arguments: object) -> Future[Peak]:
        return pool.submit(peak_after, work, *arguments, timeout_s=300, timeout_code=Code.RENDER_TIMEOUT)

    firsts = range(1, pages + 1, SPLIT_PAGES)
    splits = [later(split_pages, path, PDF, one, min(one + SPLIT_PAGES - 1, pages)) for one in firsts]
    yield from (split.result() for split in splits)
    images = [later(preprocess_page, path, PDF, page, Recipe(), store) for page in range(1, pages + 1)]
    yield from (image.result() for image in images)
    pool.close()


def report(found: Sequence[Peak], parent: Peak, seconds: float, pages: int, command: str) -> str:
    """The peak of each process, as Markdown."""
    highest = {pid: max(peak.mb for peak in found if peak.pid == pid) for pid in {peak.pid for peak in found}}
    sizes = ", ".join(f"{mb} MB" for mb in sorted(highest.values(), reverse=True))
    return (
        "# Memory of a long document\n\n"
        f"`{command}` on {dt.datetime.now(dt.UTC).date()}: {pages} pages, every fourth a\n"
        f"scan, split and made into page images in {seconds:.0f} s.\n\n"
        "| process | peak resident memory |\n| --- | --- |\n"
        f"| parent | {parent.mb} MB |\n| workers, replaced after {_RECYCLE_AFTER} calls | {sizes} |\n"
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.memory", description=__doc__.split("\n")[0])
    parser.add_argument("--pages", type=int, default=2_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit-mb", type=int, default=500)
    parser.add_argument("--write", type=Path, help="also write the table to this file")
    return parser.parse_args()


def main() -> int:
    """0 when every process stays below the limit."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.pdf"
        maker = WorkerPool(1)
        maker.submit(
            make_long_pdf, path, arguments.pages, timeout_s=600.0, timeout_code=Code.SPLIT_TIMEOUT
        ).result()
        maker.close()
        started = time.monotonic()
        found = list(peaks(path, arguments.pages, arguments.jobs, Path(folder) / "store"))
        seconds = time.monotonic() - started
    command = f"python -m bench.memory --pages {arguments.pages} --jobs {arguments.jobs}"
    text = report(found, peak_now(), seconds, arguments.pages, command)
    print(text)
    if arguments.write:
        arguments.write.write_text(text, encoding="utf-8")
    return int(any(peak.mb > arguments.limit_mb for peak in (*found, peak_now())))


if __name__ == "__main__":
    # Children find their functions by the module's name.
    from bench import memory  # noqa: PLW0406 (run as a script, it is called __main__)

    arguments.run(memory.main)
