"""How full the OCR drain keeps an engine, and what it costs a page: no model, no pictures, a real Postgres.

    python -m bench.drain [--pages 2000] [--slots 64] [--seconds 2.0] [--retried 0.05]

The engine only waits: each page takes its own time (lognormal, the longest about five times the mean), and a
share of pages reads badly at first and goes up the ladder. Filled is the share of slots in work from the
first request until no page is left that was never sent. CPU is of this process, and of Postgres beside it.
"""

import argparse
import datetime as dt
import hashlib
import random
import tempfile
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench import arguments
from bench.watch import Looker
from db import claims, documents, embedded, migrate, pages, postmaster, runs
from db.engine import Database
from flows.lines import ocr_lines
from models import profiles
from models.document import DocumentFacts, IntakeFile, MediaType, SourceFile
from models.engine import OcrRequest
from models.geometry import Box, Transform
from models.page import PageFacts, PageImage, Word
from models.profile import Profile
from models.reading import Block, BlockType, FinishReason, Reading, ReadingSource
from models.settings import load_settings
from models.stage import Stage
from models.vlm import Rung
from models.work import PreparedPage
from tasks.drain import drain
from tasks.mill import Mill
from tasks.work.engines.fake import FakeEngine

_PAGES_A_DOCUMENT = 25
_LINES = [
    f"Line {number} of a page that nobody printed, with words enough for a line" for number in range(40)
]
_WORDS = tuple(
    Word(word, Box(50 + 40 * place, 60 + 15 * line, 85 + 40 * place, 72 + 15 * line), 0, line)
    for line, text in enumerate(_LINES)
    for place, word in enumerate(text.split())
)


class WaitingEngine(FakeEngine):
    """Takes its time for each page and counts what of its slots is in work."""

    def __init__(self, slots: int, seconds: float, retried: float, pages: int) -> None:
        super().__init__(slots=slots)
        self.requests_seen = 0
        self._seconds, self._retried, self._fresh = seconds, retried, pages
        self._random = random.Random(1)
        self._busy, self._area, self._at = 0, 0.0, 0.0
        self.first_at = 0.0
        self._meter = threading.Lock()

    def submit(self, request: OcrRequest) -> Future[Reading]:
        """A reading after a while; the first of some pages is cut off."""
        self.requests_seen += 1
        is_first = request.trial.rung == "first"
        is_bad = is_first and self._random.random() < self._retried
        seconds = self._seconds * min(5.0, self._random.lognormvariate(-0.18, 0.6))
        return self._threads.submit(self._read, seconds, is_first, is_bad)

    @property
    def filled(self) -> float:
        """Share of slots in work while there were pages that had never been sent."""
        return self._area / (self.slots * (self._at - self.first_at))

    def _read(self, seconds: float, is_first: bool, is_bad: bool) -> Reading:
        self._count(1, is_first)
        time.sleep(seconds)
        self._count(-1, False)
        return _reading(FinishReason.LENGTH if is_bad else FinishReason.STOP, seconds)

    def _count(self, more: int, is_first: bool) -> None:
        with self._meter:
            now = time.monotonic()
            self.first_at = self.first_at or now
            if self._fresh:
                self._area += self._busy * (now - (self._at or now))
                self._at = now
            self._busy += more
            self._fresh -= is_first


def _reading(reason: FinishReason, seconds: float) -> Reading:
    blocks = tuple(
        Block(BlockType.PARAGRAPH, line, Box(50, 60 + 15 * place, 500, 72 + 15 * place))
        for place, line in enumerate(_LINES)
    )
    text = "\n\n".join(_LINES)
    return Reading(ReadingSource.OCR, text, blocks, reason, "waiting", seconds, 1500, 600, 0.98)


def seed(database: Database, count: int, profile: Profile, words: tuple[Word, ...] = _WORDS) -> int:
    """Make `count` pages with a text layer of `words` that are ready to be read; the run's id."""
    recipe = profile.recipe()
    run_id = database.run(lambda conn: runs.start(conn, "ocr", recipe, {}))
    recipe_id = database.run(lambda conn: runs.recipe_id(conn, recipe))
    sizes = [min(_PAGES_A_DOCUMENT, count - first) for first in range(0, count, _PAGES_A_DOCUMENT)]
    files = [_file(number) for number in range(len(sizes))]
    database.run(lambda conn: documents.register(conn, run_id, recipe_id, files, has_passwords=False))
    for size in sizes:
        _split(database, size, words)
    while _prepare(database, recipe.preprocess_key):
        pass
    return run_id


def _file(number: int) -> IntakeFile:
    uri = f"/nowhere/{number}.pdf"
    return IntakeFile(
        SourceFile(uri, 1, 1), hashlib.sha256(uri.encode()).hexdigest(), MediaType.PDF, None, None
    )


def _split(database: Database, size: int, words: tuple[Word, ...]) -> None:
    (claim,) = database.run(lambda conn: claims.claim(conn, Stage.SPLIT, 1, "bench:1:1:a", 600))
    facts = [PageFacts(number, 595.0, 842.0, 0, words) for number in range(1, size + 1)]

    def work(conn: object) -> None:
        pages.save_pages(conn, claim, facts)  # type: ignore[arg-type]
        pages.finish_split(conn, claim, DocumentFacts(size))  # type: ignore[arg-type]

    database.run(work)


def _prepare(database: Database, key: str) -> int:
    leased = database.run(lambda conn: claims.claim(conn, Stage.PREPROCESS, 500, "bench:1:1:a", 600))
    scale = Transform.scale(595 / 1088, 842 / 1540)
    prepared = [
        PreparedPage(
            claim,
            key,
            PageImage(
                hashlib.sha256(str(claim.id).encode()).hexdigest(), ".jpg", 1088, 1540, scale, 0.08, False
            ),
        )
        for claim in leased
    ]
    if prepared:
        database.run(lambda conn: pages.save_images(conn, prepared))
    return len(prepared)


@dataclass(frozen=True, slots=True)
class Measured:
    """What one drain did."""

    pages: int
    requests: int
    wall_s: float
    filled: float
    first_s: float
    """From the drain's start to the first page in work."""
    cpu_ms: float
    """Of this process a page."""
    postgres_ms: float
    threads: int
    """Most at once, the engine's own left out."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is measured."""

    pages: int = 2_000
    slots: int = 64
    seconds: float = 2.0
    retried: float = 0.05


def measure(database: Database, home: Path, wish: Wish) -> Measured:
    """Seed, drain, count."""
    count, slots = wish.pages, wish.slots
    sampling = Rung(kind="sampling", sampling={"temperature": 0.3}, when=("truncated",))
    profile = profiles.get("ppocr").model_copy(update={"ladder": (sampling,), "batch_pages": 64})
    run_id = seed(database, count, profile)
    engine = WaitingEngine(slots, wish.seconds, wish.retried, count)
    settings = load_settings(home=home)
    mill = Mill(settings=settings, database=database, profile=profile, run_id=run_id, engine=engine, jobs=1)
    stages, mine, theirs = [Stage.OCR], psutil.Process(), _postgres(home)
    before, cpu = _cpu(theirs), _cpu([mine])
    started = time.monotonic()
    with _Threads(slots) as threads:
        drain(mill, ocr_lines(profile), lambda: mill.outstanding(stages) == 0)
    wall_s = time.monotonic() - started
    per_page = 1000 / count
    measured = Measured(
        count, engine.requests_seen, wall_s, engine.filled, engine.first_at - started,
        (_cpu([mine]) - cpu) * per_page, (_cpu(_postgres(home)) - before) * per_page, threads.most,
    )  # fmt: skip
    mill.close()
    return measured


def measure_afresh(home: Path, wish: Wish) -> Measured:
    """As `measure`, in a Postgres of its own below `home`."""
    database = Database(embedded.start(home))
    try:
        migrate.upgrade(database.engine)
        return measure(database, home, wish)
    finally:
        database.close()
        embedded.stop(home)


def _postgres(home: Path) -> list[psutil.Process]:
    server = postmaster.find_server(home.resolve() / "postgres")
    assert server is not None, "Postgres does not run"
    return [server, *server.children()]


def _cpu(processes: list[psutil.Process]) -> float:
    times = [process.cpu_times() for process in processes]
    return float(sum(one.user + one.system + one.children_user + one.children_system for one in times))


class _Threads(Looker):
    """How many there are besides an engine's, at most."""

    def __init__(self, slots: int) -> None:
        super().__init__(every_s=0.1)
        self._slots, self.most = slots, 0

    def look(self) -> None:
        engine = sum(thread.name.startswith("fake-engine") for thread in threading.enumerate())
        self.most = max(self.most, threading.active_count() - min(engine, self._slots))


def report(measured: Measured, command: str, wish: Wish) -> str:
    """The figures as Markdown."""
    slots, seconds = wish.slots, wish.seconds
    rate = measured.pages / measured.wall_s
    rows = {
        "pages, requests": f"{measured.pages}, {measured.requests}",
        "slots, mean seconds a page": f"{slots}, {seconds:g}",
        "pages a second": f"{rate:.1f} of {slots / seconds:.1f} possible",
        "**slots filled while pages remain**": f"**{measured.filled:.1%}**",
        "first page in work after": f"{measured.first_s:.2f} s",
        "**CPU a page, drain and checks**": f"**{measured.cpu_ms:.1f} ms**",
        "CPU a page, Postgres": f"{measured.postgres_ms:.1f} ms",
        "threads at most, besides the engine's": str(measured.threads),
    }
    lines = "\n".join(f"| {name} | {value} |" for name, value in rows.items())
    return f"`{command}`, {dt.datetime.now(dt.UTC).date()}:\n\n| what | figure |\n| --- | --- |\n{lines}\n"


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(prog="python -m bench.drain", description=__doc__.split("\n")[0])
    usual = Wish()
    parser.add_argument("--pages", type=int, default=usual.pages)
    parser.add_argument("--slots", type=int, default=usual.slots)
    parser.add_argument("--seconds", type=float, default=usual.seconds, help="mean seconds a page")
    parser.add_argument(
        "--retried", type=float, default=usual.retried, help="share of pages read badly at first"
    )
    wish = Wish(**vars(parser.parse_args()))
    with tempfile.TemporaryDirectory(prefix="pm-") as folder:
        measured = measure_afresh(Path(folder), wish)
    command = f"python -m bench.drain --pages {wish.pages} --slots {wish.slots} --seconds {wish.seconds:g}"
    print(report(measured, command, wish))


if __name__ == "__main__":
    arguments.run(main)
