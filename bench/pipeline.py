"""The whole pipeline against the raw server: how much of the server's speed arrives in the knowledge base.

    python -m bench.pipeline PROFILE DOCUMENT… [--url URL | --model PATH] [--tokens N]
        [--resolution legible] [--in-flight N] [--jobs N] [--out FOLDER]

First `pagemill ingest` reads the documents into a fresh home: split, pictures, requests, checks, database.
Then the very pictures it sent are sent again as ready-made requests, N at once. The ratio of pages a second
is the pipeline's efficiency. Replies have a fixed length, so that both do the same work. CPU seconds a page
are those of pagemill and its children, without Postgres and the server.
"""

import argparse
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import psutil
import sqlalchemy as sa

from bench import arguments, child, load, pictures, served
from bench.ingested import stop
from bench.result import Journal, Row
from bench.sweep import numbers, parser, recipe_options, told
from bench.watch import CpuClock, Gauge
from db import tables
from db.engine import open_database
from models import profiles
from models.profile import Profile
from models.settings import Settings, load_settings
from models.stage import Stage
from tasks.work.store import Store


def fixed(profile: Profile, tokens: int) -> Profile:
    """The profile with replies of just `tokens` tokens and no second tries: the same work for everybody."""
    vlm = served.vlm_of(profile)
    sampling = vlm.sampling.model_copy(
        update={
            "max_tokens": tokens,
            "repetition_detection": None,
            "extra": {"ignore_eos": True, "min_tokens": tokens},
            "stop": (),
        }
    )
    asked = vlm.model_copy(update={"sampling": sampling})
    return profile.model_copy(update={"name": "bench", "vlm": asked, "ladder": ()})


def ingest(profile: Profile, wish: argparse.Namespace, url: str, home: Path) -> Row:
    """One `pagemill ingest` in a fresh home, timed between the first request and the last reading."""
    variables = {"PAGEMILL_HOME": str(home), "PAGEMILL_OCR_URL": url, "PAGEMILL_VECTORS": "false"}
    # A server that has gone is not waited for as a run of one's own would.
    variables["PAGEMILL_OCR_WAIT_S"] = "30"
    if wish.api_key:
        variables["PAGEMILL_OCR_API_KEY"] = wish.api_key
    environ = child.environ(profile, **variables)
    options = ["text_layer=ignore", *recipe_options(wish)]
    words = ["ingest", *map(str, wish.documents), "--profile", profile.name, "--jobs", str(wish.jobs)]
    words += [part for option in options for part in ("--recipe", option)]
    with Gauge() as gauge, (home / "ingest.log").open("wb") as log:
        started = time.monotonic()
        process = psutil.Popen(child.command(*words), env=environ, stdout=log, stderr=subprocess.STDOUT)
        clock = CpuClock(process.pid)
        code = clock.watch(process)
        wall_s = time.monotonic() - started
    if code not in {0, 3}:
        raise SystemExit((home / "ingest.log").read_text()[-4000:])
    pages, ocr_s = _read(load_settings(home=home))
    return {
        "what": "pagemill ingest",
        "pages": pages,
        "wall_s": round(wall_s, 2),
        "ocr_s": round(ocr_s, 2),
        "pages_per_s": round(pages / ocr_s, 3),
        "cpu_s_per_page": round(clock.seconds / pages, 4),
        "peak_mb": round(clock.peak_mb),
        **gauge.row(),
    }


def _read(settings: Settings) -> tuple[int, float]:
    """Pages read, and seconds from the first request to the last answer."""
    t = tables.stage_run
    query = sa.select(sa.func.sum(t.c.pages), sa.func.min(t.c.started_at), sa.func.max(t.c.ended_at))
    database = open_database(settings)
    pages, first, last = database.run(
        lambda conn: conn.execute(query.where(t.c.stage == Stage.OCR.value)).one()
    )
    database.close()
    return int(pages), (last - first).total_seconds()


def sent(settings: Settings) -> list[Path]:
    """The pictures that were read, each once, in order."""
    t, image = tables.reading, tables.page_image
    query = sa.select(image.c.sha256, image.c.suffix).join(t, t.c.image_sha256 == image.c.sha256)
    query = query.group_by(image.c.sha256, image.c.suffix).order_by(sa.func.min(t.c.id))
    database = open_database(settings)
    rows = database.run(lambda conn: conn.execute(query).all())
    database.close()
    store = Store(settings.store)
    return [store.path(row.sha256, row.suffix) for row in rows]


def measure(profile: Profile, wish: argparse.Namespace, url: str, home: Path) -> Iterator[Row]:
    """The pipeline, then the raw server on the same pictures."""
    vlm, widths = served.vlm_of(profile), numbers(wish.in_flight)
    made = pictures.make(wish.documents, profile.recipe(), home / "warm", 8, 2)
    load.check(url, [load.body(picture.path, vlm, 8) for picture in made], wish.api_key)
    yield ingest(fixed(profile, wish.tokens), wish, url, home)
    bodies = [load.body(path, vlm, wish.tokens) for path in sent(load_settings(home=home))]
    for width in widths:
        with Gauge() as gauge:
            volley = load.fire(url, bodies, width, wish.api_key)
        yield {"what": f"ready-made requests, {width} at once", **volley.row(), **gauge.row()}


def compared(rows: Sequence[Row]) -> list[Row]:
    """The rows with their pages a second as a share of the raw server's best."""
    best = max(float(row["pages_per_s"] or 0) for row in rows[1:]) or 1.0
    return [{**row, "of_raw": round(float(row["pages_per_s"] or 0) / best, 4)} for row in rows]


def main() -> None:
    """Measure, print, save."""
    wish = parser(__doc__, without=("--pages", "--bare")).parse_args()
    wish.pages = None  # all there are
    profile = profiles.get(wish.profile)
    with tempfile.TemporaryDirectory(prefix="pm-") as folder, ExitStack() as stack:
        home = Path(folder)
        url = wish.url or stack.enter_context(
            served.serving(
                served.plan(profile, wish.model, wish.python, wish.flag, options=wish.options),
                home / "vllm.log",
            )
        )
        stack.callback(stop, home)
        about = "the whole pipeline against the raw server"
        journal, rows = Journal("pipeline", about, told(wish, url), wish.out), list[Row]()
        for row in measure(profile, wish, url, home):
            journal.add(row)
            rows.append(row)
        journal.finish(compared(rows))


if __name__ == "__main__":
    arguments.run(main)
