"""Whose work comes first when somebody asks for what a backfill has not done, or could not do."""

import sqlalchemy as sa

from db import claims, documents, runs, scans, tables
from db.engine import Database
from models.claim import Failure
from models.errors import EngineUnavailable
from models.intake import KnownSource, Registered
from models.stage import Stage
from tests.db.backfilling import enrol, wish
from tests.db.steps import OTHER_RECIPE, ingest, intake, lease, prepare, read, register, split

t = tables.claim


def priorities(database: Database) -> set[int]:
    """Of the work that was made under the other recipe."""
    query = sa.select(t.c.priority).join(tables.recipe).where(tables.recipe.c.hash == OTHER_RECIPE.hash)
    return set(database.run(lambda conn: conn.scalars(query).all()))


def rescan(database: Database, *, lists_all: bool) -> Registered:
    """The file /a.pdf is as it was; a schedule or, with `lists_all`, a person looks again."""

    def work(connection: sa.Connection) -> Registered:
        run_id = runs.start(connection, "ingest", OTHER_RECIPE, {})
        known: list[KnownSource] = list(scans.known(connection, ["/a.pdf"])["/a.pdf"])
        recipe_id = runs.recipe_id(connection, OTHER_RECIPE)
        return documents.register_unchanged(connection, run_id, recipe_id, known, lists_all=lists_all)

    return database.run(work)


def fail_pages(database: Database) -> None:
    """The pages under the other recipe come to their end because the engine was away."""
    failures = [Failure(claim, EngineUnavailable("Down.")) for claim in lease(database, Stage.OCR)]
    database.run(lambda conn: claims.fail(conn, failures))
    loading = lease(database, Stage.LOAD)
    database.run(lambda conn: claims.end(conn, loading))


def test_an_ingest_takes_the_unfinished_work_of_a_backfill_to_the_front(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text")
    enrol(database, wish(), OTHER_RECIPE)
    split(database, 2)
    assert priorities(database) == {10}
    register(database, intake("/a.pdf"), recipe=OTHER_RECIPE)
    assert priorities(database) == {0}


def test_a_person_hastens_what_a_scan_finds_unchanged(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text")
    enrol(database, wish(), OTHER_RECIPE)
    rescan(database, lists_all=True)
    assert priorities(database) == {0}


def test_a_schedule_leaves_a_backfill_of_shown_documents_behind_its_own_work(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text")
    enrol(database, wish(), OTHER_RECIPE)
    rescan(database, lists_all=False)
    assert priorities(database) == {10}


def test_a_schedule_waits_for_documents_that_show_nothing(database: Database) -> None:
    register(database, intake("/a.pdf"))
    enrol(database, wish(), OTHER_RECIPE)
    rescan(database, lists_all=False)
    assert priorities(database) == {0}


def test_another_recipe_hastens_nothing(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text")
    enrol(database, wish(), OTHER_RECIPE)
    register(database, intake("/a.pdf"))
    assert priorities(database) == {10}


def test_what_failed_in_a_backfill_and_is_asked_for_again_is_no_backfill_any_more(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text")
    enrol(database, wish(), OTHER_RECIPE)
    split(database, 2)
    prepare(database, recipe=OTHER_RECIPE)
    fail_pages(database)
    again = register(database, intake("/a.pdf"), recipe=OTHER_RECIPE)
    assert again.again == (1,)
    assert priorities(database) == {0}


def test_work_that_a_person_waits_for_is_not_made_less_urgent(database: Database) -> None:
    register(database, intake("/a.pdf"), recipe=OTHER_RECIPE)
    database.run(lambda conn: conn.execute(sa.update(t).values(priority=-1)))
    register(database, intake("/a.pdf"), recipe=OTHER_RECIPE)
    assert priorities(database) == {-1}


def test_ended_work_keeps_its_priority(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text")
    enrol(database, wish(), OTHER_RECIPE)
    split(database, 1)
    prepare(database, recipe=OTHER_RECIPE)
    read(database)
    register(database, intake("/a.pdf"), recipe=OTHER_RECIPE)
    query = sa.select(t.c.priority).where(t.c.page_no == 1, t.c.priority > 0)
    assert list(database.run(lambda conn: conn.scalars(query).all())) == [10]
