"""What is kept of pages, pictures and readings, and what stages get to work on."""

from dataclasses import replace

import sqlalchemy as sa

from db import documents, pages, readings, reports, runs, tables
from db.engine import Database
from models.document import DocumentFacts
from models.geometry import Box
from models.layer import pack
from models.page import Word
from models.reading import Block, BlockType, FinishReason, ReadingSource
from models.stage import Stage
from models.verdict import Verdict
from models.work import PageResult
from tests.db import steps
from tests.db.steps import count, image, intake, lease, prepare, read, reading, register, result, sha, split


def test_a_page_comes_back_as_it_was_split(database: Database) -> None:
    register(database, intake("/a.pdf"))
    claim = lease(database, Stage.SPLIT)[0]
    facts = steps.page(1, "two", "words𝑥")
    assert database.run(lambda conn: pages.save_pages(conn, claim, [facts]))
    prepare(database)
    item = database.run(lambda conn: pages.to_read(conn, lease(database, Stage.OCR)))[0]
    assert item.facts == facts
    assert item.image == image("1-1")


def test_word_boxes_keep_a_hundredth_of_a_point(database: Database) -> None:
    register(database, intake("/a.pdf"))
    claim = lease(database, Stage.SPLIT)[0]
    word = Word("w", Box(1.23456, 2, 3.999, 4), 7, 8)
    page = steps.PageFacts(1, 100.0, 200.0, words=(word,))
    database.run(lambda conn: pages.save_pages(conn, claim, [page]))
    prepare(database)
    item = database.run(lambda conn: pages.to_read(conn, lease(database, Stage.OCR)))[0]
    assert item.facts.words == (Word("w", Box(1.23, 2, 4.0, 4), 7, 8),)


def test_a_layer_that_was_packed_elsewhere_is_kept_as_it_is(database: Database) -> None:
    register(database, intake("/a.pdf"))
    claim = lease(database, Stage.SPLIT)[0]
    facts = steps.page(1, "two", "words")
    bare = replace(facts, words=())
    packed = {1: pack(facts.words)}
    assert database.run(lambda conn: pages.save_pages(conn, claim, [bare], packed))
    prepare(database)
    item = database.run(lambda conn: pages.to_read(conn, lease(database, Stage.OCR)))[0]
    assert item.facts == facts
    chars = sa.select(tables.page.c.layer_chars)
    assert database.run(lambda conn: conn.execute(chars).scalar_one()) == 8


def test_a_layer_that_the_recipe_ignores_is_not_fetched(database: Database) -> None:
    recipe = steps.RECIPE.model_copy(update={"text_layer": "ignore"})
    register(database, intake("/a.pdf"), recipe=recipe)
    split(database, 1)
    prepare(database, recipe=recipe)
    item = database.run(lambda conn: pages.to_read(conn, lease(database, Stage.OCR)))[0]
    assert (item.facts.page_no, item.facts.words) == (1, ())


def test_what_split_says_of_a_file_is_kept(database: Database) -> None:
    register(database, intake("/a.pdf"))
    notes = ("xfa-form",)
    split(database, 2, DocumentFacts(2, True, True, permissions=-44, title="T", notes=notes))
    document = database.run(lambda conn: documents.get(conn, "1"))
    assert (document.page_count, document.is_repaired, document.title) == (2, True, "T")
    row = database.run(lambda conn: conn.execute(sa.select(tables.document)).one())
    assert (row.is_encrypted, row.permissions, row.notes) == (True, -44, notes)


def test_a_split_that_broke_off_says_where_it_was_and_doubles_nothing(database: Database) -> None:
    register(database, intake("/a.pdf"))
    claim = lease(database, Stage.SPLIT)[0]
    slice_ = [steps.page(number) for number in range(1, 65)]
    for _ in range(2):
        database.run(lambda conn: pages.save_pages(conn, claim, slice_))
    item = database.run(lambda conn: documents.to_split(conn, [claim]))[0]
    assert (item.pages_saved, item.sha256) == (64, sha("one"))
    assert count(database, tables.page) == 64
    assert len(lease(database, Stage.PREPROCESS)) == 64


def test_another_recipe_takes_over_the_split_and_the_pictures(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 3)
    prepare(database)
    register(database, intake("/a.pdf"), recipe=steps.OTHER_RECIPE)
    claim = lease(database, Stage.SPLIT)[0]
    assert database.run(lambda conn: pages.reuse_split(conn, claim)) == 3
    items = database.run(lambda conn: pages.to_preprocess(conn, lease(database, Stage.PREPROCESS)))
    assert [item.image for item in items] == [image(f"1-{number}") for number in (1, 2, 3)]
    assert [item.facts.page_no for item in items] == [1, 2, 3]


def test_pages_saved_under_another_recipe_get_claims_when_the_split_ends(database: Database) -> None:
    register(database, intake("/a.pdf"))
    broken_off = lease(database, Stage.SPLIT)[0]
    database.run(lambda conn: pages.save_pages(conn, broken_off, [steps.page(1)]))
    register(database, intake("/a.pdf"), recipe=steps.OTHER_RECIPE)
    claim = lease(database, Stage.SPLIT)[0]
    database.run(lambda conn: pages.save_pages(conn, claim, [steps.page(2)]))
    database.run(lambda conn: pages.finish_split(conn, claim, DocumentFacts(2)))
    mine = [c.page_no for c in lease(database, Stage.PREPROCESS) if c.recipe_id == claim.recipe_id]
    assert sorted(mine) == [1, 2]


def test_a_document_never_split_has_no_split_to_take_over(database: Database) -> None:
    register(database, intake("/a.pdf"))
    claim = lease(database, Stage.SPLIT)[0]
    assert database.run(lambda conn: pages.reuse_split(conn, claim)) is None


def test_a_blank_page_is_done_without_ocr(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 2)
    prepare(database, blank=[1])
    assert [claim.page_no for claim in lease(database, Stage.OCR)] == [2]
    page = database.run(lambda conn: reports.pages(conn, 1))[0]
    assert (page.verdict, page.source, page.text) == (Verdict.BLANK, ReadingSource.NONE, "")


def test_a_reading_comes_back_whole_with_its_findings(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 1)
    prepare(database)
    claim = lease(database, Stage.OCR)[0]
    table = Block(
        BlockType.TABLE, "a\tb", Box(1, 2, 3, 4), rows=(("a", "b"),), html="<table>", confidence=0.5
    )
    full = reading(
        blocks=(table,),
        finish_reason=FinishReason.LENGTH,
        tokens_in=1,
        tokens_out=2,
        confidence=0.75,
        layer_agreement=0.5,
        raw="raw",
        notes=("layer-rejected",),
    )
    judged = PageResult(claim, full, Verdict.BAD, result(claim, verdict=Verdict.BAD).findings, sha("1-1"))
    assert database.run(lambda conn: readings.save(conn, [judged])) == {claim.id}
    page = database.run(lambda conn: reports.pages(conn, 1))[0]
    assert page.blocks == (table,)
    assert page.findings == judged.findings
    assert (page.tokens_out, page.confidence, page.code) == (2, 0.75, "truncated")


def test_a_reading_is_never_overwritten_but_superseded_by_the_next(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 1)
    prepare(database)
    read(database, "first")
    with database.begin() as connection:
        again = sa.update(tables.claim).where(tables.claim.c.page_no == 1)
        connection.execute(again.values(status="ready", stage="ocr"))
    read(database, "second", bad=[1])
    page = database.run(lambda conn: reports.pages(conn, 1))[0]
    assert (page.text, page.verdict) == ("second", Verdict.BAD)
    texts = sa.select(tables.reading.c.text, tables.reading.c.superseded_at).order_by(tables.reading.c.id)
    old, new = database.run(lambda conn: conn.execute(texts).all())
    assert (old.text, new.text, new.superseded_at) == ("first", "second", None)
    assert old.superseded_at is not None


def test_a_page_asked_for_again_and_a_bad_reading_are_never_copied(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 2)
    prepare(database)
    read(database, bad=[2])
    with database.begin() as connection:
        again = sa.update(tables.claim).where(tables.claim.c.page_no > 0)
        connection.execute(again.values(status="ready", stage="ocr"))
        connection.execute(sa.update(tables.page_image).values(sha256=sha("the same")))
        connection.execute(sa.update(tables.reading).values(image_sha256=sha("the same")))
        connection.execute(sa.delete(tables.reading).where(tables.reading.c.page_no == 1))
    pages_again = lease(database, Stage.OCR)
    assert database.run(lambda conn: readings.cached(conn, pages_again)) == {}


def test_an_equal_picture_under_the_same_recipe_is_known_already(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 1)
    prepare(database)
    read(database, "known")
    register(database, intake("/b.pdf", "other bytes"))
    split(database, 1)
    twin = lease(database, Stage.PREPROCESS)[0]
    same = steps.PreparedPage(twin, steps.RECIPE.preprocess_key, image("1-1"))
    database.run(lambda conn: pages.save_images(conn, [same]))
    claim = lease(database, Stage.OCR)[0]
    known = database.run(lambda conn: readings.cached(conn, [claim]))[claim.id]
    assert known.reading == reading("known")
    copy = PageResult(claim, known.reading, Verdict.GOOD, (), sha("1-1"), cached_from=known.id)
    database.run(lambda conn: readings.save(conn, [copy]))
    assert database.run(lambda conn: reports.pages(conn, 2))[0].cached_from == known.id


def test_another_recipe_reads_an_equal_picture_anew(database: Database) -> None:
    register(database, intake("/a.pdf"))
    split(database, 1)
    prepare(database)
    read(database)
    register(database, intake("/a.pdf"), recipe=steps.OTHER_RECIPE)
    split(database, 1)
    prepare(database, recipe=steps.OTHER_RECIPE)
    assert database.run(lambda conn: readings.cached(conn, lease(database, Stage.OCR))) == {}
    assert database.run(lambda conn: runs.recipe(conn, 1)) == steps.RECIPE


def test_a_page_not_read_yet_is_shown_without_a_verdict(database: Database) -> None:
    register(database, intake("/a.pdf"))
    assert database.run(lambda conn: reports.pages(conn, 1)) == ()
    split(database, 2)
    assert [page.verdict for page in database.run(lambda conn: reports.pages(conn, 1))] == [None, None]
