"""What people see of a document: read in part, blank, failed, waiting, read anew."""

import pytest
import sqlalchemy as sa

from db import claims, reports, switches, tables
from db.engine import Database
from models.claim import Failure
from models.document import DocumentStatus
from models.errors import Code, ConfigurationError, DocumentRejected, EngineUnavailable, PageFailed
from models.geometry import Box
from models.reading import ReadingSource
from models.recipe import Recipe
from models.report import Edition, PageReport
from models.stage import Stage
from models.verdict import Verdict
from tests.db import steps
from tests.db.steps import OTHER_RECIPE, RECIPE, ingest, intake, lease, load, prepare, read, register, split

NEW_PICTURES = Recipe(profile="other", revision="1", jpeg_quality=60)


def pages(database: Database, document_id: int = 1, recipe_id: int | None = None) -> tuple[PageReport, ...]:
    return database.run(lambda conn: reports.pages(conn, document_id, recipe_id))


def shown(database: Database, document_id: int = 1) -> tuple[Edition, ...]:
    return database.run(lambda conn: reports.editions(conn, document_id))


def recipe_of(database: Database, document_id: int = 1) -> int | None:
    return database.run(lambda conn: reports.recipe_of(conn, document_id))


def profile_of(database: Database, document_id: int = 1) -> str:
    found = recipe_of(database, document_id)
    assert found is not None
    return database.run(lambda conn: steps.runs.recipe(conn, found)).profile


def recipe_id(database: Database, recipe: Recipe) -> int:
    return database.run(lambda conn: steps.runs.recipe_id(conn, recipe))


def begin(database: Database, page_count: int, recipe: Recipe = RECIPE) -> None:
    register(database, intake("/a.pdf"), recipe=recipe)
    split(database, page_count)


def read_anew(database: Database, recipe: Recipe, text: str, bad: tuple[int, ...] = ()) -> None:
    """The one document read again under another recipe, and loaded."""
    begin(database, 1, recipe)
    prepare(database, recipe=recipe)
    read(database, text, bad)
    load(database, text)


def test_a_page_is_shown_with_size_text_place_and_picture(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "text")
    page = pages(database)[0]
    assert (page.page_no, page.width_pt, page.height_pt, page.rotation) == (1, 595.0, 842.0, 90)
    assert (page.verdict, page.source, page.text, page.seconds) == (
        Verdict.GOOD,
        ReadingSource.OCR,
        "A page.",
        2.0,
    )
    assert page.blocks[0].box == Box(1.5, 2, 3, 4)
    assert (page.image_sha256, page.image_suffix) == (steps.sha("1-1"), ".jpg")
    assert (page.image_width_px, page.image_height_px) == (1000, 1540)
    assert (page.image_reason, page.tokens_saved) == ("legible-layer", 420)
    assert (page.code, page.message, page.findings) == (None, None, ())


def test_every_page_is_shown_in_order_whatever_became_of_it(database: Database) -> None:
    begin(database, 5)
    leased = lease(database, Stage.PREPROCESS, 1)
    failure = Failure(leased[0], PageFailed("It does not render.", Code.RENDER_FAILED))
    database.run(lambda conn: claims.fail(conn, [failure]))
    prepare(database, blank=[3])
    last = lease(database, Stage.OCR, 2)
    database.run(lambda conn: claims.retry(conn, [Failure(last[1], EngineUnavailable("Down."))], 60))
    read_now = [steps.result(last[0])]
    database.run(lambda conn: steps.readings.save(conn, read_now))
    found = pages(database)
    assert [page.page_no for page in found] == [1, 2, 3, 4, 5]
    assert [page.verdict for page in found] == [Verdict.BAD, Verdict.GOOD, Verdict.BLANK, None, None]
    assert [page.code for page in found] == ["render-failed", None, None, "engine-unavailable", None]


def test_a_page_that_could_not_be_drawn_has_no_picture_and_no_reading(database: Database) -> None:
    begin(database, 1)
    failure = Failure(lease(database, Stage.PREPROCESS)[0], PageFailed("Too slow.", Code.RENDER_TIMEOUT))
    database.run(lambda conn: claims.fail(conn, [failure]))
    page = pages(database)[0]
    assert (page.code, page.message) == ("render-timeout", "Too slow.")
    assert (page.reading_id, page.source, page.image_sha256, page.text) == (None, None, None, "")


def test_a_blank_page_has_a_picture_and_nothing_was_asked(database: Database) -> None:
    begin(database, 1)
    prepare(database, blank=[1])
    page = pages(database)[0]
    assert (page.verdict, page.source, page.text) == (Verdict.BLANK, ReadingSource.NONE, "")
    assert page.image_sha256 == steps.sha("1-1")
    assert (page.code, page.blocks) == (None, ())


def test_a_bad_page_gives_its_error_and_all_its_findings(database: Database) -> None:
    begin(database, 1)
    prepare(database)
    read(database, "Half a pa", bad=[1])
    page = pages(database)[0]
    assert (page.verdict, page.code, page.message) == (Verdict.BAD, "truncated", "Cut off.")
    assert [(finding.code, finding.evidence) for finding in page.findings] == [("truncated", {"tokens": 3})]
    assert page.text == "Half a pa"


def test_pages_that_a_refused_document_left_unread_say_why(database: Database) -> None:
    register(database, intake("/a.pdf"))
    claim = lease(database, Stage.SPLIT)[0]
    database.run(lambda conn: steps.pages.save_pages(conn, claim, [steps.page(1)]))
    error = DocumentRejected("It needs a password.", Code.NEEDS_PASSWORD)
    database.run(lambda conn: claims.fail(conn, [Failure(claim, error)]))
    assert [(page.verdict, page.code) for page in pages(database)] == [(Verdict.BAD, "needs-password")]


def test_pages_of_one_document_are_not_those_of_another(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "a", page_count=2)
    other = ingest(database, "/b.pdf", "two", "b", page_count=3)
    assert [len(pages(database, 1)), len(pages(database, other))] == [2, 3]
    assert {page.image_sha256 for page in pages(database, other)} == {steps.sha(f"2-{n}") for n in (1, 2, 3)}


def test_a_document_read_anew_shows_the_new_text_and_keeps_the_old(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "first")
    read_anew(database, OTHER_RECIPE, "Read anew.")
    assert pages(database)[0].text == "Read anew."
    assert pages(database, recipe_id=1)[0].text == "A page."
    assert recipe_of(database) == recipe_id(database, OTHER_RECIPE)


def test_while_it_is_read_anew_the_old_text_is_shown(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "first")
    begin(database, 1, OTHER_RECIPE)
    assert recipe_of(database) == 1
    assert pages(database)[0].text == "A page."
    assert pages(database, recipe_id=recipe_id(database, OTHER_RECIPE))[0].verdict is None


def test_pictures_are_those_that_the_recipe_asked_for(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "first")
    begin(database, 1, NEW_PICTURES)
    new = recipe_id(database, NEW_PICTURES)
    assert pages(database, recipe_id=new)[0].image_sha256 is None
    same_pictures = recipe_id(database, OTHER_RECIPE)
    assert pages(database, recipe_id=same_pictures)[0].image_sha256 == steps.sha("1-1")


def test_a_new_reading_of_which_nothing_is_good_leaves_the_old_one_shown(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "first")
    read_anew(database, NEW_PICTURES, "Rubbish", bad=(1,))
    assert [edition.is_shown for edition in shown(database)] == [True, False]
    assert profile_of(database) == "ppocr"
    found = database.run(lambda conn: steps.documents.get(conn, "1"))
    assert found.status is DocumentStatus.FAILED


def test_editions_tell_recipe_profile_and_which_is_shown(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "first")
    read_anew(database, NEW_PICTURES, "Read anew.")
    old, new = shown(database)
    assert (old.profile, old.recipe_id, old.is_shown) == ("ppocr", 1, False)
    assert (new.profile, new.is_shown) == ("other", True)
    assert new.recipe_id == recipe_id(database, NEW_PICTURES)
    assert old.created_at < new.created_at
    assert {old.document_id, new.document_id} == {1}


def test_an_edition_put_back_brings_its_profile_back(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "first")
    read_anew(database, NEW_PICTURES, "Read anew.")
    assert profile_of(database) == "other"
    database.run(lambda conn: switches.show(conn, 1, shown(database)[0].id, kind="rollback", by="me"))
    assert (profile_of(database), recipe_of(database)) == ("ppocr", 1)


def test_editions_of_a_hidden_document_are_listed_and_none_is_shown(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "old")
    ingest(database, "/a.pdf", "two", "new")
    assert [edition.is_shown for edition in shown(database, 1)] == [False]
    assert [edition.is_shown for edition in shown(database, 2)] == [True]
    assert pages(database, 1)[0].text == "A page."


def test_before_any_edition_the_recipe_asked_for_last_counts(database: Database) -> None:
    register(database, intake("/a.pdf"))
    register(database, intake("/a.pdf"), recipe=NEW_PICTURES)
    assert profile_of(database) == "other"
    assert (shown(database), pages(database)) == ((), ())


def test_a_document_refused_at_first_sight_was_never_read(database: Database) -> None:
    register(database, intake("/a.txt", rejection="unsupported-type"))
    assert (recipe_of(database), pages(database), shown(database)) == (None, (), ())


def test_a_document_that_is_not_there_has_no_pages(database: Database) -> None:
    assert (pages(database, 99), shown(database, 99), recipe_of(database, 99)) == ((), (), None)


def test_pages_under_a_recipe_that_is_not_there_are_not_made_up(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "first")
    with pytest.raises(ConfigurationError, match="no recipe 99"):
        pages(database, recipe_id=99)


def test_a_report_changes_nothing(database: Database) -> None:
    ingest(database, "/a.pdf", "one", "first")

    def everything(connection: sa.Connection) -> list[object]:
        return [connection.execute(sa.select(table)).all() for table in (tables.claim, tables.reading)]

    before = database.run(everything)
    pages(database)
    assert database.run(everything) == before
