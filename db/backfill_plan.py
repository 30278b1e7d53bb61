"""What a backfill would do, counted without changing anything."""

import sqlalchemy as sa

from db import backfill_pages, backfills, tables
from db.backfill_enrol import was_read
from db.backfill_selection import documents
from db.tables.base import same_page
from models.backfill import FromStage, Pace, Plan, Selection, Wish
from models.reading import ReadingSource
from models.recipe import Recipe
from models.stage import BUSY, Stage
from models.verdict import Verdict

c, d, p = tables.claim, tables.document, tables.page

_NO_RECIPE = -1
"""Of a recipe that was never asked for."""
_PACE_RUNS = 200
"""Most recent runs that the pace is learnt from."""


def plan(connection: sa.Connection, wish: Wish, recipe: Recipe) -> Plan:
    """Documents, pages, readings that are there already and what is left, as things stand now."""
    found = connection.scalar(sa.select(tables.recipe.c.id).where(tables.recipe.c.hash == recipe.hash))
    recipe_id = _NO_RECIPE if found is None else found
    chosen = documents(wish.selection).cte("chosen").prefix_with("MATERIALIZED")
    takes = wish.start not in {FromStage.VALIDATE, FromStage.LOAD}
    taken = sa.true() if takes else was_read(recipe_id)
    query = sa.select(
        sa.func.count(),
        sa.func.count().filter(taken, d.c.page_count.is_(None)),
        sa.func.count().filter(~taken),
        sa.func.coalesce(sa.func.sum(d.c.page_count).filter(taken), 0),
    ).join_from(d, chosen, chosen.c.id == d.c.id)
    count, unsplit, without, pages = connection.execute(query).one()
    to_read = _to_read(connection, wish, chosen, recipe_id, recipe) if takes else 0
    everything = documents(Selection(everything=True)).subquery()
    going_on = backfills.open_of(connection, wish, recipe)
    return Plan(
        documents=count,
        of=connection.execute(sa.select(sa.func.count()).select_from(everything)).scalar_one(),
        unsplit=unsplit,
        without_readings=without,
        pages=pages,
        cached=max(0, pages - to_read),
        to_read=to_read,
        pace=pace(connection, wish.profile),
        continues=None if going_on is None else going_on.id,
    )


def pace(connection: sa.Connection, profile: str) -> Pace | None:
    """What pages cost in the last runs of a profile; None before the first page."""
    t, run, recipe = tables.stage_run, tables.run, tables.recipe
    of_profile = (
        sa.select(run.c.id)
        .join(recipe, recipe.c.id == run.c.recipe_id)
        .where(recipe.c.profile == profile)
        .order_by(run.c.id.desc())
        .limit(_PACE_RUNS)
    )
    span = sa.func.extract("epoch", sa.func.max(t.c.ended_at) - sa.func.min(t.c.started_at))
    runs = (
        sa.select(
            sa.func.sum(t.c.seconds).label("engine_s"),
            span.label("wall_s"),
            sa.func.sum(t.c.pages - t.c.cached).label("pages"),
        )
        .where(t.c.stage == Stage.OCR.value, t.c.run_id.in_(of_profile))
        .group_by(t.c.run_id)
        .subquery()
    )
    sums = sa.select(sa.func.sum(runs.c.engine_s), sa.func.sum(runs.c.wall_s), sa.func.sum(runs.c.pages))
    engine_s, wall_s, pages = connection.execute(sums.where(runs.c.pages > 0)).one()
    return Pace(engine_s / int(pages), float(wall_s) / int(pages), int(pages)) if pages else None


def _to_read(connection: sa.Connection, wish: Wish, chosen: sa.CTE, recipe_id: int, recipe: Recipe) -> int:
    """Pages that an engine will be asked for."""
    in_chosen = c.c.document_id.in_(sa.select(chosen.c.id))
    again = backfill_pages.ended_pages(recipe_id, sa.func.count())
    pending = sa.select(sa.func.count()).where(
        in_chosen, c.c.recipe_id == recipe_id, c.c.page_no > 0, c.c.status.in_(BUSY)
    )
    counts = (
        again.where(in_chosen, backfill_pages.is_wanted(wish)),
        pending,
        _never_asked_for(chosen, recipe_id, recipe),
    )
    return sum(connection.execute(query).scalar_one() for query in counts)


def _never_asked_for(chosen: sa.CTE, recipe_id: int, recipe: Recipe) -> sa.Select[int]:
    """Pages without a claim under the recipe, but for those known to be blank or to look like one read."""
    mine, image, r = tables.claim.alias("mine"), tables.page_image, tables.reading
    same_picture = sa.exists().where(
        r.c.image_sha256 == image.c.sha256,
        r.c.recipe_id == recipe_id,
        r.c.source == ReadingSource.OCR.value,
        r.c.verdict != Verdict.BAD.value,
        r.c.superseded_at.is_(None),
    )
    known = sa.exists().where(
        same_page(image, p),
        image.c.preprocess_key == recipe.preprocess_key,
        image.c.is_blank | same_picture,
    )
    return (
        sa.select(sa.func.count())
        .join_from(p, chosen, chosen.c.id == p.c.document_id)
        .where(~sa.exists().where(same_page(mine, p), mine.c.recipe_id == recipe_id), ~known)
    )
