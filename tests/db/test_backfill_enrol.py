"""What a backfill makes of documents in the ledger."""

import pytest
import sqlalchemy as sa

from db import backfill_enrol, backfills, claims, documents, reports, tables
from db.engine import Database
from models.backfill import FromStage, Selection
from models.claim import Failure
from models.document import DocumentStatus
from models.errors import Code, DocumentRejected, PageFailed
from models.recipe import Recipe
from models.stage import Stage
from models.verdict import Verdict
from tests.db.backfilling import begin, enrol, wish
from tests.db.steps import (
    OTHER_RECIPE,
    RECIPE,
    count,
    ingest,
    intake,
    lease,
    load,
    prepare,
    read,
    register,
    split,
)

c, d, r = tables.claim, tables.document, tables.reading


def work(database: Database, recipe: Recipe = RECIPE) -> list[tuple[int, str, str, int]]:
    """Claims under a recipe as (page, stage, status, priority)."""
    columns = (c.c.page_no, c.c.stage, c.c.status, c.c.priority)
    query = sa.select(*columns).join(tables.recipe).where(tables.recipe.c.hash == recipe.hash)
    ordered = query.order_by(c.c.document_id, c.c.page_no)
    return [tuple(row) for row in database.run(lambda conn: conn.execute(ordered).all())]


def status(database: Database) -> DocumentStatus:
    return database.run(lambda conn: documents.get(conn, "1")).status


def partial(database: Database) -> None:
    """A document of three pages: the first failed for good, the second was read badly, the third well."""
    register(database, intake("/a.pdf"))
    split(database, 3)
    prepare(database)
    first = next(one for one in lease(database, Stage.OCR, limit=1))
    database.run(lambda conn: claims.fail(conn, [Failure(first, PageFailed("torn", Code.OCR_FAILED))]))
    read(database, bad=[2])
    load(database, "third")


def test_under_a_recipe_never_asked_for_a_document_starts_at_split_behind_all_else(
    database: Database,
) -> None:
    ingest(database, "/a.pdf", "one", "text")
    enrol(database, wish(), OTHER_RECIPE)
    assert work(database, OTHER_RECIPE) == [(0, "split", "ready", 10)]
    register(database, intake("/b.pdf", "two"))
    assert [claim.document_id for claim in lease(database, Stage.SPLIT)] == [2, 1]


def test_its_pages_stay_behind_all_else_too(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text")
    enrol(database, wish(), OTHER_RECIPE)
    split(database, 2)
    assert {priority for *_, priority in work(database, OTHER_RECIPE)} == {10}


def test_under_its_own_recipe_only_what_could_not_be_read_is_taken_up(database: Database) -> None:
    partial(database)
    enrol(database, wish())
    assert work(database) == [
        (0, "split", "waiting", 10),
        (1, "preprocess", "ready", 10),
        (2, "preprocess", "ready", 10),
        (3, "ocr", "done", 0),
    ]


def test_what_fills_gaps_is_shown_and_the_bad_reading_stays_for_the_old_edition(database: Database) -> None:
    partial(database)
    enrol(database, wish())
    prepare(database)
    read(database, "Better.")
    load(database, "all")
    assert status(database) is DocumentStatus.COMPLETE
    assert count(database, r, r.c.superseded_at.is_not(None)) == 1
    old, new = database.run(lambda conn: reports.editions(conn, 1))
    assert (old.is_shown, new.is_shown) == (False, True)


def test_again_takes_all_pages_and_what_comes_of_it_is_not_shown(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text", page_count=2)
    enrol(database, wish(again=True))
    assert len(prepare(database)) == 2
    read(database, "Otherwise.")
    (loaded,) = load(database, "other text")
    assert loaded is not None
    assert (loaded.is_new, loaded.is_shown) == (True, False)
    assert [page.text for page in database.run(lambda conn: reports.pages(conn, 1))] == ["A page."] * 2


def test_pages_with_the_verdict_or_finding_asked_for_are_taken_up(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text", page_count=3)
    with database.begin() as connection:
        for table in (r, tables.edition_page):
            connection.execute(sa.update(table).where(table.c.page_no == 2).values(verdict="suspect"))
    enrol(database, wish(Selection(verdicts=(Verdict.SUSPECT,))))
    assert [claim.page_no for claim in lease(database, Stage.PREPROCESS)] == [2]


def test_a_document_that_failed_to_split_is_split_again_and_pending(database: Database) -> None:
    register(database, intake("/a.pdf"))
    claim = lease(database, Stage.SPLIT)[0]
    refused = Failure(claim, DocumentRejected("broken", Code.CORRUPT))
    database.run(lambda conn: claims.fail(conn, [refused]))
    enrol(database, wish(Selection(statuses=(DocumentStatus.REJECTED,))))
    assert work(database) == [(0, "split", "ready", 10)]
    assert status(database) is DocumentStatus.PENDING
    split(database, 1)
    prepare(database)
    read(database)
    load(database, "text")
    assert status(database) is DocumentStatus.COMPLETE


def test_from_load_the_document_alone_goes_back(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text", page_count=2)
    enrol(database, wish(start=FromStage.LOAD))
    assert work(database)[0] == (0, "load", "ready", 10)
    assert {row[2] for row in work(database)[1:]} == {"done"}


@pytest.mark.parametrize("start", [FromStage.LOAD, FromStage.VALIDATE])
def test_what_was_never_read_under_the_recipe_cannot_be_judged_or_loaded_again(
    database: Database, start: FromStage
) -> None:
    ingest(database, "/a.pdf", "one", "text")
    enrol(database, wish(start=start), OTHER_RECIPE)
    assert work(database, OTHER_RECIPE) == []


def test_from_validate_pages_that_were_read_are_judged_and_blank_ones_are_not(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 2)
    prepare(database, blank=[1])
    read(database)
    load(database, "text")
    enrol(database, wish(start=FromStage.VALIDATE))
    assert work(database) == [
        (0, "split", "waiting", 10),
        (1, "preprocess", "done", 0),
        (2, "validate", "ready", 10),
    ]


def test_from_split_the_file_is_taken_apart_anew_and_good_readings_stay(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text", page_count=2)
    enrol(database, wish(start=FromStage.SPLIT))
    (item,) = database.run(lambda conn: documents.to_split(conn, lease(database, Stage.SPLIT)))
    assert item.pages_saved == 0
    assert {row[2] for row in work(database)[1:]} == {"done"}


def test_from_preprocess_pictures_are_forgotten_but_for_pages_others_work_on(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text", page_count=2)
    register(database, intake("/a.pdf", "one"), recipe=OTHER_RECIPE)
    split(database, 2)
    busy, other = lease(database, Stage.PREPROCESS)
    database.run(lambda conn: claims.fail(conn, [Failure(other, PageFailed("torn"))]))
    enrol(database, wish(start=FromStage.PREPROCESS, again=True))
    kept = database.run(
        lambda conn: conn.scalars(sa.select(tables.page_image.c.page_no).order_by("page_no")).all()
    )
    assert kept == [busy.page_no]


def test_work_that_has_not_ended_is_left_as_it_is(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 2)
    before = work(database)
    enrol(database, wish(again=True))
    assert work(database) == before


def test_a_document_is_put_in_once_however_often_that_is_asked(database: Database) -> None:
    partial(database)
    begun = enrol(database, wish())
    first = lease(database, Stage.PREPROCESS, limit=1)
    again, run_id = begin(database, wish())
    assert again.id == begun.id
    assert database.run(lambda conn: backfill_enrol.candidates(conn, again, 0, 100)) == []
    assert database.run(lambda conn: backfill_enrol.enrol(conn, again, run_id, [1])) == 0
    assert database.run(lambda conn: claims.held(conn, first)) == {first[0].id}


def test_an_ended_backfill_is_not_gone_on_with(database: Database) -> None:
    partial(database)
    begun = enrol(database, wish())
    assert database.run(backfills.end) == ()
    prepare(database)
    read(database, "Better.")
    load(database, "all")
    assert database.run(backfills.end) == (begun.id,)
    assert begin(database, wish())[0].id == begun.id + 1


def test_a_backfill_that_fails_says_nothing_of_a_document_that_shows_something(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text")
    enrol(database, wish(start=FromStage.SPLIT), OTHER_RECIPE)
    claim = lease(database, Stage.SPLIT)[0]
    database.run(lambda conn: claims.fail(conn, [Failure(claim, DocumentRejected("gone", Code.CORRUPT))]))
    assert status(database) is DocumentStatus.COMPLETE


def test_promote_shows_what_an_earlier_backfill_left_beside(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text")
    enrol(database, wish(), OTHER_RECIPE)
    split(database, 1)
    prepare(database, recipe=OTHER_RECIPE)
    read(database, "Anew.")
    load(database, "new text")
    enrol(database, wish(promote=True), OTHER_RECIPE)
    (loaded,) = load(database, "new text")
    assert loaded is not None
    assert (loaded.is_new, loaded.is_shown) == (False, True)
    assert count(database, tables.edition_switch) == 2
