"""Stage register: find files, name each by its bytes, enter it in the ledger."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar

from db import documents, runs
from models.document import IntakeFile, ScanProblem, SourceFile
from models.errors import TransientError
from models.stage import Stage
from tasks.mill import Mill
from tasks.policies import perform, stage_task
from tasks.work import sources

log = logging.getLogger(__name__)

T = TypeVar("T")

_BATCH_FILES = 64


def register_roots(mill: Mill, roots: Sequence[Path], recipe_id: int) -> None:
    """Register every file at or below `roots`, batch by batch, while other stages already work."""
    found = sources.find(roots, mill.settings.root)
    for batch in _batches(found, _BATCH_FILES):
        if mill.stopping.is_set():
            return
        perform(register_batch, mill, batch, recipe_id)


@stage_task(Stage.REGISTER)
def register_batch(mill: Mill, batch: list[SourceFile | ScanProblem], recipe_id: int) -> int:
    """Read and enter some files; returns how many. What cannot be taken now is a problem of the run."""
    problems = [found for found in batch if isinstance(found, ScanProblem)]
    files: list[IntakeFile] = []
    for found in batch:
        if isinstance(found, SourceFile):
            taken = _take(found)
            (files if isinstance(taken, IntakeFile) else problems).append(taken)  # type: ignore[arg-type]
    has_passwords = bool(mill.passwords())
    mill.database.run(
        lambda conn: documents.register(conn, mill.run_id, recipe_id, files, has_passwords=has_passwords)
    )
    if problems:
        mill.database.run(lambda conn: runs.save_problems(conn, mill.run_id, problems))
    log.info("registered files=%d problems=%d", len(files), len(problems))
    return len(files)


def _take(source: SourceFile) -> IntakeFile | ScanProblem:
    try:
        return sources.take(source)
    except TransientError as error:
        return ScanProblem(source.uri, error.code.value, error.message)


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
