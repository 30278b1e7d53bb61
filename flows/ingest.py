"""Flow ingest: from folders to the knowledge base, all stages overlapping in one run."""

import contextvars
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from prefect import flow

from flows.lines import load_lines, ocr_lines, split_lines
from flows.opening import open_mill
from models.stage import Stage
from tasks.drain import drain
from tasks.mill import Mill
from tasks.register import register_roots


@flow(name="ingest", flow_run_name="ingest-{profile}", persist_result=False)
def ingest(
    paths: list[str],
    profile: str = "ppocr",
    options: list[str] = [],  # noqa: B006 (Prefect shows the default in its form)
    jobs: int | None = None,
) -> int:
    """Read folders and files once; returns the id of the run. Work left by earlier runs is done as well.

    Args:
        paths: Files and folders to read, absolute paths.
        profile: OCR profile, see `pagemill profiles`.
        options: Recipe options, each key=value.
        jobs: Worker processes of each kind; empty for one per core.
    """
    with open_mill("ingest", profile, options, jobs, reads=True) as (mill, recipe_id):
        work_off(mill, [Path(path) for path in paths], recipe_id)
        return mill.run_id


def work_off(mill: Mill, roots: list[Path], recipe_id: int) -> None:
    """Register `roots` and drain all stages meanwhile, until no work of the mill's profile is left."""
    lines = [*split_lines(), *ocr_lines(mill.profile), *load_lines()]
    with ThreadPoolExecutor(1, thread_name_prefix="scan") as scanner:
        scan = scanner.submit(contextvars.copy_context().run, register_roots, mill, roots, recipe_id)
        drain(mill, lines, lambda: scan.done() and is_done(mill))
    scan.result()


def is_done(mill: Mill) -> bool:
    """Whether no work of this mill's profile is left, in anybody's hands."""
    return mill.outstanding(list(Stage)) == 0
