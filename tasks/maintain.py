"""Keep house: free what the dead held, purge what can be made again, check what always holds."""

import datetime as dt
import logging
import os
import re
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import sqlalchemy as sa

from db import backfills, claims, invariants, pictures, telemetry
from db.engine import Database
from models.invariant import Upkeep, Violation
from models.settings import Settings
from models.stage import Stage
from tasks.mill import is_alive
from tasks.work.machine import machine

log = logging.getLogger(__name__)

_AT_ONCE = 500
_SAMPLES_DAYS = 30
"""A run that goes on for a day leaves 50 MB of samples, which nobody looks at in detail for long."""
_PICTURE = re.compile(r"([0-9a-f]{64})\.\w+")
_PART = re.compile(r"\.part-.+")
_RESULT = re.compile(rf"({'|'.join(Stage)})-\d+-[0-9a-f]{{64}}")
"""Names that tasks.policies.cache_key gives; other files of that folder are not ours."""


def keep_house(
    database: Database, settings: Settings, results: Path, *, images_days: float, results_days: float
) -> Upkeep:
    """One round: leases, ended backfills, old page images and results that Prefect kept, invariants."""
    started = time.monotonic()
    leases = free_leases(database, settings.max_crashes)
    ended = database.run(backfills.end)
    images, image_bytes = purge_images(database, settings.store, images_days)
    purged = purge_results(results, results_days)
    samples = database.run(lambda conn: telemetry.thin_out(conn, _SAMPLES_DAYS))
    violations = check_ledger(database)
    log.info("maintained leases=%d images=%d results=%d samples=%d", leases, images, purged, samples)
    return Upkeep(
        leases=leases,
        backfills=ended,
        images=images,
        image_bytes=image_bytes,
        results=purged,
        violations=violations,
        seconds=time.monotonic() - started,
    )


def free_leases(database: Database, max_crashes: int) -> int:
    """Free what the dead of this host held and what was not renewed in time; counts as a crash of it."""

    def work(connection: sa.Connection) -> int:
        dead = claims.release_dead(connection, machine(), is_alive, max_crashes)
        return dead + sum(claims.free_expired(connection, stage, max_crashes) for stage in Stage)

    return database.run(work)


def check_ledger(database: Database) -> tuple[Violation, ...]:
    """Every invariant, each in a transaction of its own; what is broken."""
    found = [
        violation
        for invariant in invariants.INVARIANTS
        if (violation := database.run(lambda conn, one=invariant: invariants.check(conn, one)))  # type: ignore[misc]
    ]
    for violation in found:
        log.error("ledger %s count=%d first=%s", violation.invariant, violation.count, violation.examples[0])
    return tuple(found)


def purge_images(database: Database, store: Path, days: float) -> tuple[int, int]:
    """Remove page images older than `days` that nobody needs; how many, and their bytes.

    They are made again when a page is read again. Half-written files of killed processes go as well.
    """
    old = _older(_files(store), days)
    number = size = 0
    while batch := list(islice(old, _AT_ONCE)):
        found = {match[1]: path for path in batch if (match := _PICTURE.fullmatch(path.name))}
        parts = [path for path in batch if _PART.fullmatch(path.name)]
        with database.begin() as connection:
            kept = pictures.needed(connection, found)
            removed = [_remove(path) for sha256, path in found.items() if sha256 not in kept]
        number += len(removed)
        size += sum(removed) + sum(_remove(path) for path in parts)
    return number, size


def purge_results(folder: Path, days: float) -> int:
    """Remove results of our tasks that Prefect kept longer than `days`; how many."""
    files = (Path(entry) for entry in os.scandir(folder)) if folder.is_dir() else ()
    ours = [path for path in _older(iter(files), days) if _RESULT.fullmatch(path.name)]
    for path in ours:
        _remove(path)
    return len(ours)


def as_table(violations: Sequence[Violation]) -> str:
    """What is broken, a line each, for a person."""
    lines = [f"{found.invariant}: {found.count} ({', '.join(found.examples)})" for found in violations]
    return "\n".join(["The ledger contradicts itself:", *lines])


def _files(store: Path) -> Iterator[Path]:
    """Files two folders deep, as the store lays them."""
    return (Path(entry) for entry in store.glob("[0-9a-f][0-9a-f]/[0-9a-f][0-9a-f]/*"))


def _older(paths: Iterator[Path], days: float) -> Iterator[Path]:
    limit = time.time() - dt.timedelta(days=days).total_seconds()
    return (path for path in paths if _changed_at(path) <= limit)


def _changed_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # another round was quicker
        return float("inf")


def _remove(path: Path) -> int:
    """The bytes that were in it."""
    try:
        size = path.stat().st_size
        path.unlink()
    except FileNotFoundError:
        return 0
    return size
