"""The whole pipeline against the raw server: how much of the server's speed arrives in the knowledge base.

    python -m bench.pipeline PROFILE DOCUMENT… [--url URL | --model PATH] [--pages N] [--tokens N]
        [--resolution legible] [--in-flight N] [--jobs N] [--out FOLDER]

First `pagemill ingest` reads the documents into a fresh home: split, pictures, requests, checks, database.
Then the very pictures it sent are sent again as ready-made requests, N at once. The ratio of pages a second
is the pipeline's efficiency. Replies have a fixed length, so that both do the same work. CPU seconds a page
are those of pagemill and its children, without Postgres and the server.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import sqlalchemy as sa

from bench import load, pictures, served
from bench.result import Result, Row, machine
from bench.sweep import parser
from bench.watch import CpuClock, Gauge
from db import tables
from db.engine import open_database
from models import profiles
from models.profile import Profile
from models.settings import Settings, load_settings
from models.stage import Stage
from tasks.work.store import Store

_CHILD = "PAGEMILL_BENCH_PROFILE"


def fixed(profile: Profile, tokens: int) -> Profile:
    """The profile with replies of just `tokens` tokens and no second tries: the same work for everybody."""
    assert profile.vlm is not None, "this profile needs no server"
    sampling = profile.vlm.sampling.model_copy(
        update={
            "max_tokens": tokens,
            "repetition_detection": None,
            "extra": {"ignore_eos": True, "min_tokens": tokens},
            "stop": (),
        }
    )
    vlm = profile.vlm.model_copy(update={"sampling": sampling})
    return profile.model_copy(update={"name": "bench", "vlm": vlm, "ladder": ()})


def ingest(profile: Profile, wish: argparse.Namespace, url: str, home: Path) -> Row:
    """One `pagemill ingest` in a fresh home, timed between the first request and the last reading."""
    environ = os.environ | {
        "PAGEMILL_HOME": str(home),
        "PAGEMILL_OCR_URL": url,
        "PAGEMILL_VECTORS": "false",
        _CHILD: profile.model_dump_json(by_alias=True),
    }
    options = ["text_layer=ignore"] + ([f"resolution={wish.resolution}"] if wish.resolution else [])
    command = [sys.executable, "-m", "bench.pipeline", "ingest", *map(str, wish.documents)]
    command += ["--profile", profile.name, "--jobs", str(wish.jobs)]
    command += [part for option in options for part in ("--recipe", option)]
    with Gauge() as gauge, (home / "ingest.log").open("wb") as log:
        started = time.monotonic()
        process = psutil.Popen(command, env=environ, stdout=log, stderr=subprocess.STDOUT)
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
    """The pictures that were read, in order."""
    t, image = tables.reading, tables.page_image
    query = sa.select(image.c.sha256, image.c.suffix).join(t, t.c.image_sha256 == image.c.sha256)
    database = open_database(settings)
    rows = database.run(lambda conn: conn.execute(query.order_by(t.c.id)).all())
    database.close()
    store = Store(settings.store)
    return [store.path(row.sha256, row.suffix) for row in rows]


def measure(profile: Profile, wish: argparse.Namespace, url: str, home: Path) -> list[Row]:
    """The pipeline, then the raw server on the same pictures."""
    assert profile.vlm is not None
    warm = [
        load.body(picture.path, profile.vlm, 8)
        for picture in pictures.make(
            list(pictures.files(wish.documents))[:4], profile.recipe(), home / "warm", 8, 2
        )
    ]
    load.fire(url, warm, len(warm), wish.api_key)
    rows: list[Row] = [ingest(fixed(profile, wish.tokens), wish, url, home)]
    print(rows[0], flush=True)
    bodies = [load.body(path, profile.vlm, wish.tokens) for path in sent(load_settings(home=home))]
    for width in (int(part) for part in wish.in_flight.split(",")):
        with Gauge() as gauge:
            volley = load.fire(url, bodies, width, wish.api_key)
        rows.append({"what": f"ready-made requests, {width} at once", **volley.row(), **gauge.row()})
        print(rows[-1], flush=True)
    best = max(float(row["pages_per_s"] or 0) for row in rows[1:])
    return [{**row, "of_raw": round(float(row["pages_per_s"] or 0) / best, 4)} for row in rows]


def main() -> None:
    """Measure, print, save."""
    wish = parser(__doc__).parse_args()
    profile = profiles.get(wish.profile)
    with tempfile.TemporaryDirectory(prefix="pm-") as folder, ExitStack() as stack:
        home = Path(folder)
        url = wish.url or stack.enter_context(
            served.serving(
                served.plan(profile, wish.model, wish.python, wish.flag, options=wish.options),
                home / "vllm.log",
            )
        )
        rows = measure(profile, wish, url, home)
        _stop_postgres(home)
    facts = machine() | {"profile": profile.name, "tokens": wish.tokens, "resolution": wish.resolution}
    result = Result("pipeline", "the whole pipeline against the raw server", tuple(rows), facts)
    print(result.table())
    print(result.save(wish.out))


def _stop_postgres(home: Path) -> None:
    command = [sys.executable, "-m", "cli.main", "down"]
    subprocess.run(command, env=os.environ | {"PAGEMILL_HOME": str(home)}, check=True, capture_output=True)


def _as_child(told: str) -> None:
    """`pagemill` with one more profile, which nobody else has."""
    about: dict[str, Any] = json.loads(told)
    profiles.PROFILES[about["name"]] = Profile.model_validate(about)
    from cli.main import main as pagemill  # noqa: PLC0415 (needs the profile first)

    pagemill()


if __name__ == "__main__":
    if _CHILD in os.environ:
        _as_child(os.environ[_CHILD])
    else:
        main()
