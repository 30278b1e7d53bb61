"""What one run did, for those who look at it from outside."""

import sqlalchemy as sa

from db import tables
from models.outcome import FailedWork, StageOutcome
from models.stage import ClaimStatus, Outcome, Stage

t = tables.stage_run


def stages(connection: sa.Connection, run_id: int) -> tuple[StageOutcome, ...]:
    """The stages that the run worked, in their order."""
    worked = sa.func.nullif(t.c.pages - t.c.cached, 0)
    a_page = t.c.seconds / worked
    query = (
        sa.select(
            t.c.stage,
            sa.func.count(t.c.document_id.distinct()).label("documents"),
            sa.func.sum(t.c.pages).label("pages"),
            sa.func.sum(t.c.cached).label("cached"),
            sa.func.count().filter(t.c.outcome == Outcome.FAILED.value).label("failed"),
            sa.func.percentile_cont(0.5).within_group(a_page).label("p50"),
            sa.func.percentile_cont(0.95).within_group(a_page).label("p95"),
            sa.func.extract("epoch", sa.func.max(t.c.ended_at) - sa.func.min(t.c.started_at)).label("wall"),
        )
        .where(t.c.run_id == run_id)
        .group_by(t.c.stage)
    )
    found = {Stage(row.stage): row for row in connection.execute(query)}
    return tuple(
        StageOutcome(
            stage,
            documents=row.documents,
            pages=row.pages,
            cached=row.cached,
            failed=row.failed,
            page_p50_s=row.p50,
            page_p95_s=row.p95,
            wall_s=float(row.wall),
        )
        for stage, row in ((stage, found[stage]) for stage in Stage if stage in found)
    )


def failures(connection: sa.Connection, run_id: int, most: int = 200) -> tuple[FailedWork, ...]:
    """What failed for good while the run was under way, of documents that it worked on; at most `most`."""
    claim, source = tables.claim, tables.source
    began = sa.select(tables.run.c.started_at).where(tables.run.c.id == run_id).scalar_subquery()
    worked_on = sa.select(t.c.document_id).where(t.c.run_id == run_id)
    name = (
        sa.select(source.c.uri)
        .where(source.c.document_id == claim.c.document_id)
        .order_by(source.c.last_seen.desc(), source.c.id)
        .limit(1)
        .scalar_subquery()
    )
    query = (
        sa.select(claim.c.document_id, claim.c.page_no, claim.c.code, claim.c.message, name.label("name"))
        .where(claim.c.status == ClaimStatus.FAILED.value, claim.c.ended_at >= began)
        .where(claim.c.document_id.in_(worked_on))
        .order_by(claim.c.document_id, claim.c.page_no)
        .limit(most)
    )
    return tuple(
        FailedWork(row.document_id, row.name or "", row.page_no, row.code or "", row.message or "")
        for row in connection.execute(query)
    )
