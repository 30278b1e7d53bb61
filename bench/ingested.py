"""One `pagemill ingest` of some documents through a scripted server, watched from outside."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
import sqlalchemy as sa

from bench import child
from bench.double import Seat, double, filled, filled_at
from bench.family import Family
from db import tables
from db.engine import open_database
from models import profiles
from models.profile import Profile
from models.settings import Settings, load_settings
from models.stage import Stage
from models.telemetry import STAGE

_LOOK_S = 0.2
_PSS_EVERY = 10


@dataclass(frozen=True, slots=True)
class Served:
    """How the scripted server answers, and how many processes prepare pages."""

    slots: int = 16
    seconds: float = 0.8
    words: int = 300
    jobs: int = 2


@dataclass(frozen=True, slots=True)
class Ingested:
    """What one run did and used."""

    pages: int
    requests: int
    wall_s: float
    cpu_s: float
    """Of the command and all its descendants, start included; Postgres not."""
    postgres_s: float
    filled: float
    """Share of the server's slots in work from the first request until the last one came."""
    filled_ready: float | None
    """The same at the moments when the run saw prepared pages that nobody had begun; None without any."""
    first_picture_s: float
    """From the start of the first document's split until the first page's picture was in the store."""
    first_request_s: float
    """From then until the first request was at the server."""
    family: Family


def tried_once(name: str) -> Profile:
    """A profile that reads every page once, whatever the checks say: what a double says is never right."""
    return profiles.get(name).model_copy(update={"name": "bench", "ladder": ()})


def ingest(documents: Sequence[Path], served: Served, home: Path, profile: Profile) -> Ingested:
    """Read `documents` in the fresh folder `home`. Raises SystemExit with the log when the command fails."""
    with double(served.slots, served.seconds, served.words) as server:
        variables = {"PAGEMILL_HOME": str(home), "PAGEMILL_OCR_URL": server.url, "PAGEMILL_VECTORS": "false"}
        environ = child.environ(profile, **variables)
        words = ["ingest", *map(str, documents), "--profile", profile.name, "--jobs", str(served.jobs)]
        # What a double says differs from every text layer: each page would be looked into as one in doubt.
        words += ["--recipe", "text_layer=ignore"]
        started = time.monotonic()
        with (home / "ingest.log").open("wb") as log:
            process = psutil.Popen(child.command(*words), env=environ, stdout=log, stderr=subprocess.STDOUT)
            family = _watched(process, home)
        wall_s = time.monotonic() - started
        if process.returncode not in {0, 3}:
            raise SystemExit((home / "ingest.log").read_text()[-4000:])
    return _measured(home, family, server.seats, server.slots, wall_s)


def stop(home: Path) -> None:
    """Stop the Postgres of a home."""
    environ = os.environ | {"PAGEMILL_HOME": str(home)}
    subprocess.run([sys.executable, "-m", "cli.main", "down"], env=environ, check=True, capture_output=True)


def _watched(process: psutil.Popen, home: Path) -> Family:
    family, looks = Family(), 0
    while process.poll() is None:
        family.look(process, home, at_pss=looks % _PSS_EVERY == 0)
        looks += 1
        time.sleep(_LOOK_S)
    return family


def _measured(home: Path, family: Family, seats: Sequence[Seat], slots: int, wall_s: float) -> Ingested:
    settings = load_settings(home=home)
    pages, split_at = _read(settings)
    pictured_at = min(path.stat().st_mtime for path in settings.store.rglob("*") if path.is_file())
    # Requests are told by the monotonic clock, files and ledger by the calendar.
    offset = time.time() - time.monotonic()
    requested_at = min(seat.came for seat in seats) + offset
    waited = [moment - offset for moment in _moments(settings)]
    return Ingested(
        pages=pages,
        requests=len(seats),
        wall_s=wall_s,
        cpu_s=family.tree_s,
        postgres_s=family.cpu["postgres"],
        filled=filled(seats, slots),
        filled_ready=filled_at(seats, slots, waited),
        first_picture_s=pictured_at - split_at,
        first_request_s=requested_at - pictured_at,
        family=family,
    )


def _read(settings: Settings) -> tuple[int, float]:
    """Pages read, and when the first document began to be split."""
    t = tables.stage_run
    query = sa.select(t.c.stage, sa.func.sum(t.c.pages), sa.func.min(t.c.started_at)).group_by(t.c.stage)
    database = open_database(settings)
    rows = {stage: (pages, start) for stage, pages, start in database.run(lambda c: c.execute(query).all())}
    database.close()
    return int(rows[Stage.OCR.value][0]), rows[Stage.SPLIT.value][1].timestamp()


def _moments(settings: Settings) -> list[float]:
    """When the run saw prepared pages that nobody had begun."""
    t = tables.telemetry
    query = sa.select(t.c.at).where(t.c.device == f"{STAGE}{Stage.OCR}", t.c.queued > 0)
    database = open_database(settings)
    moments = [at.timestamp() for at in database.run(lambda c: c.execute(query).scalars().all())]
    database.close()
    return moments
