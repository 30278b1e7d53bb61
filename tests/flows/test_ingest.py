"""Ingest end to end on real files, processes and tables; only the answers of the engine are scripted."""

import os
import shutil

from models.document import DocumentStatus
from models.errors import Code, PageFailed
from models.reading import FinishReason, Reading, ReadingSource
from tasks.work.engines.fake import said
from tests import factories
from tests.flows.yard import Yard, saying


def test_a_folder_becomes_documents_with_a_reading_for_every_page(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO", "THREE"))
    factories.write(yard.inbox / "b.pdf", factories.pdf("only"))
    yard.ingest()
    document = yard.document("a.pdf")
    assert (document.status, document.page_count) == (DocumentStatus.COMPLETE, 3)
    assert [row.page_no for row in yard.rows("reading", document_id=document.id)] == [1, 2, 3]
    assert yard.document("b.pdf").status is DocumentStatus.COMPLETE


def test_a_second_run_reads_nothing_and_changes_nothing(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO"))
    yard.ingest()
    before = {table: yard.rows(table) for table in ("reading", "edition", "chunk", "page", "page_image")}
    again = yard.ingest()
    assert again.requests == []
    assert before == {table: yard.rows(table) for table in before}


def test_another_recipe_reads_again_beside_the_old_readings(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE"))
    yard.ingest()
    yard.ingest(recipe=("long_edge_px=1000",))
    readings = yard.rows("reading")
    assert len(readings) == 2
    assert len({row.recipe_id for row in readings}) == 2
    assert len(yard.rows("edition")) == 2
    assert yard.document("a.pdf").edition_id == yard.rows("edition")[1].id


def test_equal_pictures_are_read_once(yard: Yard) -> None:
    page = factories.picture_bytes(factories.picture("the same page"))
    factories.write(yard.inbox / "a.png", page)
    factories.write(yard.inbox / "other name.png", page)
    engine = yard.ingest()
    assert len(engine.requests) == 1
    assert len(yard.rows("document")) == 1
    assert len(yard.rows("source")) == 2


def test_one_bad_page_makes_the_document_partial_and_keeps_its_place(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO", "THREE"))
    torn = PageFailed("torn", Code.OCR_FAILED)
    yard.ingest(saying(said("first"), torn, said("third")))
    document = yard.document("a.pdf")
    assert document.status is DocumentStatus.PARTIAL
    pages = yard.rows("edition_page", edition_id=document.edition_id)
    bad = [row for row in pages if row.verdict == "bad"]
    assert len(pages) == 3
    assert [(row.code, row.message) for row in bad] == [("ocr-failed", "torn")]


def test_an_answer_cut_at_the_limit_is_never_good_nor_searchable(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO"))
    cut = Reading(ReadingSource.OCR, "half a ta", said("half a ta").blocks, FinishReason.LENGTH)
    yard.ingest(saying(cut))
    assert yard.document("a.pdf").status is DocumentStatus.PARTIAL
    assert sorted(row.verdict for row in yard.rows("reading")) == ["bad", "good"]
    assert not [row for row in yard.rows("chunk") if "half" in row.text]


def test_a_page_that_renders_for_ever_is_given_up_and_the_rest_goes_on(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.endless_pdf(before=1, after=1))
    yard.settings = yard.settings.model_copy(update={"render_timeout_s": 5.0})
    engine = yard.ingest()
    document = yard.document("a.pdf")
    assert (document.status, document.code) == (DocumentStatus.PARTIAL, "render-timeout")
    assert len(engine.requests) == 2


def test_a_bad_file_first_of_many_stops_nobody(yard: Yard) -> None:
    factories.write(yard.inbox / "0.pdf", b"")
    factories.write(yard.inbox / "1.pdf", b"<html><body>Login required</body></html>")
    factories.write(yard.inbox / "2.pdf", factories.encrypted_pdf("secret", user="u"))
    factories.write(yard.inbox / "3.pdf", factories.pdf("fine"))
    yard.ingest()
    codes = [yard.document(f"{n}.pdf").code for n in range(3)]
    assert codes == ["empty", "unsupported-type", "needs-password"]
    assert {yard.document(f"{n}.pdf").status for n in range(3)} == {DocumentStatus.REJECTED}
    assert yard.document("3.pdf").status is DocumentStatus.COMPLETE


def test_a_moved_file_is_not_read_again(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE"))
    yard.ingest()
    shutil.move(yard.inbox / "a.pdf", yard.inbox / "b.pdf")
    assert yard.ingest().requests == []
    assert yard.document("b.pdf").status is DocumentStatus.COMPLETE


def test_changed_content_under_a_name_takes_the_place_of_the_old(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("1", "2", "3", "4", "5"))
    yard.ingest()
    old = yard.document("a.pdf")
    factories.write(yard.inbox / "a.pdf", factories.pdf("new 1", "new 2", "new 3"))
    os.utime(yard.inbox / "a.pdf")
    yard.ingest()
    shown = [row for row in yard.rows("document") if row.edition_id]
    assert [row.page_count for row in shown] == [3]
    assert old.id not in {row.id for row in shown}
