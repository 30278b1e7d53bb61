"""What a scan costs: of a folder that is new, and of one where nothing has changed.

    python -m bench.scanning --files 10000

Makes small files in a temporary folder, starts an embedded Postgres of its own, and scans without reading.
"""

import argparse
import os
import resource
import tempfile
import time
from pathlib import Path

from bench import arguments
from db import embedded, migrate, runs
from db.engine import Database
from models import profiles
from models.intake import ScanRules
from models.settings import load_settings
from tasks.mill import Mill
from tasks.register import register_roots

_FILES_IN_FOLDER = 500
_HOUR_S = 3_600


def main() -> None:
    """Print a line for each scan."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--kib", type=int, default=20, help="size of each file")
    wish = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pm-") as folder:
        root = Path(folder) / "in"
        fill(root, wish.files, wish.kib)
        home = Path(folder) / "home"
        database = Database(embedded.start(home))
        try:
            migrate.upgrade(database.engine)
            for name in ("new", "unchanged", "unchanged again"):
                print(f"{name:16} {measured(database, home, root)}")
        finally:
            database.close()
            embedded.stop(home)


def fill(root: Path, count: int, kib: int) -> None:
    """Files that differ, last changed an hour ago."""
    then = time.time() - _HOUR_S
    for number in range(count):
        path = root / f"{number // _FILES_IN_FOLDER:04}" / f"{number:06}.pdf"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(f"%PDF-1.7 {number}\n".encode().ljust(kib * 1024, b"."))
        os.utime(path, (then, then))


def measured(database: Database, home: Path, root: Path) -> str:
    """Scan once, as a schedule does; wall and CPU seconds of this process and its peak memory so far."""
    profile = profiles.get("ppocr")
    recipe = profile.recipe()
    run_id = database.run(lambda conn: runs.start(conn, "ingest", recipe, {}))
    recipe_id = database.run(lambda conn: runs.recipe_id(conn, recipe))
    mill = Mill(settings=load_settings(home=home), database=database, profile=profile, run_id=run_id)
    began, cpu = time.perf_counter(), time.process_time()
    register_roots(mill, [root], recipe_id, ScanRules(settle_s=10, lists_all=False))
    wall_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu
    mill.close()
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    facts = database.run(lambda conn: runs.get(conn, run_id)).facts
    return (
        f"{wall_s:6.2f} s, {cpu_s:6.2f} s CPU, peak {peak_mib:4.0f} MiB, unchanged {facts['scan: unchanged']}"
    )


if __name__ == "__main__":
    arguments.run(main)
