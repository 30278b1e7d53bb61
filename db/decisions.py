"""What people decided about pages, and what that makes of a document's pages when they are loaded."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from db import tables
from models.reading import ReadingSource
from models.review import Action, Decision, PageRef, ReviewAction
from models.verdict import DOUBTFUL, Verdict
from models.work import PageToLoad

t, r = tables.review_action, tables.reading

_CODES = {Action.ACCEPT: "accepted", Action.IGNORE: "ignored"}


def record(connection: sa.Connection, page: PageRef, reading_id: int | None, decision: Decision) -> int:
    """Keep a decision about what is shown of a page; its id. What is accepted is good from now on."""
    values = {
        "document_id": page.document_id,
        "page_no": page.page_no,
        "reading_id": reading_id,
        "action": decision.action.value,
        "person": decision.person,
        "note": decision.note,
    }
    if decision.action is Action.ACCEPT:
        is_doubtful = r.c.verdict.in_(DOUBTFUL)
        good = sa.update(r).where(r.c.id == reading_id, is_doubtful)
        connection.execute(good.values(verdict=Verdict.GOOD.value))
    new: int = connection.execute(sa.insert(t).values(values).returning(t.c.id)).scalar_one()
    return new


def set_made(connection: sa.Connection, action_id: int, reading_id: int) -> None:
    """What came of a decision: from the next load on this reading is shown instead."""
    connection.execute(sa.update(t).where(t.c.id == action_id).values(made_id=reading_id))


def of_document(connection: sa.Connection, document_id: int) -> tuple[ReviewAction, ...]:
    """All decisions about a document's pages, the first one first."""
    rows = connection.execute(sa.select(t).where(t.c.document_id == document_id).order_by(t.c.id))
    return tuple(action_of(row) for row in rows)


def applied(
    connection: sa.Connection, document_id: int, pages: Sequence[PageToLoad]
) -> tuple[PageToLoad, ...]:
    """Pages of a document with what people decided about them.

    What a person wrote stands in the place of whatever is read, until that person asks for another reading.
    What a retry read stands for the very reading that was to be replaced. What was accepted is good.
    """
    actions = of_document(connection, document_id)
    if not actions:
        return tuple(pages)
    made = _readings(connection, {action.made_id for action in actions} - {None})
    by_page: dict[int, list[ReviewAction]] = {}
    for action in actions:
        by_page.setdefault(action.page_no, []).append(action)
    return tuple(
        _settled(_replaced(page, by_page[page.page_no], made), by_page[page.page_no])
        if page.page_no in by_page
        else page
        for page in pages
    )


def action_of(row: sa.Row[Any]) -> ReviewAction:
    """A row of the table."""
    names = ("id", "document_id", "page_no", "reading_id", "made_id", "person", "note", "at")
    return ReviewAction(action=Action(row.action), **{name: getattr(row, name) for name in names})


def _readings(connection: sa.Connection, ids: Collection[int | None]) -> dict[int, PageToLoad]:
    columns = ("id", "page_no", "verdict", "blocks", "text", "source", "cached_from")
    query = sa.select(*(r.c[name] for name in columns)).where(r.c.id.in_(ids))
    return {row.id: page_of(row) for row in connection.execute(query)} if ids else {}


def page_of(row: sa.Row[Any], code: str | None = None, message: str | None = None) -> PageToLoad:
    """A page with a reading, whose columns the row has; `code` and `message`: why it is bad."""
    source, verdict = ReadingSource(row.source), Verdict(row.verdict)
    told = (code, message, row.text, source, row.cached_from)
    return PageToLoad(row.page_no, verdict, row.id, row.blocks, *told)


def _replaced(
    page: PageToLoad, actions: Sequence[ReviewAction], made: Mapping[int, PageToLoad]
) -> PageToLoad:
    """Follow what came of each decision, from the reading that would be shown without any."""
    ids = [action.made_id for action in actions]
    # What is shown may be what came of one of them: only later ones are about it.
    first = len(ids) - ids[::-1].index(page.reading_id) if page.reading_id in ids and page.reading_id else 0
    shown, is_over_other = page, False
    for action in actions[first:]:
        instead = made.get(action.made_id or 0)
        is_about = action.reading_id == shown.reading_id
        if instead is not None and action.action is Action.EDIT:
            shown, is_over_other = instead, is_over_other or not is_about
        elif instead is not None and is_about:
            # A retry of what a person wrote before the page was read anew: the new reading counts.
            shown, is_over_other = page if is_over_other else instead, False
    return shown


def _settled(page: PageToLoad, actions: Sequence[ReviewAction]) -> PageToLoad:
    """With what was last decided about this very reading, or the one it says the same as."""
    ids = {page.reading_id, page.copied_from} - {None} or {None}
    last = next((action.action for action in reversed(actions) if action.reading_id in ids), None)
    if last is Action.ACCEPT and page.reading_id is not None:
        verdict = Verdict.BLANK if page.verdict is Verdict.BLANK else Verdict.GOOD
        return replace(page, verdict=verdict, code=_CODES[last], message=None)
    if last is Action.IGNORE and page.verdict in {Verdict.SUSPECT, Verdict.BLANK}:
        return replace(page, code=_CODES[last], message=None)
    return replace(page, code=None, message=None) if page.is_settled else page
