"""Stage validate by itself: judge again what was read, by the checks as they are now. Nothing is read."""

from typing import Any

from db import pages, readings, timings
from models.claim import Claim, Failure
from models.work import PageResult
from tasks.ledger import failure_of, settle, stage_run
from tasks.mill import Mill
from tasks.requests import request_of
from tasks.validate import judge
from tasks.work.clock import Timed, timed


def revalidate_batch(mill: Mill, claims: list[Claim]) -> None:
    """Judge the readings of some claims again; each gets a reading beside it that says the same.

    All in one transaction.
    """
    items = mill.database.run(lambda conn: pages.to_read(conn, claims))
    kept = mill.database.run(lambda conn: readings.own(conn, claims))
    judged: list[Timed[PageResult]] = []
    failures: list[Failure] = []
    for item in items:
        known, request = kept[item.claim.id], request_of(mill, item)
        try:
            judged.append(timed(judge, item, request, known.reading, mill.profile, known.id))
        except Exception as error:
            failures.append(failure_of(item.claim, error))

    def commit(connection: Any) -> None:
        readings.save(connection, [done.value for done in judged])
        runs = [stage_run(mill, done.value.claim, done.seconds) for done in judged]
        timings.record(connection, mill.run_id, runs)
        settle(mill, connection, failures)

    mill.database.run(commit)
