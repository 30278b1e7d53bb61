"""What one run did, for those who look at it from outside."""

from collections.abc import Collection, Mapping
from typing import Any

import sqlalchemy as sa

from db import claims, runs, tables
from db.names import name_of
from models.outcome import FailedWork, Headway, StageOutcome, Tally
from models.reading import ReadingSource
from models.stage import ClaimStatus, Outcome, Stage

t, claim, met, run = tables.stage_run, tables.claim, tables.run_document, tables.run

_LEFT_OUT = "ignored-"
"""Begins the code of a path that a scan passes over on purpose."""


def stages(connection: sa.Connection, run_id: int) -> tuple[StageOutcome, ...]:
    """What each stage did and took in a run, in the order of the story.

    Of a run that only put documents into the ledger, what others have done about them since.
    """
    mine = _work_of(connection, run_id)
    wall = sa.func.extract("epoch", sa.func.max(t.c.ended_at) - sa.func.min(t.c.started_at))
    query = sa.select(
        t.c.stage,
        sa.func.count(t.c.document_id.distinct()).label("documents"),
        sa.func.sum(t.c.cached).label("cached"),
        sa.func.sum(t.c.seconds).label("seconds"),
        wall.label("wall_s"),
        sa.func.count().filter(t.c.outcome == Outcome.RETRY.value).label("retries"),
        *_percentiles(t.c.seconds / sa.func.nullif(t.c.pages - t.c.cached, 0)),
    )
    found = {row.stage: row._asdict() for row in connection.execute(query.where(mine).group_by(t.c.stage))}
    for part in (_pages(mine), _failed(connection, run_id, mine), _reading_times(run_id, mine)):
        for row in connection.execute(part):
            if row.stage in found:
                found[row.stage] |= row._asdict()
    return tuple(_outcome(found[stage.value]) for stage in Stage if stage.value in found)


def _outcome(known: dict[str, Any]) -> StageOutcome:
    return StageOutcome(**known | {"stage": Stage(known["stage"]), "wall_s": float(known["wall_s"])})


def failures(connection: sa.Connection, run_id: int, most: int = 200) -> tuple[FailedWork, ...]:
    """What failed for good while the run was under way, of documents that it worked on; at most `most`."""
    worked_on = sa.select(t.c.document_id).where(t.c.run_id == run_id)
    name = name_of(claim.c.document_id)
    query = (
        sa.select(claim.c.document_id, name.label("name"), claim.c.page_no, claim.c.code, claim.c.message)
        .where(_is_lost(connection, run_id), claim.c.document_id.in_(worked_on))
        .order_by(claim.c.document_id, claim.c.page_no)
        .limit(most)
    )
    return tuple(
        FailedWork(row.document_id, row.name, row.page_no, row.code or "", row.message or "")
        for row in connection.execute(query)
    )


def tally(connection: sa.Connection, run_id: int) -> Tally:
    """What the run came to: of the documents that it worked on itself, and of files that it refused."""
    worked = {one.stage: one for one in stages(connection, run_id)}
    refused = _count(connection, met, met.c.run_id == run_id, met.c.seen_as == "rejected")
    problem = tables.scan_problem
    is_unread = ~problem.c.code.startswith(_LEFT_OUT)
    listed = runs.get(connection, run_id).facts.get("scan: listed")
    load, ocr = worked.get(Stage.LOAD), worked.get(Stage.OCR)
    return Tally(
        documents=max((one.documents for one in worked.values()), default=0) + refused,
        lost_documents=sum(one.failed - one.failed_pages for one in worked.values()) + refused,
        pages=_pages_done(connection, run_id, worked),
        lost_pages=sum(one.failed_pages for one in worked.values()),
        cached=ocr.cached if ocr else 0,
        loaded=load.documents - load.failed if load else 0,
        unread=_count(connection, problem, problem.c.run_id == run_id, is_unread),
        listed=None if listed is None else int(listed),
    )


def _pages_done(connection: sa.Connection, run_id: int, worked: Mapping[Stage, StageOutcome]) -> int:
    """Pages that the run read or lost, blank ones too; of a run that read none those that it prepared."""
    prepared, ocr = worked.get(Stage.PREPROCESS), worked.get(Stage.OCR)
    if ocr is None or prepared is None:
        return max((one.pages for one in (prepared, ocr) if one), default=0)
    r = tables.reading
    is_mine = (t.c.run_id == run_id) & (t.c.stage == Stage.PREPROCESS.value)
    is_blank = (r.c.source == ReadingSource.NONE.value) & (r.c.created_at >= _began(run_id))
    of_mine = r.c.document_id.in_(sa.select(t.c.document_id).where(is_mine))
    return ocr.pages + prepared.failed_pages + _count(connection, r, is_blank, of_mine)


def headway(
    connection: sa.Connection, run_id: int, stage: Stage, before: Collection[Stage], profile: str
) -> Headway:
    """What the run has done of a stage, and what is left in it and in those `before`.

    Documents of the stages split and load, pages of the others.
    """
    counted = sa.func.count() if stage in {Stage.SPLIT, Stage.LOAD} else sa.func.sum(t.c.pages)
    done = sa.select(counted).where(t.c.run_id == run_id, t.c.stage == stage.value)
    left = claims.outstanding(connection, [*before, stage], profile)
    return Headway(connection.scalar(done) or 0, left.total)


def _work_of(connection: sa.Connection, run_id: int) -> sa.ColumnElement[bool]:
    """The timing rows that are the run's."""
    mine = t.c.run_id == run_id
    if connection.scalar(sa.select(sa.exists().where(mine))):
        return mine
    of_met = t.c.document_id.in_(sa.select(met.c.document_id).where(met.c.run_id == run_id))
    return of_met & (t.c.started_at >= _began(run_id))


def _began(run_id: int) -> sa.ScalarSelect[Any]:
    return sa.select(run.c.started_at).where(run.c.id == run_id).scalar_subquery()


def _is_lost(connection: sa.Connection, run_id: int) -> sa.ColumnElement[bool]:
    """A claim on which nothing more is tried since the run began, or until it ended if it worked itself."""
    is_lost = (claim.c.status == ClaimStatus.FAILED.value) & (claim.c.ended_at >= _began(run_id))
    ended = runs.get(connection, run_id).ended_at
    has_own = connection.scalar(sa.select(sa.exists().where(t.c.run_id == run_id)))
    return is_lost & (claim.c.ended_at <= ended) if ended and has_own else is_lost


def _pages(mine: sa.ColumnElement[bool]) -> sa.Select[*tuple[Any, ...]]:
    """Pages by stage; one that was tried again counts once."""
    document = tables.document
    tried = sa.func.sum(t.c.pages)
    most = sa.func.coalesce(sa.func.max(document.c.page_count), tried)
    each = sa.select(t.c.stage, sa.func.least(tried, most).label("pages")).join(document)
    each = each.where(mine).group_by(t.c.stage, t.c.document_id)
    by_document = each.subquery()
    pages = sa.cast(sa.func.sum(by_document.c.pages), sa.Integer).label("pages")
    return sa.select(by_document.c.stage, pages).group_by(by_document.c.stage)


def _failed(
    connection: sa.Connection, run_id: int, mine: sa.ColumnElement[bool]
) -> sa.Select[*tuple[Any, ...]]:
    counts = [
        sa.func.count().label("failed"),
        sa.func.count().filter(claim.c.page_no > 0).label("failed_pages"),
    ]
    lost = _is_lost(connection, run_id) & claim.c.document_id.in_(sa.select(t.c.document_id).where(mine))
    return sa.select(claim.c.stage, *counts).where(lost).group_by(claim.c.stage)


def _reading_times(run_id: int, mine: sa.ColumnElement[bool]) -> sa.Select[*tuple[Any, ...]]:
    """Of pages read, each one's own seconds are known: better than the means of documents."""
    r = tables.reading
    is_read = (r.c.source == ReadingSource.OCR.value) & r.c.cached_from.is_(None)
    is_mine = (r.c.created_at >= _began(run_id)) & r.c.document_id.in_(sa.select(t.c.document_id).where(mine))
    ocr = sa.literal(Stage.OCR.value).label("stage")
    has_any = sa.func.count() > 0
    return sa.select(ocr, *_percentiles(r.c.seconds)).where(is_read, is_mine).having(has_any)


def _percentiles(seconds: sa.ColumnElement[Any]) -> tuple[sa.Label[Any], sa.Label[Any]]:
    p50, p95 = (sa.func.percentile_cont(share).within_group(seconds) for share in (0.5, 0.95))
    return p50.label("page_p50_s"), p95.label("page_p95_s")


def _count(connection: sa.Connection, table: sa.Table, *where: sa.ColumnElement[bool]) -> int:
    return int(connection.execute(sa.select(sa.func.count()).select_from(table).where(*where)).scalar_one())
