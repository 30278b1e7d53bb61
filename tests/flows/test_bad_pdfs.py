"""Bad PDFs through the whole pipeline: a clear end with a code, nothing lost, the rest goes on."""

import hashlib
from collections.abc import Callable

import pymupdf
import pytest

from models.document import DocumentStatus
from models.errors import EngineUnavailable
from tasks.work.engines.fake import said
from tests import factories
from tests.flows.engines import InkEngine, LayerEngine
from tests.flows.yard import Yard, saying

# Each starts worker processes; `make check` has a minute.
pytestmark = pytest.mark.slow


def _verdicts(yard: Yard, name: str) -> list[str]:
    edition_id = yard.document(name).edition_id
    return [row.verdict for row in yard.rows("edition_page", edition_id=edition_id)]


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_a_half_copied_document_is_never_complete(yard: Yard, share: float) -> None:
    whole = factories.pdf(*(f"Page {number}" for number in range(1, 21)))
    factories.write(yard.inbox / "a.pdf", whole[: int(len(whole) * share)])
    yard.ingest()
    document = yard.document("a.pdf")
    assert document.status in {DocumentStatus.PARTIAL, DocumentStatus.REJECTED}
    assert document.code in {"render-failed", "corrupt"}
    assert document.message is not None


def _pages_first(count: int) -> bytes:
    """A PDF whose page objects stand before all that is drawn on them: cut off, its last pages are blank."""
    with pymupdf.open() as document:
        for _ in range(count):
            document.new_page()
        for page in document:
            page.insert_text((72, 96), f"Page {page.number + 1}")
        return bytes(document.tobytes())


def test_of_a_half_copied_document_what_is_there_is_read_and_what_is_not_is_told(yard: Yard) -> None:
    whole = _pages_first(20)
    factories.write(yard.inbox / "a.pdf", whole[: int(len(whole) * 0.7)])
    factories.write(yard.inbox / "b.pdf", factories.pdf("whole"))
    yard.ingest()
    document = yard.document("a.pdf")
    assert (document.status, document.code) == (DocumentStatus.NEEDS_REVIEW, "file-repaired")
    assert document.is_repaired
    verdicts = _verdicts(yard, "a.pdf")
    assert len(verdicts) == 20
    assert {"good", "blank"} == set(verdicts)
    assert f"{verdicts.count('blank')} of its 20 pages are blank" in (document.message or "")
    assert yard.document("b.pdf").status is DocumentStatus.COMPLETE


def test_the_whole_copy_of_a_half_copied_document_takes_its_place(yard: Yard) -> None:
    whole = factories.pdf(*(f"Page {number}" for number in range(1, 21)))
    factories.write(yard.inbox / "a.pdf", whole[: len(whole) // 2])
    yard.ingest()
    half = yard.document("a.pdf")
    factories.write(yard.inbox / "a.pdf", whole)
    yard.ingest()
    assert yard.document("a.pdf").status is DocumentStatus.COMPLETE
    assert [row.id for row in yard.rows("document") if row.edition_id] == [yard.document("a.pdf").id]
    assert yard.document("a.pdf").id != half.id


def test_a_password_is_asked_for_once_and_the_next_run_with_it_reads(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.encrypted_pdf("Secret", user="u"))
    yard.ingest()
    yard.ingest()
    refused = yard.document("a.pdf")
    assert (refused.status, refused.code) == (DocumentStatus.REJECTED, "needs-password")
    assert [(row.attempt, row.outcome) for row in yard.rows("stage_run")] == [(1, "failed")]
    passwords = factories.write(yard.inbox.parent / "passwords", b"wrong\nu\n")
    yard.settings = yard.settings.model_copy(update={"password_file": passwords})
    yard.ingest()
    opened = yard.document("a.pdf")
    assert (opened.status, opened.code) == (DocumentStatus.COMPLETE, None)


def test_a_password_file_without_the_right_one_changes_nothing(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.encrypted_pdf("Secret", user="u"))
    passwords = factories.write(yard.inbox.parent / "passwords", "ungültig\n\n".encode())
    yard.settings = yard.settings.model_copy(update={"password_file": passwords})
    assert yard.ingest().requests == []
    assert yard.document("a.pdf").code == "needs-password"


def test_an_owner_password_alone_keeps_nobody_out(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.encrypted_pdf("Readable", permissions=0))
    yard.ingest(LayerEngine())
    assert yard.document("a.pdf").status is DocumentStatus.COMPLETE
    assert [row.text for row in yard.rows("chunk")] == ["Readable"]
    assert yard.rows("document")[0].is_encrypted


def test_a_gigantic_page_is_read_within_the_budget_and_its_scale_is_kept(yard: Yard) -> None:
    data = factories.pdf("Tiny", width=20_000, height=20_000)
    factories.write(yard.inbox / "a.pdf", data)
    factories.write(yard.inbox / "b.pdf", factories.pdf_with("UserUnit", "10"))
    yard.ingest()
    assert yard.document("b.pdf").status is DocumentStatus.COMPLETE
    (image,) = yard.rows("page_image", document_id=yard.document("a.pdf").id)
    assert max(image.width_px, image.height_px) == 1540
    assert image.transform.a == pytest.approx(20_000 / 1540, rel=0.01)
    assert "downscaled" in image.notes


def test_when_page_25_of_50_fails_in_passing_the_next_run_reads_only_that(yard: Yard) -> None:
    retry = yard.settings.retry.model_copy(
        update={"ocr": yard.settings.retry.ocr.model_copy(update={"attempts": 1})}
    )
    yard.settings = yard.settings.model_copy(update={"retry": retry})
    factories.write(yard.inbox / "a.pdf", factories.pdf(*(f"Page {n}" for n in range(1, 51))))
    yard.ingest(saying(*[said("fine")] * 24, EngineUnavailable("no answer")))
    document = yard.document("a.pdf")
    assert (document.status, document.code) == (DocumentStatus.PARTIAL, "engine-unavailable")
    assert len(yard.rows("reading")) == 49
    again = yard.ingest()
    assert len(again.requests) == 1
    assert len(yard.rows("reading")) == 50
    assert yard.document("a.pdf").status is DocumentStatus.COMPLETE


def test_a_page_that_cannot_be_drawn_is_not_tried_again_and_again(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf_with_broken_page("1", "2", "3", broken=2))
    yard.ingest()
    document = yard.document("a.pdf")
    assert (document.status, document.code) == (DocumentStatus.PARTIAL, "render-failed")
    assert _verdicts(yard, "a.pdf") == ["good", "bad", "good"]
    before = len(yard.rows("stage_run"))
    assert yard.ingest().requests == []
    assert len(yard.rows("stage_run")) == before


@pytest.mark.parametrize(
    ("key", "value"),
    [("MediaBox", "[612 792 0 0]"), ("MediaBox", "[0 0 0 0]"), ("CropBox", "[5000 5000 6000 6000]")],
)
def test_a_page_with_impossible_boxes_is_read_and_says_so(yard: Yard, key: str, value: str) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf_with(key, value))
    assert len(yard.ingest().requests) == 1
    assert yard.document("a.pdf").status is DocumentStatus.COMPLETE
    assert "box-repaired" in {row.code for row in yard.rows("finding")}


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_boxes_of_a_turned_page_stand_where_its_words_are_read(yard: Yard, rotation: int) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("Turned", rotation=rotation))
    engine = yard.ingest(InkEngine())
    (page,) = yard.rows("page")
    (image,) = yard.rows("page_image")
    assert (page.width_pt > page.height_pt) == (image.width_px > image.height_px) == (rotation != 180)
    ((shown,),) = [row.boxes for row in yard.rows("chunk")]
    word = engine.requests[0].words[0].box
    assert (shown.page_no, page.rotation) == (1, rotation)
    assert word.x0 - 2 < shown.box.x0 < shown.box.x1 < word.x1 + 2
    assert word.y0 - 2 < shown.box.y0 < shown.box.y1 < word.y1 + 2


def test_hidden_text_on_an_empty_page_is_found_by_nobody(yard: Yard) -> None:
    with pymupdf.open(stream=factories.pdf("")) as document:
        document[0].insert_text((72, 96), "Nobody sees this", render_mode=3)
        factories.write(yard.inbox / "a.pdf", document.tobytes())
    assert yard.ingest(LayerEngine()).requests == []
    assert _verdicts(yard, "a.pdf") == ["blank"]
    assert yard.rows("chunk") == []


def test_what_is_stamped_and_filled_in_is_read_with_the_page(yard: Yard) -> None:
    with pymupdf.open(stream=factories.pdf("", "")) as document:
        document[0].add_freetext_annot(pymupdf.Rect(100, 200, 300, 240), "Annotated")
        field = pymupdf.Widget()
        field.field_name, field.field_value = "name", "Filled in"
        field.field_type, field.rect = pymupdf.PDF_WIDGET_TYPE_TEXT, pymupdf.Rect(100, 200, 300, 240)
        document[1].add_widget(field)
        factories.write(yard.inbox / "a.pdf", document.tobytes())
    yard.ingest(LayerEngine())
    assert [row.text for row in yard.rows("reading")] == ["Annotated", "Filled in"]
    yard.ingest(LayerEngine(), recipe=("annotations=false",))
    assert _verdicts(yard, "a.pdf") == ["blank", "blank"]


_ZIP = b"PK\x03\x04" + bytes(60)
_NO_PAGES = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF"
)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty"),
        (b"%PDF-1.7\n%%EOF\n", "corrupt"),
        (_ZIP, "unsupported-type"),
        (b"just words", "unsupported-type"),
        (_NO_PAGES, "zero-pages"),
    ],
    ids=["no bytes", "header only", "zip", "words", "no pages"],
)
def test_a_document_with_nothing_in_it_is_refused_and_says_why(yard: Yard, data: bytes, code: str) -> None:
    factories.write(yard.inbox / "a.pdf", data)
    factories.write(yard.inbox / "b.pdf", factories.pdf("fine"))
    yard.ingest()
    document = yard.document("a.pdf")
    assert (document.status, document.code) == (DocumentStatus.REJECTED, code)
    assert (document.message or "").endswith(".")
    assert document.edition_id is None
    assert yard.document("b.pdf").status is DocumentStatus.COMPLETE


def test_page_2_says_two_in_every_table(yard: Yard) -> None:
    texts = [f"{word} stands here" for word in ("ONE", "TWO", "THREE")]
    factories.write(yard.inbox / "a.pdf", factories.pdf(*texts))
    yard.ingest(LayerEngine())
    said_by_page = {row.page_no: row.text for row in yard.rows("reading")}
    assert said_by_page == dict(enumerate(texts, start=1))
    edition = yard.rows("edition_page")
    assert [row.page_no for row in edition] == [1, 2, 3]
    assert all(1 in row.pages for row in yard.rows("chunk") if "ONE" in row.text)
    assert all(2 in row.pages for row in yard.rows("chunk") if "TWO" in row.text)


@pytest.mark.parametrize("make", [factories.pdf, factories.encrypted_pdf])
def test_the_bytes_of_a_source_are_never_altered(yard: Yard, make: Callable[..., bytes]) -> None:
    path = factories.write(yard.inbox / "a.pdf", make("Signed and sealed"))
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    yard.ingest()
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert yard.document("a.pdf").sha256 == hashlib.sha256(before[0]).hexdigest()
