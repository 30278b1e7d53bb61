"""Who works on what: claims are leased, renewed, given back, tried again, failed, ended.

Every write names id, owner, attempt and stage, so that a late owner changes nothing, and says which claims
were still its own. Locks are taken in one order everywhere: pages before documents, each sorted by id.
"""

import datetime as dt
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from db.keys import given
from db.questions import (
    FREE,
    ending,
    expired,
    handing_on,
    holding,
    in_seconds,
    is_status,
    leased,
    looking,
    pausing,
    taking,
    unended,
    waking,
)
from db.tables import claim as t
from db.tables import document
from models.claim import Claim, Failure, Outstanding
from models.document import DocumentStatus
from models.errors import Code, DocumentRejected, PagemillError, PermanentError
from models.stage import ClaimStatus, Stage
from models.text import clean


def claim(
    connection: sa.Connection,
    stage: Stage,
    limit: int,
    owner: str,
    lease_s: float,
    *,
    profile: str | None = None,
    max_crashes: int = 3,
    frees: bool = True,
) -> list[Claim]:
    """At most `limit` free claims of a stage, most urgent first, leased to `owner` for `lease_s` seconds.

    `frees`: leases that ran out are free again before, and count as a crash; see `free_expired`. `profile`
    takes only work of that profile.
    """
    if frees:
        free_expired(connection, stage, max_crashes)
    asked = {"of_stage": stage.value, "of_profile": profile, "most": limit, "by": owner, "lease_s": lease_s}
    rows = connection.execute(taking(is_of_profile=profile is not None), asked).all()
    return [_claim(row) for row in sorted(rows, key=lambda row: (row.priority, row.id))]


def renew(connection: sa.Connection, owner: str, lease_s: float) -> int:
    """Lease everything that `owner` holds for `lease_s` seconds from now; says how much that is."""
    leased = sa.update(t).where(t.c.owner == owner, is_status(ClaimStatus.LEASED))
    return connection.execute(leased.values(leased_until=in_seconds(lease_s))).rowcount


def behind(connection: sa.Connection) -> dt.timedelta:
    """What this machine's clock lacks against the database's, by which leases run."""
    told: dt.datetime = connection.execute(sa.select(sa.func.clock_timestamp())).scalar_one()
    return told - dt.datetime.now(dt.UTC)


def held(connection: sa.Connection, claims: Iterable[Claim]) -> frozenset[int]:
    """Lock the claims that are still their owners' until the transaction ends; says which, by id."""
    keys = [(claim.id, claim.owner, claim.attempt, claim.stage.value) for claim in claims]
    if not keys:
        return frozenset()
    return frozenset(connection.scalars(holding(), given(keys)))


def advance(connection: sa.Connection, claims: Sequence[Claim], stage: Stage) -> frozenset[int]:
    """Hand claims on to `stage`, where their tries start anew; says which were still ours."""
    ours = held(connection, claims)
    advance_held(connection, ours, stage)
    return ours


def advance_held(connection: sa.Connection, ids: Collection[int], stage: Stage) -> None:
    """As `advance`, of claims that this transaction holds."""
    if ids:
        connection.execute(handing_on(), {"to_stage": stage.value, **_by_id(ids)})


def end(connection: sa.Connection, claims: Sequence[Claim]) -> frozenset[int]:
    """The work is done. A document whose last page this was becomes ready to load."""
    ours = held(connection, claims)
    end_held(connection, [claim for claim in claims if claim.id in ours])
    return ours


def end_held(connection: sa.Connection, claims: Sequence[Claim]) -> None:
    """As `end`, of claims that this transaction holds."""
    if claims:
        connection.execute(ending(), _by_id(claim.id for claim in claims))
    # A document's own claim has just ended: it waits for no page any more.
    wake_documents(connection, [claim for claim in claims if claim.page_no])


def fail(connection: sa.Connection, failures: Sequence[Failure]) -> frozenset[int]:
    """Nothing more will be tried. A failed page ends the page, a failed document claim the document."""
    ours = held(connection, [failure.claim for failure in failures])
    kept = sorted((f for f in failures if f.claim.id in ours), key=lambda failure: failure.claim.id)
    for failure in kept:
        _set(connection, [failure.claim.id], **_failed(failure.error))
    wake_documents(connection, [failure.claim for failure in kept])
    for failure in kept:
        if failure.claim.page_no == 0:
            _fail_document(connection, failure.claim, failure.error)
    return ours


def retry(
    connection: sa.Connection,
    failures: Sequence[Failure],
    delay_s: float,
    *,
    is_crash: bool = False,
    max_crashes: int = 3,
) -> frozenset[int]:
    """Free again in `delay_s` seconds; the next claim counts as the next attempt.

    `is_crash`: the work was in flight when a worker died. At `max_crashes` of those it is not tried again but
    fails as quarantined.
    """
    worn = [f.claim for f in failures if is_crash and f.claim.crashes + 1 >= max_crashes]
    quarantined = fail(connection, [Failure(claim, _quarantine(claim.crashes + 1)) for claim in worn])
    ours = held(connection, [f.claim for f in failures if f.claim not in worn])
    for failure in sorted((f for f in failures if f.claim.id in ours), key=lambda f: f.claim.id):
        _set(
            connection,
            [failure.claim.id],
            status=ClaimStatus.READY,
            not_before=in_seconds(delay_s),
            crashes=t.c.crashes + int(is_crash),
            **_reason(failure.error),
            **FREE,
        )
    return ours | quarantined


def release(connection: sa.Connection, owner: str) -> int:
    """Give back all that `owner` holds, as if it had never been claimed; says how much that was."""
    leased = sa.update(t).where(t.c.owner == owner, is_status(ClaimStatus.LEASED))
    values = {"status": ClaimStatus.READY, "attempt": t.c.attempt - 1, **FREE}
    return connection.execute(leased.values(values)).rowcount


def release_process(connection: sa.Connection, process: str) -> int:
    """As `release`, for all owners whose names begin with `process`."""
    leased = sa.update(t).where(sa.func.starts_with(t.c.owner, process), is_status(ClaimStatus.LEASED))
    values = {"status": ClaimStatus.READY, "attempt": t.c.attempt - 1, **FREE}
    return connection.execute(leased.values(values)).rowcount


def give_back(connection: sa.Connection, claims: Sequence[Claim]) -> frozenset[int]:
    """As `release`, of these alone; says which were still their owner's."""
    ours = held(connection, claims)
    _set(connection, ours, status=ClaimStatus.READY, attempt=t.c.attempt - 1, **FREE)
    return ours


def release_dead(
    connection: sa.Connection, host: str, is_alive: Callable[[str], bool], max_crashes: int = 3
) -> int:
    """Free at once what processes of this host held that live no more; counts as a crash. Says how much."""
    on_host = is_status(ClaimStatus.LEASED), sa.func.starts_with(t.c.owner, f"{host}:")
    owners = connection.scalars(sa.select(t.c.owner).where(*on_host).distinct()).all()
    dead = [owner for owner in owners if not is_alive(owner)]
    return _free(connection, leased(t.c.owner.in_(dead)), max_crashes) if dead else 0


def free_expired(connection: sa.Connection, stage: Stage, max_crashes: int) -> int:
    """Free claims whose lease ran out: a crash of whoever held them. Says how many.

    A claim with `max_crashes` crashes is not free again but fails as quarantined.
    """
    return _free(connection, expired(), max_crashes, {"of_stage": stage.value})


def outstanding(
    connection: sa.Connection, stages: Collection[Stage], profile: str | None = None
) -> Outstanding:
    """How much work of these stages has not ended. Documents that wait for their pages do not count."""
    asked = {"of_stages": [stage.value for stage in stages], "of_profile": profile}
    return Outstanding(*connection.execute(looking(is_of_profile=profile is not None), asked).one())


def wake_documents(connection: sa.Connection, claims: Iterable[Claim]) -> None:
    """Make documents ready to load whose split is finished and whose pages have all ended.

    The document's row is locked before its pages are looked at: of two transactions that end the last two
    pages, or the last page and the split, the second sees the first's.
    """
    keys = {(claim.document_id, claim.recipe_id) for claim in claims}
    if not keys:
        return
    locked = connection.scalars(unended(), given(keys)).all()
    if locked:
        connection.execute(waking(), _by_id(locked))


def wait_for_pages(connection: sa.Connection, claim: Claim) -> None:
    """The document of a held claim waits for its pages, or is ready to load if they have all ended."""
    connection.execute(pausing(), _by_id([claim.id]))
    wake_documents(connection, [claim])


def _free(
    connection: sa.Connection, which: sa.Select[Any], max_crashes: int, asked: dict[str, str] | None = None
) -> int:
    rows = connection.execute(which, asked).all()
    claims = [_claim(row) for row in rows]
    worn = [claim for claim in claims if claim.crashes + 1 >= max_crashes]
    free = [claim.id for claim in claims if claim not in worn]
    _set(connection, free, status=ClaimStatus.READY, crashes=t.c.crashes + 1, **FREE)
    fail(connection, [Failure(claim, _quarantine(claim.crashes + 1)) for claim in worn])
    return len(rows)


def _fail_document(connection: sa.Connection, claim: Claim, error: PagemillError) -> None:
    """Pages of the document that nobody has begun are not begun any more."""
    unbegun = sa.select(t.c.id).where(
        t.c.document_id == claim.document_id, t.c.recipe_id == claim.recipe_id, is_status(ClaimStatus.READY)
    )
    pages = connection.scalars(unbegun.with_for_update(skip_locked=True)).all()
    _set(connection, pages, **_failed(error))
    is_refused = isinstance(error, DocumentRejected)
    status = DocumentStatus.REJECTED if is_refused else DocumentStatus.FAILED
    # What was to stand beside the shown edition says nothing of the document when it fails.
    is_shown = sa.exists().where(t.c.id == claim.id, t.c.promotes) | document.c.edition_id.is_(None)
    failed = sa.update(document).where(document.c.id == claim.document_id, is_shown)
    connection.execute(failed.values(status=status, **_reason(error)))


def _by_id(ids: Iterable[int]) -> dict[str, list[Any]]:
    return given([(id_,) for id_ in sorted(ids)])


def _set(connection: sa.Connection, ids: Collection[int], **values: object) -> None:
    if ids:
        connection.execute(sa.update(t).where(t.c.id.in_(sorted(ids))).values(values))


def _reason(error: PagemillError) -> dict[str, str]:
    return {"code": error.code.value, "message": clean(error.message)}


def _failed(error: PagemillError) -> dict[str, object]:
    return {"status": ClaimStatus.FAILED, "ended_at": sa.func.now(), **_reason(error), **FREE}


def _quarantine(crashes: int) -> PermanentError:
    return PermanentError(
        f"Its worker died {crashes} times while it was in work; it is not tried again.", Code.QUARANTINED
    )


def _claim(row: sa.Row[tuple[object, ...]]) -> Claim:
    return Claim(
        id=row.id,
        document_id=row.document_id,
        recipe_id=row.recipe_id,
        page_no=row.page_no,
        stage=Stage(row.stage),
        attempt=row.attempt,
        owner=row.owner,
        ready_at=row.ready_at,
        leased_at=row.leased_at,
        crashes=row.crashes,
        priority=row.priority,
    )
