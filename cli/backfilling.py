"""pagemill backfill without --go: what is asked for, what it would cost, what others came to."""

import datetime as dt
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from rich.console import Console

from cli.choices import Act
from cli.output import console, print_json, table
from cli.progress.lines import short_name
from cli.session import connected
from cli.words import duration, plural
from db import documents
from db.engine import open_database
from models.backfill import Plan, Selection, Wish
from models.compare import DocumentComparison
from models.errors import ConfigurationError
from models.settings import Settings
from tasks import backfill as work

M = TypeVar("M", bound=BaseModel)

_WORDS = {"start": "--from", "verdicts": "--verdict", "statuses": "--status"}


@dataclass(frozen=True, slots=True)
class PlanReport:
    """What `pagemill backfill --json` prints of a dry run."""

    documents: int
    of: int
    unsplit: int
    without_readings: int
    pages: int
    cached: int
    to_read: int
    engine_minutes: float | None
    wall_minutes: float | None
    continues: int | None


@dataclass(frozen=True, slots=True)
class SwitchReport:
    """What `promote` and `rollback` print with --json: ids of the documents that changed."""

    documents: tuple[int, ...]


def selection_of(settings: Settings, asked: Mapping[str, Any]) -> Selection:
    """A selection from options; documents by whatever names a document.

    Raises ConfigurationError for words that there are not, and documents that are not there.
    """
    given = {name: value for name, value in asked.items() if value}
    for name in ("since", "until"):
        if isinstance(given.get(name), dt.datetime):
            given[name] = given[name].date()
    if "documents" in given:
        given["documents"] = _ids(settings, given["documents"])
    return _validated(Selection, given)


def wish_of(settings: Settings, selected: Mapping[str, Any], how: Mapping[str, Any]) -> Wish:
    """A wish from options. Raises ConfigurationError."""
    given = {name: value for name, value in how.items() if value}
    selection = selection_of(settings, selected)
    return _validated(Wish, {"profile": settings.profile, "selection": selection} | given)


def show_plan(settings: Settings, wish: Wish, *, as_json: bool) -> None:
    """Count and print. Raises ConfigurationError for what is not there, and for nothing."""
    with closing(open_database(settings)) as database:
        planned = work.plan(database, wish)
    if as_json:
        print_json(report_of(planned))
    else:
        print_plan(console(), planned, wish)


def print_plan(out: Console, planned: Plan, wish: Wish) -> None:
    """What it would come to, and how to start it."""
    out.print(f"{plural(planned.documents, 'document')} of {planned.of:,}, {plural(planned.pages, 'page')}:")
    out.print(f"  {plural(planned.cached, 'page')} taken from readings that are there")
    out.print(f"  {plural(planned.to_read, 'page')} to read with {wish.profile}{_minutes(planned)}")
    if planned.unsplit:
        out.print(f"  {plural(planned.unsplit, 'document')} whose pages are not known yet")
    if planned.without_readings:
        told = f"have no reading under this recipe to {wish.start.value} again"
        out.print(f"  {plural(planned.without_readings, 'document')} left out: they {told}")
    if planned.continues is not None:
        out.print(f"  goes on with backfill {planned.continues}, which has not ended")
    out.print("Nothing was changed. Add --go to do it.")


def act_on(
    act: Act, settings: Settings, backfill_id: int | None, selection: Selection, *, as_json: bool
) -> None:
    """Do that with what a backfill made. Raises ConfigurationError (not-found)."""
    match act:
        case "compare":
            show_comparison(settings, backfill_id, selection, as_json=as_json)
        case "promote":
            promote(settings, backfill_id, selection, as_json=as_json)
        case "rollback":
            roll_back(settings, backfill_id, selection, as_json=as_json)


def show_comparison(
    settings: Settings, backfill_id: int | None, selection: Selection, *, as_json: bool
) -> None:
    """Print what a backfill changed. Raises ConfigurationError (not-found)."""
    with closing(open_database(settings)) as database:
        compared = list(work.comparisons(database, backfill_id, selection))
    if as_json:
        print_json(compared)
        return
    print_comparison(console(), compared)


def print_comparison(out: Console, compared: Sequence[DocumentComparison]) -> None:
    """A line for each document, then the sums."""
    columns = ("pages", "changed", "added", "removed", "better", "worse", "seconds", "tokens")
    shown = table("id", "document", *columns, "", numbers=frozenset({"id", *columns}))
    for one in compared:
        shown.add_row(
            str(one.document_id),
            short_name(one.name),
            *(str(one.pages), str(len(one.changed)), f"+{one.added:,}", f"-{one.removed:,}"),
            *(str(len(one.better)), str(len(one.worse))),
            f"{one.old_seconds:.1f} → {one.new_seconds:.1f}",
            f"{one.old_tokens:,} → {one.new_tokens:,}",
            _state(one),
        )
    out.print(shown)
    changed = sum(bool(one.changed) for one in compared)
    out.print(f"{plural(len(compared), 'document')}, {changed:,} with other text.")


def promote(settings: Settings, backfill_id: int | None, selection: Selection, *, as_json: bool) -> None:
    """Show what a backfill made. Raises ConfigurationError (not-found)."""
    with closing(open_database(settings)) as database:
        changed = work.promote(database, backfill_id, selection)
    _tell(changed, "shown as the backfill read them", as_json=as_json)


def roll_back(settings: Settings, backfill_id: int | None, selection: Selection, *, as_json: bool) -> None:
    """Show again what stood there before. Raises ConfigurationError (not-found)."""
    with closing(open_database(settings)) as database:
        changed = work.rollback(database, backfill_id, selection)
    _tell(changed, "shown as before", as_json=as_json)


def _tell(changed: tuple[int, ...], told: str, *, as_json: bool) -> None:
    if as_json:
        print_json(SwitchReport(changed))
    else:
        console().print(f"{plural(len(changed), 'document')} {told}.")


def _ids(settings: Settings, refs: Sequence[str]) -> tuple[int, ...]:
    with connected(settings) as connection:
        return tuple(sorted({documents.get(connection, ref).id for ref in refs}))


def _validated(model: type[M], values: Mapping[str, Any]) -> M:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        known = first.get("ctx", {}).get("expected", "")
        raise ConfigurationError(
            f"{_WORDS.get(name, name)}: there is no '{first['input']}'. Write {known}."
        ) from error


def _minutes(planned: Plan) -> str:
    if planned.engine_minutes is None or planned.wall_minutes is None:
        return "; it has not read a page yet, so nobody knows how long that takes"
    work_s, wall_s = planned.engine_minutes * 60, planned.wall_minutes * 60
    return f": about {duration(work_s)} of engine work, {duration(wall_s)} at the pace of past runs"


def report_of(planned: Plan) -> PlanReport:
    """A plan as a program gets it."""
    return PlanReport(**{field.name: getattr(planned, field.name) for field in fields(PlanReport)})


def _state(one: DocumentComparison) -> str:
    if one.new_edition is None:
        return "not loaded yet"
    if one.old_edition is None:
        return "nothing before"
    return "shown" if one.is_shown else ""
