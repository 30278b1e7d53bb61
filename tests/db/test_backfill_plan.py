"""What a backfill would do, counted; where one stands; what its editions differ in."""

import pytest
import sqlalchemy as sa

from db import backfill_plan, backfills, compare, switches, tables
from db.engine import Database
from models.backfill import FromStage, Plan, Selection
from models.compare import Pair
from models.document import DocumentStatus
from models.errors import ConfigurationError
from models.recipe import Recipe
from models.verdict import Verdict
from tests.db import steps
from tests.db.backfilling import EVERYTHING, begin, enrol, wish
from tests.db.steps import OTHER_RECIPE, RECIPE, ingest, intake, load, prepare, read, register, split

r = tables.reading


def plan(database: Database, recipe: Recipe = RECIPE, **how: object) -> Plan:
    return database.run(lambda conn: backfill_plan.plan(conn, wish(**how), recipe))  # type: ignore[arg-type]


def reread(database: Database, recipe: Recipe = OTHER_RECIPE, text: str = "Anew.") -> int:
    """Everything under another recipe, by a backfill; its id."""
    begun = enrol(database, wish(), recipe)
    split(database, 1)
    prepare(database, recipe=recipe)
    read(database, text)
    load(database, text)
    return begun.id


def switched(database: Database) -> list[tuple[int | None, int, str]]:
    t = tables.edition_switch
    query = sa.select(t.c.before_id, t.c.edition_id, t.c.kind).order_by(t.c.id)
    return [tuple(row) for row in database.run(lambda conn: conn.execute(query).all())]


def show(database: Database, edition_id: int, kind: str) -> bool:
    return database.run(lambda conn: switches.show(conn, 1, edition_id, kind=kind, by="me"))


def test_what_is_read_well_under_the_recipe_is_not_read_again(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text", page_count=3)
    planned = plan(database)
    assert (planned.documents, planned.of, planned.pages, planned.cached, planned.to_read) == (1, 1, 3, 3, 0)
    assert plan(database, again=True).to_read == 3


def test_bad_pages_are_to_be_read_and_so_is_everything_under_another_recipe(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 3)
    prepare(database, blank=[3])
    read(database, bad=[2])
    load(database, "text")
    assert plan(database).to_read == 1
    # The blank page is known to be blank: recipes that differ in nothing of the picture share it.
    assert (plan(database, OTHER_RECIPE).to_read, plan(database, OTHER_RECIPE).cached) == (2, 1)


def test_a_page_that_looks_like_one_read_under_the_recipe_is_cached(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text")
    register(database, intake("/b.pdf", "two"), recipe=OTHER_RECIPE)
    split(database, 1)
    prepare(database, recipe=OTHER_RECIPE)
    assert plan(database).to_read == 1
    same = sa.update(tables.page_image).values(sha256=steps.sha("1-1"))
    database.run(lambda conn: conn.execute(same))
    assert (plan(database).to_read, plan(database).cached) == (0, 2)


def test_documents_never_split_are_counted_apart(database: Database) -> None:
    register(database, intake("/a.pdf"))
    assert (plan(database).unsplit, plan(database).pages) == (1, 0)


@pytest.mark.parametrize("start", [FromStage.LOAD, FromStage.VALIDATE])
def test_what_has_no_reading_under_the_recipe_is_left_out_of_judging_and_loading(
    database: Database, start: FromStage
) -> None:
    ingest(database, "/a.pdf", "one", "text", page_count=2)
    register(database, intake("/b.pdf", "two"))
    planned = plan(database, start=start)
    assert (planned.documents, planned.without_readings, planned.to_read, planned.cached) == (2, 1, 0, 2)
    assert plan(database, OTHER_RECIPE, start=start).without_readings == 2


def test_the_pace_is_that_of_past_runs_of_the_profile(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text")
    assert plan(database).pace is None
    assert plan(database, again=True).engine_minutes is None
    timing = (
        "INSERT INTO stage_run (run_id, document_id, stage, attempt, ready_at, started_at, ended_at, "
        "seconds, pages, cached, outcome) "
        "SELECT 1, 1, 'ocr', 1, now(), now(), now() + interval '30 s', 60, 30, 10, 'ok'"
    )
    database.run(lambda conn: conn.execute(sa.text(timing)))
    pace = plan(database).pace
    assert pace is not None
    assert (pace.engine_s, pace.wall_s, pace.pages) == (3.0, 1.5, 20)
    assert plan(database, again=True).engine_minutes == pytest.approx(3.0 / 60)
    assert database.run(lambda conn: backfill_plan.pace(conn, "rapidocr")) is None


def test_a_plan_tells_of_the_backfill_it_would_go_on_with(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text")
    begun, _ = begin(database, wish(again=True))
    assert plan(database, again=True).continues == begun.id
    assert plan(database).continues is None


def test_a_backfill_stands_unfinished_then_beside_then_shown(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text")
    begun = enrol(database, wish(), OTHER_RECIPE)
    standing = database.run(lambda conn: backfills.standing(conn, begun.id))
    assert (standing.documents, standing.unfinished, standing.waiting) == (1, 1, 0)
    assert database.run(lambda conn: backfills.is_busy(conn, begun.id))
    split(database, 1)
    prepare(database, recipe=OTHER_RECIPE)
    read(database, bad=[1])
    load(database)
    standing = database.run(lambda conn: backfills.standing(conn, begun.id))
    assert (standing.unfinished, standing.failed, standing.waiting) == (0, 1, 1)
    show(database, 2, "promote")
    assert database.run(lambda conn: backfills.standing(conn, begun.id)).waiting == 0


def test_a_backfill_that_is_not_there_is_told(database: Database) -> None:
    for backfill_id, told in ((None, "no backfill yet"), (7, "no backfill 7")):
        with pytest.raises(ConfigurationError, match=told), database.begin() as connection:
            backfills.get(connection, backfill_id)


def test_two_editions_are_compared_page_by_page_with_texts_only_where_they_differ(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text", page_count=2)
    begun = enrol(database, wish(), OTHER_RECIPE)
    split(database, 2)
    prepare(database, recipe=OTHER_RECIPE)
    read(database, "A page.", bad=[2])
    load(database, "text")
    database.run(lambda conn: conn.execute(sa.update(r).where(r.c.id == 1).values(text="Old.", tokens_out=7)))
    (pair,) = database.run(lambda conn: compare.pairs(conn, begun, Selection()))
    assert (pair.name, pair.before_id, pair.made_id, pair.shown_id) == ("/a.pdf", 1, 2, 1)
    one, two = sorted(database.run(lambda conn: compare.pages(conn, pair)), key=lambda page: page.page_no)
    changed = next(page for page in (one, two) if page.differs)
    same = next(page for page in (one, two) if not page.differs)
    assert (changed.old.text, changed.new.text, changed.old.tokens) == ("Old.", "A page.", 7)
    assert (same.old.text, same.new.text, same.old.characters) == ("", "", len("A page."))
    assert (two.old.verdict, two.new.verdict) == (Verdict.GOOD, Verdict.BAD)


def test_a_selection_narrows_what_is_compared(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text")
    ingest(database, "/b.pdf", "two", "text")
    found = database.run(lambda conn: backfills.get(conn, reread(database)))
    assert len(database.run(lambda conn: compare.pairs(conn, found, EVERYTHING))) == 2
    only = database.run(lambda conn: compare.pairs(conn, found, Selection(source="/b.pdf")))
    assert [pair.document_id for pair in only] == [2]
    assert database.run(lambda conn: compare.pages(conn, Pair(1, "", None, 1, None))) == ()


def test_a_switch_takes_status_and_reason_along_and_is_remembered(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 2)
    prepare(database)
    read(database, bad=[2])
    load(database, "text")
    reread(database)
    assert show(database, 2, "promote")
    document = tables.document
    facts = sa.select(document.c.status, document.c.code)
    assert tuple(database.run(lambda conn: conn.execute(facts).one())) == (DocumentStatus.COMPLETE, None)
    assert not show(database, 2, "promote")
    show(database, 1, "rollback")
    assert tuple(database.run(lambda conn: conn.execute(facts).one())) == ("partial", "truncated")
    assert switched(database) == [(None, 1, "load"), (1, 2, "promote"), (2, 1, "rollback")]


def test_going_back_again_and_again_ends_at_the_first_edition(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text")
    for number, revision in enumerate(("2", "3"), 2):
        reread(database, Recipe(revision=revision), text=revision)
        show(database, number, "promote")
    seen = []
    while before := database.run(lambda conn: switches.previous(conn, 1)):
        show(database, before, "rollback")
        seen.append(before)
    assert seen == [2, 1]
