"""Pages that a person should look at, what was decided about pages, and pages that have no text."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from db import decisions, readings, tables
from db.names import name_of
from models.review import Action, Gap, PageRef, PageToReview, ReviewAction, ReviewQuery, Try
from models.verdict import DOUBTFUL, UNREADABLE, Finding, Severity, Verdict
from models.work import SETTLED

d, e, r, image = tables.document, tables.edition_page, tables.reading, tables.page_image
action = tables.review_action

_LOST = "file-repaired", "The file is damaged and the page is blank: what stood on it may be lost."


def waiting(connection: sa.Connection, query: ReviewQuery) -> tuple[tuple[PageToReview, ...], int]:
    """Pages of shown editions that nobody has decided about, bad ones first, and how many there are in all.

    Suspect and bad ones, and blank ones of files that had to be repaired.
    """
    rows = connection.execute(_waiting(query)).all()
    findings = readings.findings_of(connection, [row.reading_id for row in rows])
    tries = _tries(connection, {(row.document_id, row.page_no) for row in rows})
    pages = tuple(
        _page(row, findings.get(row.reading_id, ()), tries[row.document_id, row.page_no]) for row in rows
    )
    return pages, rows[0].total if rows else 0


def history(
    connection: sa.Connection, documents: Collection[int] = (), limit: int | None = None
) -> tuple[ReviewAction, ...]:
    """Decisions, the last one first; of some documents only theirs."""
    query = sa.select(action).order_by(action.c.id.desc()).limit(limit)
    if documents:
        query = query.where(action.c.document_id.in_(documents))
    return tuple(decisions.action_of(row) for row in connection.execute(query))


def gaps(connection: sa.Connection, documents: Collection[int]) -> tuple[Gap, ...]:
    """Pages of what these documents show that could not be read, in order."""
    picture = _picture()
    query = (
        sa.select(d.c.id, e.c.page_no, e.c.code, e.c.message, picture.c.sha256, picture.c.suffix)
        .join(e, e.c.edition_id == d.c.edition_id)
        .outerjoin(r, r.c.id == e.c.reading_id)
        .outerjoin(picture, sa.true())
        .where(d.c.id.in_(documents), e.c.verdict.in_(UNREADABLE))
        .order_by(d.c.id, e.c.page_no)
    )
    return tuple(Gap(*row) for row in connection.execute(query)) if documents else ()


def _waiting(asked: ReviewQuery) -> sa.Select[Any]:
    recipe, picture = tables.recipe, _picture()
    text = sa.func.left(r.c.text, asked.text_chars) if asked.text_chars else sa.literal("")
    is_bad = e.c.verdict == Verdict.BAD
    query = (
        sa.select(
            *(d.c.id.label("document_id"), e.c.page_no, e.c.verdict, e.c.code, e.c.message, e.c.reading_id),
            *(name_of(d.c.id).label("name"), sa.func.coalesce(text, "").label("text")),
            sa.func.coalesce(recipe.c.profile, "").label("profile"),
            *(picture.c.sha256.label("image_sha256"), picture.c.suffix.label("image_suffix")),
            sa.func.count().over().label("total"),
        )
        .join(e, e.c.edition_id == d.c.edition_id)
        .outerjoin(r, r.c.id == e.c.reading_id)
        .outerjoin(recipe, recipe.c.id == r.c.recipe_id)
        .outerjoin(picture, sa.true())
        .where(_is_doubtful(), ~_is_settled())
        .order_by(is_bad.desc(), d.c.id, e.c.page_no)
        .limit(asked.limit)
    )
    if asked.documents:
        query = query.where(d.c.id.in_(asked.documents))
    return query if asked.run_id is None else query.where(d.c.id.in_(of_run(asked.run_id)))


def of_run(run_id: int) -> sa.Select[int]:
    """Ids of the documents that a run met or worked on."""
    met, worked = tables.run_document, tables.stage_run
    of_met = sa.select(met.c.document_id).where(met.c.run_id == run_id)
    return sa.select(d.c.id).where(
        d.c.id.in_(of_met) | d.c.id.in_(sa.select(worked.c.document_id).where(worked.c.run_id == run_id))
    )


def _is_doubtful() -> sa.ColumnElement[bool]:
    is_lost = (e.c.verdict == Verdict.BLANK) & d.c.is_repaired
    return e.c.verdict.in_(DOUBTFUL) | is_lost


def _is_settled() -> sa.ColumnElement[bool]:
    """By the last decision about what is shown."""
    last = (
        sa.select(action.c.action)
        .where(action.c.document_id == d.c.id, action.c.page_no == e.c.page_no)
        .where(action.c.reading_id.is_not_distinct_from(e.c.reading_id))
        .order_by(action.c.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    by_action = sa.func.coalesce(last.in_([Action.ACCEPT, Action.IGNORE]), sa.false())
    return by_action | sa.func.coalesce(e.c.code.in_(SETTLED), sa.false())


def _picture() -> Any:
    """The page image that the reading was made of, else any of the page."""
    is_its = (image.c.sha256 == r.c.image_sha256).desc().nulls_last()
    query = sa.select(image.c.sha256, image.c.suffix).where(
        image.c.document_id == d.c.id, image.c.page_no == e.c.page_no
    )
    return query.order_by(is_its, image.c.preprocess_key).limit(1).lateral("picture")


def _tries(
    connection: sa.Connection, pages: Collection[tuple[int, int]]
) -> Mapping[tuple[int, int], list[Try]]:
    t = tables.attempt
    found: dict[tuple[int, int], list[Try]] = defaultdict(list)
    query = sa.select(t).where(sa.tuple_(t.c.document_id, t.c.page_no).in_(pages)).order_by(t.c.id)
    for row in connection.execute(query) if pages else ():
        found[row.document_id, row.page_no].append(
            Try(
                number=row.number,
                profile=row.profile,
                rung=row.trial.rung if row.trial else "",
                verdict=Verdict(row.verdict),
                codes=row.codes,
                finish_reason=row.finish_reason,
                seconds=row.seconds,
                is_kept=row.is_kept,
            )
        )
    return found


def _page(row: sa.Row[Any], findings: Sequence[Finding], tries: Sequence[Try]) -> PageToReview:
    severity = Severity.ERROR if row.verdict == Verdict.BAD else Severity.WARNING
    heaviest = next((one for one in findings if one.severity is severity), None)
    code, message = row.code, row.message
    if heaviest is not None:
        code, message = heaviest.code, heaviest.message
    elif row.verdict == Verdict.BLANK:
        code, message = _LOST
    names = (
        "document_id",
        "page_no",
        "name",
        "reading_id",
        "profile",
        "image_sha256",
        "image_suffix",
        "text",
    )
    return PageToReview(
        **{name: getattr(row, name) for name in names},
        page=str(PageRef(row.document_id, row.page_no)),
        verdict=Verdict(row.verdict),
        severity=severity,
        code=code or "",
        message=message or "",
        findings=tuple(findings),
        tries=tuple(tries),
    )
