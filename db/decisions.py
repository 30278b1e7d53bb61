"""What people decided about pages, and what that makes of a document's pages when they are loaded."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from db import tables
from models.reading import ReadingSource
from models.review import Action, Decision, PageRef, ReviewAction
from models.verdict import Verdict
from models.work import PageToLoad

t, r = tables.review_action, tables.reading

_Replacements = Mapping[tuple[int, int], PageToLoad]
_RANKS = {Verdict.SUSPECT: 1, Verdict.SKIPPED: 2, Verdict.BAD: 2}
_CODES = {Action.ACCEPT: "accepted", Action.IGNORE: "ignored"}


def record(
    connection: sa.Connection,
    page: PageRef,
    reading_id: int | None,
    decision: Decision,
    recipe_id: int | None = None,
) -> None:
    """Keep a decision about what is shown of a page. What is accepted is good from now on.

    `recipe_id`: under which the page is read instead.
    """
    values = {
        "document_id": page.document_id,
        "page_no": page.page_no,
        "reading_id": reading_id,
        "recipe_id": recipe_id,
        "action": decision.action.value,
        "person": decision.person,
        "note": decision.note,
    }
    connection.execute(sa.insert(t).values(values))
    if decision.action is Action.ACCEPT:
        is_doubtful = r.c.verdict.in_([Verdict.SUSPECT, Verdict.BAD])
        good = sa.update(r).where(r.c.id == reading_id, is_doubtful)
        connection.execute(good.values(verdict=Verdict.GOOD.value))


def of_document(connection: sa.Connection, document_id: int) -> tuple[ReviewAction, ...]:
    """All decisions about a document's pages, the first one first."""
    rows = connection.execute(sa.select(t).where(t.c.document_id == document_id).order_by(t.c.id))
    return tuple(action_of(row) for row in rows)


def applied(
    connection: sa.Connection, document_id: int, pages: Sequence[PageToLoad]
) -> tuple[PageToLoad, ...]:
    """Pages of a document with what people decided about them.

    What a person wrote stands in the place of whatever was read. What a retry read stands in the place of the
    reading that the person wanted to have read again, unless it is worse. What was accepted is good.
    """
    actions = of_document(connection, document_id)
    if not actions:
        return tuple(pages)
    instead = _readings(connection, document_id, actions)
    return tuple(_settled(_replaced(page, actions, instead), actions) for page in pages)


def action_of(row: sa.Row[Any]) -> ReviewAction:
    """A row of the table."""
    names = ("id", "document_id", "page_no", "reading_id", "recipe_id", "person", "note", "at")
    return ReviewAction(action=Action(row.action), **{name: getattr(row, name) for name in names})


def _readings(connection: sa.Connection, document_id: int, actions: Iterable[ReviewAction]) -> _Replacements:
    """Present readings of pages under the recipes that decisions name, by page and recipe."""
    wanted = {(action.page_no, action.recipe_id) for action in actions if action.recipe_id is not None}
    columns = ("id", "page_no", "recipe_id", "verdict", "blocks", "text", "source", "cached_from")
    query = sa.select(*(r.c[name] for name in columns)).where(
        r.c.document_id == document_id,
        sa.tuple_(r.c.page_no, r.c.recipe_id).in_(wanted),
        r.c.superseded_at.is_(None),
    )
    return {(row.page_no, row.recipe_id): _page(row) for row in connection.execute(query)} if wanted else {}


def _page(row: sa.Row[Any]) -> PageToLoad:
    source, verdict = ReadingSource(row.source), Verdict(row.verdict)
    told = (None, None, row.text, source, row.cached_from)
    return PageToLoad(row.page_no, verdict, row.id, row.blocks, *told)


def _replaced(page: PageToLoad, actions: Sequence[ReviewAction], instead: _Replacements) -> PageToLoad:
    mine = [action for action in actions if action.page_no == page.page_no]
    for action in reversed(mine):
        written = instead.get((page.page_no, action.recipe_id or 0))
        if action.action is Action.EDIT and written is not None:
            return written
    # A retry's reading may have been read again in its turn.
    for action in mine:
        again = instead.get((page.page_no, action.recipe_id or 0))
        is_about = action.action is Action.RETRY and action.reading_id == page.reading_id
        if is_about and again is not None and _is_no_worse(again, page):
            page = again
    return page


def _is_no_worse(new: PageToLoad, old: PageToLoad) -> bool:
    return new.verdict is not Verdict.BAD and _RANKS.get(new.verdict, 0) <= _RANKS.get(old.verdict, 0)


def _settled(page: PageToLoad, actions: Sequence[ReviewAction]) -> PageToLoad:
    """With what was last decided about this very reading, or the one it says the same as."""
    known = [action for action in actions if action.page_no == page.page_no]
    ids = {page.reading_id, page.copied_from} - {None} or {None}
    last = next((action.action for action in reversed(known) if action.reading_id in ids), None)
    if last is Action.ACCEPT and page.reading_id is not None:
        verdict = Verdict.BLANK if page.verdict is Verdict.BLANK else Verdict.GOOD
        return replace(page, verdict=verdict, code=_CODES[last], message=None)
    if last is Action.IGNORE and page.verdict in {Verdict.SUSPECT, Verdict.BLANK}:
        return replace(page, code=_CODES[last], message=None)
    return replace(page, code=None, message=None) if page.is_settled else page
