"""Which documents a backfill is about: a selection as a query for document ids."""

import datetime as dt
import re
from collections.abc import Collection

import sqlalchemy as sa

from db import tables
from models.backfill import Selection
from models.errors import Code, ConfigurationError
from models.meant import meant

d = tables.document

_LEAST_HASH_DIGITS = 6
_HASH_DIGITS = 64


def check(connection: sa.Connection, selection: Selection, checks: Collection[str]) -> None:
    """Raises ConfigurationError where the selection names what is not there or says nothing at all.

    `checks` are the codes of the checks: finding codes besides the errors' and those that were ever found.
    """
    if selection.is_empty:
        raise ConfigurationError("Say which documents, e.g. --status failed or --source '*.pdf', or --all.")
    if selection.since and selection.until and selection.since > selection.until:
        raise ConfigurationError(f"--since {selection.since} is after --until {selection.until}.")
    _check_documents(connection, selection.documents)
    for code in selection.findings:
        _check_finding(connection, code, checks)
    if selection.profile:
        _check_profile(connection, selection.profile)
    if selection.recipe:
        _check_recipe(connection, selection.recipe)


def documents(selection: Selection) -> sa.Select[int]:
    """Ids of the selected documents.

    Files that are no documents are never among them; contents that stand under no name any more only when
    they are named by id.
    """
    wanted = [condition for condition in _conditions(selection) if condition is not None]
    return sa.select(d.c.id).where(d.c.media_type.is_not(None), *wanted)


def _conditions(selection: Selection) -> list[sa.ColumnElement[bool] | None]:
    of_recipe = tables.recipe.c.hash.between(*_range(selection.recipe)) if selection.recipe else None
    of_profile = tables.recipe.c.profile == selection.profile if selection.profile else None
    return [
        d.c.id.in_(selection.documents) if selection.documents else _is_current(),
        _stands_under(selection.source) if selection.source else None,
        d.c.created_at >= _midnight(selection.since) if selection.since else None,
        d.c.created_at < _midnight(selection.until, days=1) if selection.until else None,
        d.c.status.in_(selection.statuses) if selection.statuses else None,
        _shows(tables.edition_page.c.verdict.in_(selection.verdicts)) if selection.verdicts else None,
        _has_finding(selection.findings) if selection.findings else None,
        None if of_profile is None else _was_read(of_profile),
        None if of_recipe is None else _was_read(of_recipe),
    ]


def _is_current() -> sa.ColumnElement[bool]:
    t = tables.source
    return sa.exists().where(t.c.document_id == d.c.id, t.c.superseded_at.is_(None))


def _stands_under(pattern: str) -> sa.ColumnElement[bool]:
    """A name by pattern; without a sign of one, this very path or anything in that folder."""
    t = tables.source
    like = re.sub(r"([\\%_])", r"\\\1", pattern)
    is_pattern = re.search(r"[*?]", pattern)
    likes = [like.replace("*", "%").replace("?", "_")] if is_pattern else [like, f"{like.rstrip('/')}/%"]
    fits = sa.or_(*(t.c.uri.like(one) for one in likes))
    return sa.exists().where(t.c.document_id == d.c.id, t.c.superseded_at.is_(None), fits)


def _shows(what: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    t = tables.edition_page
    return sa.exists().where(t.c.edition_id == d.c.edition_id, what)


def _has_finding(codes: Collection[str]) -> sa.ColumnElement[bool]:
    page, finding = tables.edition_page, tables.finding
    found = sa.exists().where(finding.c.reading_id == page.c.reading_id, finding.c.code.in_(codes))
    return d.c.code.in_(codes) | _shows(page.c.code.in_(codes) | found)


def _was_read(under: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    """By the recipe of what is shown; where nothing is, by any that was asked for."""
    edition, recipe, claim = tables.edition, tables.recipe, tables.claim
    shown = sa.exists().where(edition.c.id == d.c.edition_id, recipe.c.id == edition.c.recipe_id, under)
    asked = sa.exists().where(claim.c.document_id == d.c.id, recipe.c.id == claim.c.recipe_id, under)
    return shown | (d.c.edition_id.is_(None) & asked)


def _check_documents(connection: sa.Connection, ids: Collection[int]) -> None:
    known = set(connection.scalars(sa.select(d.c.id).where(d.c.id.in_(ids))))
    if missing := sorted(set(ids) - known):
        raise ConfigurationError(f"There is no document {missing[0]}.", Code.NOT_FOUND)


def _check_finding(connection: sa.Connection, code: str, checks: Collection[str]) -> None:
    known = set(checks) | {error.value for error in Code}
    was_found = sa.select(sa.exists().where(tables.finding.c.code == code))
    if code not in known and not connection.execute(was_found).scalar_one():
        told = (
            f"There is no finding '{code}'. 'pagemill checks' lists the codes of checks.{meant(code, known)}"
        )
        raise ConfigurationError(told, Code.NOT_FOUND)


def _check_profile(connection: sa.Connection, profile: str) -> None:
    known = set(connection.scalars(sa.select(tables.recipe.c.profile).distinct()))
    if profile not in known:
        read = (
            f"Profiles that were read with: {', '.join(sorted(known))}." if known else "Nothing was read yet."
        )
        raise ConfigurationError(
            f"Nothing was read with a profile '{profile}'. {read}{meant(profile, known)}", Code.NOT_FOUND
        )


def _check_recipe(connection: sa.Connection, digits: str) -> None:
    if not re.fullmatch(rf"[0-9a-f]{{{_LEAST_HASH_DIGITS},{_HASH_DIGITS}}}", digits):
        raise ConfigurationError(f"'{digits}' is no start of a recipe's hash: six or more of 0-9 and a-f.")
    t = tables.recipe
    if not connection.execute(sa.select(sa.exists().where(t.c.hash.between(*_range(digits))))).scalar_one():
        raise ConfigurationError(f"There is no recipe whose hash starts with {digits}.", Code.NOT_FOUND)


def _range(digits: str) -> tuple[str, str]:
    return digits.ljust(_HASH_DIGITS, "0"), digits.ljust(_HASH_DIGITS, "f")


def _midnight(day: dt.date, days: int = 0) -> dt.datetime:
    return dt.datetime.combine(day, dt.time(), dt.UTC) + dt.timedelta(days=days)
