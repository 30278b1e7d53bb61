"""What lanes ask the ledger all the time: statements that are made once.

Making one of them with SQLAlchemy takes as long as asking it, and an idle lane asks every other second.
"""

import datetime as dt
from functools import cache
from typing import Any

import sqlalchemy as sa

from db.keys import among
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
def holding() -> sa.Select[int]:
    """Of claims by id, owner, attempt and stage (`db.keys`): those that are still their owners', locked."""
    keys = among(t.c.id, t.c.owner, t.c.attempt, t.c.stage)
    ids = sa.select(t.c.id).where(keys, is_status(ClaimStatus.LEASED))
    return ids.order_by(t.c.id).with_for_update(of=t)


@cache
def unended() -> sa.Select[int]:
    """Claims of whole documents that have not ended, by document and recipe (`db.keys`); locked."""
    keys = among(t.c.document_id, t.c.recipe_id)
    is_open = is_status(ClaimStatus.WAITING) | is_status(ClaimStatus.LEASED)
    ids = sa.select(t.c.id).where(keys, t.c.page_no == 0, is_open)
    return ids.order_by(t.c.id).with_for_update(of=t)


@cache
def handing_on() -> sa.Executable:
    """Hand claims on to `to_stage`, by id (`db.keys`); their tries start anew."""
    values = {"status": ClaimStatus.READY, "attempt": 0, "crashes": 0, **ready_now()}
    return sa.update(t).where(among(t.c.id)).values(values | {"stage": sa.bindparam("to_stage")})


@cache
def ending() -> sa.Executable:
    """End claims, by id (`db.keys`): their work is done."""
    values = {"status": ClaimStatus.DONE, "ended_at": sa.func.now(), "code": None, "message": None, **FREE}
    return sa.update(t).where(among(t.c.id)).values(values)


@cache
def pausing() -> sa.Executable:
    """Let claims wait for others, by id (`db.keys`)."""
    values = {"status": ClaimStatus.WAITING, "code": None, "message": None, **FREE}
    return sa.update(t).where(among(t.c.id)).values(values)


@cache
def waking() -> sa.Executable:
    """Make those claims, by id (`db.keys`), ready to load that wait for pages of which none is left."""
    page = t.alias("page")
    unfinished = sa.exists().where(
        page.c.document_id == t.c.document_id,
        page.c.recipe_id == t.c.recipe_id,
        page.c.page_no > 0,
        page.c.status.in_(UNFINISHED),
    )
    values = {"stage": Stage.LOAD, "status": ClaimStatus.READY, "attempt": 0, "crashes": 0, **ready_now()}
    return sa.update(t).where(among(t.c.id), is_status(ClaimStatus.WAITING), ~unfinished).values(values)


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
