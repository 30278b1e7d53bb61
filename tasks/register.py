"""Stage register: find files, name each by its bytes, enter it in the ledger."""

import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar

from db import documents, runs, scans
from models.document import IntakeFile, ScanProblem, SourceFile
from models.errors import Code, TransientError
from models.intake import KnownSource, ScanRules
from models.stage import Stage
from tasks import scan
from tasks.mill import Mill
from tasks.policies import flow_run_context, perform, stage_task
from tasks.work import sources

log = logging.getLogger(__name__)

T = TypeVar("T")

_LOOKED_UP = 1_000
_BATCH_FILES = 64
_RECORDED_FILES = 256
"""With a Prefect server a batch is a task run, which costs as much as reading some files."""

_RULES = ScanRules()


def register_roots(
    mill: Mill, roots: Sequence[Path | str], recipe_id: int, rules: ScanRules = _RULES
) -> None:
    """Register every file at or below `roots`, batch by batch, while other stages already work.

    Files that are as they were are not read. Names whose files are gone are marked so at the end. Raises
    ConfigurationError (see `scan.roots_of`) and ScanStopped, before anything is changed.
    """
    places = scan.roots_of(mill.settings, roots)
    survey = scan.survey(mill, places, rules)
    _save_problems(mill, survey.problems, rules)
    unchanged, size = 0, _RECORDED_FILES if flow_run_context() else _BATCH_FILES
    for files in _batches(survey.files, _LOOKED_UP):
        known = scan.unchanged(mill, files)
        unchanged += len(known)
        _register_unchanged(mill, known, recipe_id, rules)
        names = {match.source.uri for match in known}
        for batch in _batches((file for file in files if file.uri not in names), size):
            if mill.stopping.is_set():
                return
            perform(register_batch, mill, batch, recipe_id, rules)
    gone = mill.database.run(lambda conn: scans.mark_gone(conn, survey.gone, survey.listed_at))
    facts = {"listed": len(survey.files), "unchanged": unchanged, "gone": gone}
    facts["passed over"] = sum(map(is_left_out, survey.problems))
    log.info("scanned %s", " ".join(f"{name}={number}" for name, number in facts.items()))
    told = {f"scan: {name}": str(number) for name, number in facts.items()}
    if not rules.lists_all:
        told[scans.ROOTS] = json.dumps(places)
    mill.database.run(lambda conn: runs.add_facts(conn, mill.run_id, told))


@stage_task(Stage.REGISTER)
def register_batch(
    mill: Mill, batch: Sequence[SourceFile | ScanProblem], recipe_id: int, rules: ScanRules = _RULES
) -> int:
    """Read and enter some files; returns how many. What cannot be taken now is a problem of the run."""
    problems = [found for found in batch if isinstance(found, ScanProblem)]
    files: list[IntakeFile] = []
    for found in batch:
        if isinstance(found, SourceFile):
            taken = _take(mill, found, rules)
            (files if isinstance(taken, IntakeFile) else problems).append(taken)  # type: ignore[arg-type]
    has_passwords = bool(mill.passwords())
    mill.database.run(
        lambda conn: documents.register(conn, mill.run_id, recipe_id, files, has_passwords=has_passwords)
    )
    mill.bells.worked(Stage.REGISTER)
    _save_problems(mill, problems, rules)
    log.info("registered files=%d problems=%d", len(files), len(problems))
    return len(files)


def _register_unchanged(mill: Mill, known: Sequence[KnownSource], recipe_id: int, rules: ScanRules) -> None:
    has_passwords = bool(mill.passwords())
    mill.database.run(
        lambda conn: documents.register_unchanged(
            conn, mill.run_id, recipe_id, known, has_passwords=has_passwords, lists_all=rules.lists_all
        )
    )


def _save_problems(mill: Mill, problems: Sequence[ScanProblem], rules: ScanRules) -> None:
    noted = [found for found in problems if rules.lists_all or not is_left_out(found)]
    if noted:
        mill.database.run(lambda conn: runs.save_problems(conn, mill.run_id, noted))


def is_left_out(found: ScanProblem) -> bool:
    """Whether a path is passed over on purpose at every scan."""
    return found.code.startswith("ignored-") and found.code != Code.IGNORED_UNSETTLED


def _take(mill: Mill, source: SourceFile, rules: ScanRules) -> IntakeFile | ScanProblem:
    try:
        return sources.take(source, rules.settle_s, mill.copies)
    except TransientError as error:
        return ScanProblem(source.uri, error.code.value, error.message)


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
