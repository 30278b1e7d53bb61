"""A run's times, findings and worst pages, gathered to be looked at."""

import sqlalchemy as sa

from db import outcomes, review, runs, summaries, tables
from models.errors import Code, ConfigurationError
from models.review import ReviewQuery
from models.run_report import FindingCount, RunReport
from models.verdict import Severity, Verdict

t, met = tables.stage_run, tables.run_document

_SEVERITIES = (Severity.ERROR, Severity.WARNING, Severity.INFO)


def newest(connection: sa.Connection) -> int:
    """The last run that met documents, else the last that worked on any.

    Raises ConfigurationError (not-found) where there is none.
    """
    for table in (met, t):
        found = connection.scalar(sa.select(sa.func.max(table.c.run_id)))
        if found is not None:
            return int(found)
    raise ConfigurationError("There was no run yet. Try: pagemill ingest FOLDER", Code.NOT_FOUND)


def of_run(connection: sa.Connection, run_id: int, worst: int, text_chars: int) -> RunReport:
    """A run with at most `worst` of its pages that wait for a person, and so much of their texts.

    Raises ConfigurationError (not-found).
    """
    summary = summaries.of_run(connection, run_id)
    recipe_id = summary.run.recipe_id
    asked = ReviewQuery(run_id=run_id, limit=worst, text_chars=text_chars)
    pages, waiting = review.waiting(connection, asked)
    return RunReport(
        summary=summary,
        profile="" if recipe_id is None else runs.recipe(connection, recipe_id).profile,
        stages=outcomes.stages(connection, run_id),
        findings=findings(connection, run_id),
        worst=pages,
        waiting=waiting,
    )


def findings(connection: sa.Connection, run_id: int) -> tuple[FindingCount, ...]:
    """What was found in the pages that the run's documents show, and why pages of them could not be read."""
    d, e, f = tables.document, tables.edition_page, tables.finding
    of_run = d.c.id.in_(review.of_run(run_id))
    shown = sa.select(d.c.id.label("document_id"), e.c.page_no)
    shown = shown.join(e, e.c.edition_id == d.c.edition_id).where(of_run)
    found = shown.add_columns(f.c.code, f.c.severity).join(f, f.c.reading_id == e.c.reading_id)
    is_unread = (e.c.verdict == Verdict.BAD.value) & e.c.reading_id.is_(None) & e.c.code.is_not(None)
    unread = shown.add_columns(e.c.code, sa.literal(Severity.ERROR.value)).where(is_unread)
    every = sa.union_all(found, unread).subquery("every")
    pages = sa.func.count(sa.tuple_(every.c.document_id, every.c.page_no).distinct())
    query = sa.select(every.c.code, every.c.severity, pages, sa.func.count(every.c.document_id.distinct()))
    rows = connection.execute(query.group_by(every.c.code, every.c.severity))
    counts = [FindingCount(row[0], Severity(row[1]), row[2], row[3]) for row in rows]
    return tuple(sorted(counts, key=lambda one: (_SEVERITIES.index(one.severity), -one.pages, one.code)))
