"""Which work comes first, and which not yet."""

import sqlalchemy as sa

from db import claims, documents, runs, tables
from db.engine import Database
from models.claim import Claim, Failure
from models.document import IntakeFile
from models.errors import Code, EngineUnavailable, PageFailed
from models.stage import ClaimStatus, Stage
from tests.db.steps import OTHER_RECIPE, OWNER, RECIPE, intake, lease, pass_time, prepare, register, split

t = tables.claim


def register_at(database: Database, priority: int, *files: IntakeFile) -> None:
    def work(connection: sa.Connection) -> None:
        run_id = runs.start(connection, "ingest", RECIPE, {})
        recipe_id = runs.recipe_id(connection, RECIPE)
        documents.register(connection, run_id, recipe_id, files)
        connection.execute(sa.update(t).where(t.c.run_id == run_id).values(priority=priority))

    database.run(work)


def try_again(database: Database, claim: Claim, delay_s: float) -> None:
    failure = Failure(claim, EngineUnavailable("Down."))
    database.run(lambda conn: claims.retry(conn, [failure], delay_s))


def test_urgent_documents_overtake_those_that_came_before(database: Database) -> None:
    register_at(database, 10, intake("/backfill.pdf", "one"))
    register_at(database, 1, intake("/scheduled.pdf", "two"))
    register_at(database, 5, intake("/between.pdf", "three"))
    assert [claim.document_id for claim in lease(database, Stage.SPLIT)] == [2, 3, 1]


def test_pages_are_as_urgent_as_their_document_in_every_stage(database: Database) -> None:
    register_at(database, 10, intake("/backfill.pdf", "one"))
    register_at(database, 1, intake("/scheduled.pdf", "two"))
    split(database, 2)
    expected = [(2, 1), (2, 2), (1, 1), (1, 2)]
    prepared = prepare(database)
    assert [(claim.document_id, claim.page_no) for claim in prepared] == expected
    assert [(claim.document_id, claim.page_no) for claim in lease(database, Stage.OCR)] == expected


def test_a_small_batch_takes_the_most_urgent_alone(database: Database) -> None:
    register_at(database, 10, *(intake(f"/{n}.pdf", str(n)) for n in range(5)))
    register_at(database, 1, intake("/now.pdf", "now"))
    assert [claim.document_id for claim in lease(database, Stage.SPLIT, 1)] == [6]


def test_work_tried_again_is_not_free_before_its_time(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 1)
    first = lease(database, Stage.PREPROCESS)[0]
    try_again(database, first, 600)
    pass_time(database, 500)
    assert lease(database, Stage.PREPROCESS) == []
    pass_time(database, 101)
    assert [(again.id, again.attempt) for again in lease(database, Stage.PREPROCESS)] == [(first.id, 2)]


def test_delayed_work_lets_later_work_pass(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 3)
    try_again(database, lease(database, Stage.PREPROCESS, 1)[0], 60)
    assert [claim.page_no for claim in lease(database, Stage.PREPROCESS)] == [2, 3]


def test_outstanding_work_is_due_now_due_later_or_in_hands(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 4)
    leased = lease(database, Stage.PREPROCESS, 3)
    try_again(database, leased[0], 300)
    try_again(database, leased[1], 100)
    found = database.run(lambda conn: claims.outstanding(conn, [Stage.PREPROCESS]))
    assert (found.ready, found.delayed, found.leased) == (1, 2, 1)


def test_a_waiting_document_is_not_outstanding_but_its_pages_are(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 2)
    every = database.run(lambda conn: claims.outstanding(conn, list(Stage)))
    assert every.total == 2


def test_the_reason_of_a_try_that_failed_is_gone_once_the_work_is_done(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 1)
    try_again(database, lease(database, Stage.PREPROCESS)[0], 0)
    with database.begin() as connection:
        row = connection.execute(sa.select(t).where(t.c.page_no == 1)).one()
    assert (row.status, row.code, row.message) == (ClaimStatus.READY, Code.ENGINE_UNAVAILABLE, "Down.")
    again = lease(database, Stage.PREPROCESS)
    database.run(lambda conn: claims.end(conn, again))
    with database.begin() as connection:
        row = connection.execute(sa.select(t).where(t.c.page_no == 1)).one()
    assert (row.status, row.code, row.message, row.owner) == (ClaimStatus.DONE, None, None, None)


def test_a_reason_with_signs_that_postgres_refuses_is_kept_without_them(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 1)
    failure = Failure(lease(database, Stage.PREPROCESS)[0], PageFailed("Bad\x00 \ud800page."))
    database.run(lambda conn: claims.fail(conn, [failure]))
    with database.begin() as connection:
        assert connection.scalar(sa.select(t.c.message).where(t.c.page_no == 1)) == "Bad page."


def test_the_same_document_under_two_recipes_is_two_pieces_of_work(database: Database) -> None:
    register(database, intake("/a.pdf"))
    register(database, intake("/a.pdf"), recipe=OTHER_RECIPE)
    one, other = lease(database, Stage.SPLIT)
    assert one.document_id == other.document_id
    database.run(lambda conn: claims.fail(conn, [Failure(one, PageFailed("No."))]))
    assert database.run(lambda conn: claims.held(conn, [one, other])) == {other.id}
    assert database.run(lambda conn: claims.release(conn, OWNER)) == 1
