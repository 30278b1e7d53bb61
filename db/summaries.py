"""What a run came to, document by document."""

from typing import Any

import sqlalchemy as sa

from db import runs, tables
from db.names import name_of
from db.tables.base import same_page
from models.document import DocumentStatus
from models.stage import ClaimStatus, Outcome, Stage
from models.summary import DocumentSummary, RunSummary
from models.verdict import Verdict

d, met, run = tables.document, tables.run_document, tables.run


def of_run(connection: sa.Connection, run_id: int) -> RunSummary:
    """The run's documents as they stand now. Raises ConfigurationError (not-found)."""
    verdicts = _verdicts(connection, run_id)
    rows = connection.execute(_documents(run_id))
    return RunSummary(
        run=runs.get(connection, run_id),
        documents=tuple(_summary(row, verdicts.get(row.id, {})) for row in rows),
        problems=runs.problems(connection, run_id),
        pages_read=_pages_read(connection, run_id),
    )


def _documents(run_id: int) -> sa.Select[*tuple[Any, ...]]:
    timing = tables.stage_run
    seconds = (
        sa.select(sa.func.sum(timing.c.seconds))
        .where(timing.c.document_id == d.c.id, timing.c.run_id == run_id)
        .scalar_subquery()
    )
    columns = [d.c.id, d.c.sha256, d.c.title, d.c.status, d.c.page_count, d.c.code, d.c.message]
    return (
        sa.select(
            *columns,
            met.c.seen_as,
            name_of(d.c.id).label("name"),
            sa.func.coalesce(seconds, 0.0).label("seconds"),
        )
        .join(met, met.c.document_id == d.c.id)
        .where(met.c.run_id == run_id)
        .order_by(d.c.id)
    )


def _verdicts(connection: sa.Connection, run_id: int) -> dict[int, dict[Verdict, int]]:
    """Pages by verdict of each document; a page whose work failed is bad without a reading."""
    page, reading, claim = tables.page, tables.reading, tables.claim
    failed = sa.case((claim.c.status == ClaimStatus.FAILED.value, Verdict.BAD.value))
    verdict = sa.func.coalesce(reading.c.verdict, failed).label("verdict")
    read = same_page(page, reading) & reading.c.superseded_at.is_(None)
    query = (
        sa.select(page.c.document_id, verdict, sa.func.count())
        .join_from(met, run, run.c.id == met.c.run_id)
        .join(page, page.c.document_id == met.c.document_id)
        .outerjoin(reading, read & (reading.c.recipe_id == run.c.recipe_id))
        .outerjoin(claim, same_page(page, claim) & (claim.c.recipe_id == run.c.recipe_id))
        .where(met.c.run_id == run_id, verdict.is_not(None))
        .group_by(page.c.document_id, verdict)
    )
    found: dict[int, dict[Verdict, int]] = {}
    for document_id, word, number in connection.execute(query):
        found.setdefault(document_id, {})[Verdict(word)] = number
    return found


# Of tries in vain nothing was read; of partial ones most was.
_READ = (Outcome.OK.value, Outcome.PARTIAL.value)


def _pages_read(connection: sa.Connection, run_id: int) -> int:
    t = tables.stage_run
    read = sa.select(sa.func.coalesce(sa.func.sum(t.c.pages - t.c.cached), 0))
    number: int = connection.execute(
        read.where(t.c.run_id == run_id, t.c.stage == Stage.OCR.value, t.c.outcome.in_(_READ))
    ).scalar_one()
    return number


def _summary(row: sa.Row[Any], verdicts: dict[Verdict, int]) -> DocumentSummary:
    return DocumentSummary(
        id=row.id,
        sha256=row.sha256,
        name=row.name,
        title=row.title,
        seen_as=row.seen_as,
        status=DocumentStatus(row.status),
        page_count=row.page_count,
        verdicts=verdicts,
        seconds=row.seconds,
        code=row.code,
        message=row.message,
    )
