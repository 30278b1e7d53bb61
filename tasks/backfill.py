"""Backfills: planned, put into the ledger, compared, shown and taken back."""

import getpass
import logging
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import sqlalchemy as sa

from db import (
    backfill_cancel,
    backfill_enrol,
    backfill_plan,
    backfill_selection,
    backfills,
    compare,
    decisions,
    switches,
)
from db.engine import Database
from models.backfill import Backfill, Plan, Selection, Wish
from models.compare import DocumentComparison, Pair
from models.errors import Code, ConfigurationError
from models.recipe import Recipe
from models.settings import get_settings
from tasks.requests import check_regions
from tasks.review import rebuild
from tasks.work.checks import CHECKS
from tasks.work.comparing import compare_pages
from tasks.work.custom import find_profile

log = logging.getLogger(__name__)

_DOCUMENTS_AT_ONCE = 100


def recipe_of(wish: Wish) -> Recipe:
    """What a wish reads with.

    Raises ConfigurationError for an unknown profile or recipe key, or one that the profile cannot do, and
    EnvironmentFault where a package for it is missing.
    """
    profile = find_profile(wish.profile, get_settings())
    recipe = profile.recipe().with_options(wish.options)
    check_regions(profile, recipe)
    return recipe


def plan(database: Database, wish: Wish) -> Plan:
    """What a backfill would do, counted.

    Raises ConfigurationError where the wish names what is not there, names nothing, or matches nothing.
    """
    recipe = recipe_of(wish)

    def count(connection: sa.Connection) -> Plan:
        backfill_selection.check(connection, wish.selection, [check.code for check in CHECKS])
        return backfill_plan.plan(connection, wish, recipe)

    planned = database.run(count)
    if not planned.documents and planned.continues is None:
        raise ConfigurationError(
            "No document matches. Drop a filter, or see 'pagemill status' for what there is.", Code.NOT_FOUND
        )
    return planned


def check_breadth(wish: Wish, planned: Plan) -> None:
    """Raises ConfigurationError where filters happen to match every document and nobody said so."""
    is_all = planned.documents == planned.of > 1
    if is_all and not wish.selection.everything and not wish.selection.documents:
        raise ConfigurationError(
            f"This matches all {planned.of} documents. Narrow it down, or say --all if that is meant."
        )


def enrol(database: Database, wish: Wish, run_id: int, stopping: threading.Event) -> Backfill:
    """Put the selected documents into the ledger, behind scheduled work, a hundred a transaction.

    Goes on with an unfinished backfill of an equal wish: what that has put in is not put in again.
    """
    recipe = recipe_of(wish)
    begun = database.run(lambda conn: backfills.begin(conn, wish, recipe, run_id))
    database.run(lambda conn: backfills.join_run(conn, begun.id, run_id))
    after: int | None = 0
    while after is not None and not stopping.is_set():
        after = _enrol_some(database, begun, run_id, after)
    if after is None:
        database.run(lambda conn: backfills.set_enrolled(conn, begun.id))
    return begun


def _enrol_some(database: Database, begun: Backfill, run_id: int, after: int) -> int | None:
    """The next documents after an id; the last one's id, None where there are no more."""

    def work(connection: sa.Connection) -> int | None:
        if not backfills.stays_open(connection, begun.id):
            return None
        ids = backfill_enrol.candidates(connection, begun, after, _DOCUMENTS_AT_ONCE)
        pages = backfill_enrol.enrol(connection, begun, run_id, ids) if ids else 0
        log.info("enrolled backfill=%d documents=%d pages_again=%d", begun.id, len(ids), pages)
        return ids[-1] if ids else None

    return database.run(work)


def cancel(database: Database, backfill_id: int | None) -> tuple[Backfill, int]:
    """End a backfill for good, by default the last one; says which, and how many documents it leaves.

    What it has read of other documents stays. Killed and started again, it goes on. Raises ConfigurationError
    (not-found) where there is none, or it has ended by itself.
    """
    cancelled = database.run(lambda conn: backfill_cancel.close(conn, backfill_id, person()))

    def take_some(connection: sa.Connection) -> int:
        ids = backfill_cancel.unfinished(connection, cancelled, _DOCUMENTS_AT_ONCE)
        backfill_cancel.take_back(connection, cancelled, ids)
        return len(ids)

    count = 0
    while taken := database.run(take_some):
        count += taken
    log.info("cancelled backfill=%d documents=%d", cancelled.id, count)
    return cancelled, count


def close_ended(database: Database) -> tuple[int, ...]:
    """Mark backfills without any work left as ended; says which."""
    return database.run(backfills.end)


def comparisons(
    database: Database, backfill_id: int | None, selection: Selection
) -> Iterator[DocumentComparison]:
    """What a backfill changed, document by document, by default the last one.

    Raises ConfigurationError (not-found) for a backfill or filter that is not there.
    """
    for pair in database.run(lambda conn: _documents(conn, backfill_id, selection)):
        yield database.run(partial(_compare, pair=pair))


def _compare(connection: sa.Connection, pair: Pair) -> DocumentComparison:
    return compare_pages(pair, compare.pages(connection, pair))


def promote(database: Database, backfill_id: int | None, selection: Selection) -> tuple[int, ...]:
    """Show what a backfill made, each document in a transaction of its own; says which changed.

    What people wrote stays in its place, also what they wrote after the backfill.
    """
    return _switch(database, backfill_id, selection, _promote)


def rollback(database: Database, backfill_id: int | None, selection: Selection) -> tuple[int, ...]:
    """Show again what stood there before, where what a backfill made is shown; says which changed.

    A page that a person has looked at since does not hold it up: what was written of it stays in its place,
    what was decided about a reading goes with that reading.
    """
    return _switch(database, backfill_id, selection, _roll_back)


def _promote(connection: sa.Connection, pair: Pair) -> bool:
    if pair.made_id is None or switches.base(connection, pair.document_id) == pair.made_id:
        return False
    return _show(connection, pair.document_id, pair.made_id, switches.PROMOTE)


def _roll_back(connection: sa.Connection, pair: Pair) -> bool:
    if pair.made_id == pair.before_id:
        # It made nothing new: what stood before the shown edition is none of its business.
        return False
    before = switches.previous(connection, pair.document_id)
    if before is None or switches.base(connection, pair.document_id) != pair.made_id:
        return False
    return _show(connection, pair.document_id, before, switches.ROLLBACK)


def _show(connection: sa.Connection, document_id: int, edition_id: int, kind: str) -> bool:
    """Show an edition, with what people decided about pages; that may make an edition of its own."""
    switches.lock(connection, document_id)
    before = switches.shown(connection, document_id)
    switches.show(connection, document_id, edition_id, kind=kind, by=person())
    if decisions.of_document(connection, document_id):
        rebuild(connection, get_settings(), document_id, (), person())
    return switches.shown(connection, document_id) != before


def person() -> str:
    """Who switches by hand: user@host."""
    return f"{getpass.getuser()}@{socket.gethostname()}"


def _switch(
    database: Database, backfill_id: int | None, selection: Selection, step: Callable[..., bool]
) -> tuple[int, ...]:
    chosen = database.run(lambda conn: _documents(conn, backfill_id, selection))
    changed = [pair.document_id for pair in chosen if database.run(partial(step, pair=pair))]
    log.info("switched documents=%d of=%d", len(changed), len(chosen))
    return tuple(changed)


def _documents(connection: sa.Connection, backfill_id: int | None, selection: Selection) -> Sequence[Pair]:
    found = backfills.get(connection, backfill_id)
    if not selection.is_empty:
        backfill_selection.check(connection, selection, [check.code for check in CHECKS])
    return compare.pairs(connection, found, selection)
