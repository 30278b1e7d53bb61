"""What lanes ask the ledger all the time: statements that are made once.

Making one of them with SQLAlchemy takes as long as asking it, and an idle lane asks every other second.
"""

import datetime as dt
from functools import cache
from typing import Any

import sqlalchemy as sa

from db.tables import claim as t
from models.stage import BUSY, UNFINISHED, ClaimStatus, Stage

FREE = {"owner": None, "leased_at": None, "leased_until": None}
"""Columns of a claim in nobody's hands."""


@cache
def taking(*, is_of_profile: bool) -> sa.Executable:
    """Lease the `most` most urgent free claims of `of_stage` to `by` for `lease_s` seconds."""
    free = [
        t.c.stage == sa.bindparam("of_stage"),
        is_status(ClaimStatus.READY),
        t.c.not_before <= sa.func.now(),
    ]
    if is_of_profile:
        free.append(t.c.profile == sa.bindparam("of_profile"))
    chosen = sa.select(t.c.id).where(*free).order_by(t.c.priority, t.c.id).limit(sa.bindparam("most"))
    taken = chosen.with_for_update(skip_locked=True).cte("chosen")
    leased = sa.update(t).where(t.c.id == taken.c.id)
    return leased.values(
        status=ClaimStatus.LEASED,
        owner=sa.bindparam("by"),
        attempt=t.c.attempt + 1,
        leased_at=sa.func.now(),
        leased_until=in_seconds(sa.bindparam("lease_s", type_=sa.Double)),
    ).returning(t)


@cache
def expired() -> sa.Select[Any]:
    """Claims of `of_stage` whose lease ran out, locked."""
    return leased(t.c.stage == sa.bindparam("of_stage"), t.c.leased_until < sa.func.now())


@cache
def looking(*, is_of_profile: bool) -> sa.Executable:
    """Of `of_stages`: counts of what is due, due later and leased."""
    is_ready = is_status(ClaimStatus.READY)
    is_due = t.c.not_before <= sa.func.now()
    query = sa.select(
        sa.func.count().filter(is_ready, is_due),
        sa.func.count().filter(is_ready, ~is_due),
        sa.func.count().filter(is_status(ClaimStatus.LEASED)),
    ).where(t.c.stage.in_(sa.bindparam("of_stages", expanding=True)))
    query = query.where(t.c.status.in_(BUSY))
    return query.where(t.c.profile == sa.bindparam("of_profile")) if is_of_profile else query


@cache
def holding() -> sa.Select[tuple[int]]:
    """Of `claims`, each as id, owner, attempt and stage: those that are still their owners', locked."""
    keys = sa.tuple_(t.c.id, t.c.owner, t.c.attempt, t.c.stage).in_(sa.bindparam("claims", expanding=True))
    return sa.select(t.c.id).where(keys, is_status(ClaimStatus.LEASED)).order_by(t.c.id).with_for_update()


@cache
def unended() -> sa.Select[tuple[int]]:
    """Claims of whole documents that have not ended, of `keys`: document and recipe; locked."""
    keys = sa.tuple_(t.c.document_id, t.c.recipe_id).in_(sa.bindparam("keys", expanding=True))
    is_open = is_status(ClaimStatus.WAITING) | is_status(ClaimStatus.LEASED)
    return sa.select(t.c.id).where(keys, t.c.page_no == 0, is_open).order_by(t.c.id).with_for_update()


@cache
def waking() -> sa.Executable:
    """Make those of `ids` ready to load that wait for pages of which none is left."""
    page = t.alias("page")
    unfinished = sa.exists().where(
        page.c.document_id == t.c.document_id,
        page.c.recipe_id == t.c.recipe_id,
        page.c.page_no > 0,
        page.c.status.in_(UNFINISHED),
    )
    ids = t.c.id.in_(sa.bindparam("ids", expanding=True))
    values = {"stage": Stage.LOAD, "status": ClaimStatus.READY, "attempt": 0, "crashes": 0, **ready_now()}
    return sa.update(t).where(ids, is_status(ClaimStatus.WAITING), ~unfinished).values(values)


def ready_now() -> dict[str, Any]:
    """Columns of a claim that anybody may take at once."""
    return {"ready_at": sa.func.now(), "not_before": sa.func.now(), "code": None, "message": None, **FREE}


def leased(*which: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """Claims in somebody's hands, those nobody has locked, locked now."""
    held = sa.select(t).where(is_status(ClaimStatus.LEASED), *which).order_by(t.c.id)
    return held.with_for_update(skip_locked=True)


def is_status(status: ClaimStatus) -> sa.ColumnElement[bool]:
    """Whether a claim stands so."""
    # Written into the statement: with a parameter the partial indexes could not serve a prepared one.
    return t.c.status == sa.bindparam(None, status.value, literal_execute=True)


def in_seconds(seconds: float | sa.BindParameter[float]) -> sa.ColumnElement[dt.datetime]:
    """A time from now, by the database's clock."""
    return sa.func.now() + sa.func.make_interval(0, 0, 0, 0, 0, 0, seconds)
