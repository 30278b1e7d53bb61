"""Retries that a person asks for: pages go into the ledger, and what comes of them is shown if no worse."""

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial

import sqlalchemy as sa

from db import decisions, retries, runs, switches
from db.engine import Database
from models.errors import ConfigurationError
from models.reading import ReadingSource
from models.review import Asked, Decision, PageRef, Retried
from models.settings import Settings
from models.verdict import Verdict
from tasks.review import page_of, pages_shown, rebuild

log = logging.getLogger(__name__)

_RANKS = {Verdict.SUSPECT: 1, Verdict.SKIPPED: 2, Verdict.BAD: 3}


def by_profile(database: Database, pages: Sequence[PageRef]) -> Mapping[str, list[PageRef]]:
    """Pages by the profile that their documents were read with, as shown.

    Raises ConfigurationError (not-found) for a page that is not shown.
    """

    def work(connection: sa.Connection) -> Mapping[str, list[PageRef]]:
        found = defaultdict(list)
        for ref in sorted(set(pages)):
            page_of(pages_shown(connection, ref.document_id), ref)
            recipe_id = switches.recipe_shown(connection, ref.document_id)
            found[runs.recipe(connection, recipe_id).profile].append(ref)
        return found

    return database.run(work)


def begin(
    database: Database,
    pages: Sequence[PageRef],
    decision: Decision,
    run_id: int,
    recipe_id: int | None = None,
    *,
    over_edit: bool = False,
) -> tuple[Asked, ...]:
    """Put pages into the ledger to be read under a recipe, by default the one that is shown.

    Raises ConfigurationError for a page that is not shown (not-found), and for one that a person wrote
    unless `over_edit` says that a reading may take its place.
    """

    def work(connection: sa.Connection) -> tuple[Asked, ...]:
        asked = [
            _ask(connection, ref, decision, recipe_id, over_edit=over_edit) for ref in sorted(set(pages))
        ]
        for one in asked:
            retries.put_back(connection, [one.page], one.recipe_id, run_id)
        return tuple(asked)

    return database.run(work)


def finish(
    database: Database, settings: Settings, asked: Sequence[Asked], person: str
) -> tuple[Retried, ...]:
    """Show what came of the pages, each document in a transaction of its own."""
    by_document: dict[int, list[Asked]] = defaultdict(list)
    for one in asked:
        by_document[one.page.document_id].append(one)

    def work(connection: sa.Connection, document_id: int) -> list[Retried]:
        pages_shown(connection, document_id)
        failed = retries.failures(connection, by_document[document_id])
        done = [_choose(connection, one, failed) for one in by_document[document_id]]
        if any(one.is_shown for one in done):
            refs = [one.page for one in by_document[document_id]]
            rebuild(connection, settings, document_id, refs, person)
        return done

    done: list[Retried] = []
    for document_id in by_document:
        done += database.run(partial(work, document_id=document_id))
    return tuple(done)


def _ask(
    connection: sa.Connection, ref: PageRef, decision: Decision, recipe_id: int | None, *, over_edit: bool
) -> Asked:
    page = page_of(pages_shown(connection, ref.document_id), ref)
    is_human = page.source is ReadingSource.HUMAN
    if is_human and not over_edit:
        raise ConfigurationError(
            f"A person wrote the text of page {ref}. Add --over-edit if a reading may take its place."
        )
    under = recipe_id or switches.recipe_shown(connection, ref.document_id)
    before = retries.before(connection, ref, under)
    action_id = decisions.record(connection, ref, page.reading_id, decision)
    return Asked(ref, action_id, under, *before, page.verdict, is_human)


def _choose(connection: sa.Connection, asked: Asked, failed: Mapping[PageRef, tuple[str, str]]) -> Retried:
    profile, page = runs.recipe(connection, asked.recipe_id).profile, str(asked.page)
    new = retries.reading(connection, asked)
    if new is None:
        return Retried(page, profile, None, False, *failed.get(asked.page, ("", "It was not read yet.")))
    reading_id, verdict = new
    is_shown = _is_no_worse(verdict, asked)
    if is_shown:
        decisions.set_made(connection, asked.action_id, reading_id)
    else:
        retries.prefer_older(connection, asked, reading_id)
    log.info("retried document=%d page=%d shown=%s", asked.page.document_id, asked.page.page_no, is_shown)
    return Retried(page, profile, verdict, is_shown)


def _is_no_worse(verdict: Verdict, asked: Asked) -> bool:
    if verdict is Verdict.BAD:
        return False
    return asked.is_over_edit or _RANKS.get(verdict, 0) <= _RANKS.get(asked.verdict, 0)
