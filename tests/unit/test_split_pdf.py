import os
from pathlib import Path

import pymupdf
import pytest

from models.document import MOST_OPEN, MediaType
from models.errors import Code, DocumentRejected, SourceGone
from models.page import PageFacts
from tasks.work.split import open_document, split_pages
from tests import factories

PDF = MediaType.PDF


def _page(path: Path, page_no: int = 1) -> PageFacts:
    (page,) = split_pages(path, PDF, page_no, page_no)
    return page


def _layer(page: PageFacts) -> str:
    """The words of the text layer, a line a line."""
    lines: dict[tuple[int, int], list[str]] = {}
    for word in page.words:
        lines.setdefault((word.block, word.line), []).append(word.text)
    return "\n".join(" ".join(words) for words in lines.values())


def _code(path: Path, passwords: tuple[str, ...] = ()) -> Code:
    with pytest.raises(DocumentRejected) as caught:
        open_document(path, PDF, passwords)
    return caught.value.code


def test_a_sound_document_has_pages_and_nothing_to_remark(tmp_path: Path) -> None:
    path = factories.write(tmp_path / "a.pdf", factories.pdf("ONE", "TWO", title=" A title "))
    facts = open_document(path, PDF)
    assert (facts.page_count, facts.title, facts.notes) == (2, "A title", ())
    assert (facts.is_repaired, facts.is_encrypted, facts.permissions) == (False, False, None)


def test_page_two_says_two(tmp_path: Path) -> None:
    path = factories.write(tmp_path / "a.pdf", factories.pdf("ONE", "TWO", "THREE"))
    assert _page(path, 2).page_no == 2
    assert _layer(_page(path, 2)) == "TWO"
    assert [_layer(page) for page in split_pages(path, PDF, 2, 3)] == ["TWO", "THREE"]


def test_lines_of_the_text_layer_stay_lines(tmp_path: Path) -> None:
    path = factories.write(tmp_path / "a.pdf", factories.pdf("Dear reader,\nhow are you?"))
    assert _layer(_page(path)) == "Dear reader,\nhow are you?"


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_sizes_are_those_of_the_page_as_displayed(tmp_path: Path, rotation: int) -> None:
    path = factories.write(tmp_path / "a.pdf", factories.pdf("x", width=600, height=800, rotation=rotation))
    page = _page(path)
    expected = (600, 800) if rotation in {0, 180} else (800, 600)
    assert (page.width_pt, page.height_pt, page.rotation) == (*expected, rotation)


def test_a_user_unit_makes_the_page_as_large_as_it_says(tmp_path: Path) -> None:
    page = _page(factories.write(tmp_path / "a.pdf", factories.pdf_with("UserUnit", "10")))
    assert (page.width_pt, page.height_pt) == (5950, 8420)


def test_words_outside_the_crop_are_not_on_the_page(tmp_path: Path) -> None:
    path = factories.write(tmp_path / "a.pdf", factories.pdf_with("CropBox", "[0 0 595 400]"))
    page = _page(path)
    assert (page.width_pt, page.height_pt, page.words) == (595, 400, ())


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("MediaBox", "[612 792 0 0]"),
        ("MediaBox", "[0 0 0 0]"),
        ("MediaBox", "[0 0 6.12e2 7.92e2]"),
        ("MediaBox", "[0 0 612]"),
        ("CropBox", "[5000 5000 6000 6000]"),
        ("CropBox", "[0 0 0 0]"),
    ],
)
def test_an_impossible_box_is_repaired_and_noted(tmp_path: Path, key: str, value: str) -> None:
    page = _page(factories.write(tmp_path / "a.pdf", factories.pdf_with(key, value)))
    assert page.notes == ("box-repaired",)
    assert _layer(page) == "Hello boxes"
    assert page.width_pt > 500


@pytest.mark.parametrize("value", ["[0 0 595 842]", "[-10 -10 605.5 842]", "[0 0 +595. .842e]"])
def test_only_impossible_boxes_are_noted(tmp_path: Path, value: str) -> None:
    page = _page(factories.write(tmp_path / "a.pdf", factories.pdf_with("MediaBox", value)))
    assert page.notes == (("box-repaired",) if "e" in value else ())


def test_what_lies_on_the_page_is_in_the_text(tmp_path: Path) -> None:
    """Annotations, form values and text that is drawn invisibly."""
    with pymupdf.open(stream=factories.pdf("Base")) as document:
        page = document[0]
        page.add_freetext_annot(pymupdf.Rect(100, 200, 300, 240), "Annotated")
        widget = pymupdf.Widget()
        widget.field_type, widget.field_name, widget.field_value = pymupdf.PDF_WIDGET_TYPE_TEXT, "f", "Filled"
        widget.rect = pymupdf.Rect(100, 300, 300, 330)
        page.add_widget(widget)
        page.insert_text((100, 400), "Invisible", render_mode=3)
        path = factories.write(tmp_path / "a.pdf", document.tobytes())
    assert {word.text for word in _page(path).words} == {"Base", "Annotated", "Filled", "Invisible"}


def test_control_characters_never_reach_a_word(tmp_path: Path) -> None:
    with pymupdf.open(stream=factories.pdf("AB")) as document:
        cmap = b"begincmap\n1 begincodespacerange <00><ff> endcodespacerange\n"
        cmap += b"1 beginbfrange <00><ff><D800> endbfrange\nendcmap"
        xref = document.get_new_xref()
        document.update_object(xref, "<<>>")
        document.update_stream(xref, cmap)
        font = document[0].get_fonts()[0][0]
        document.xref_set_key(font, "ToUnicode", f"{xref} 0 R")
        path = factories.write(tmp_path / "a.pdf", document.tobytes())
    text = _layer(_page(path))
    text.encode()
    assert all(char.isprintable() for char in text)


def test_a_user_password_is_asked_for(tmp_path: Path) -> None:
    path = factories.write(tmp_path / "a.pdf", factories.encrypted_pdf("Secret", user="u"))
    assert _code(path) is Code.NEEDS_PASSWORD
    assert _code(path, ("wrong", "")) is Code.NEEDS_PASSWORD


def test_each_password_is_tried(tmp_path: Path) -> None:
    path = factories.write(tmp_path / "a.pdf", factories.encrypted_pdf("Secret", user="u"))
    facts = open_document(path, PDF, ("wrong", "u"))
    assert facts.is_encrypted
    (page,) = split_pages(path, PDF, 1, 1, ["wrong", "u"])
    assert _layer(page) == "Secret"


def test_an_owner_password_alone_keeps_nobody_out(tmp_path: Path) -> None:
    path = factories.write(tmp_path / "a.pdf", factories.encrypted_pdf("Readable", permissions=0))
    facts = open_document(path, PDF)
    assert facts.is_encrypted
    assert facts.permissions is not None
    assert not facts.permissions & pymupdf.PDF_PERM_COPY
    assert _layer(_page(path)) == "Readable"


def _skeleton(kids: str, count: int) -> bytes:
    """A hand-written page tree; object 3 is a page."""
    return (
        "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        f"2 0 obj<</Type/Pages/Kids[{kids}]/Count {count}>>endobj\n"
        "3 0 obj<</Type/Page/MediaBox[0 0 99 99]/Parent 2 0 R>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF"
    ).encode()


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"%PDF-1.7\n%%EOF\n", Code.CORRUPT),
        (b"%PDF-1.7\n" + bytes(2000), Code.CORRUPT),
        (_skeleton("", 0), Code.ZERO_PAGES),
        (_skeleton("2 0 R", 1), Code.CORRUPT),
        (_skeleton("3 0 R", 5_000_000), Code.CORRUPT),
    ],
    ids=["header only", "zeros", "no kids", "cycle", "impossible count"],
)
def test_a_document_without_pages_says_what_is_wrong(tmp_path: Path, data: bytes, code: Code) -> None:
    assert _code(factories.write(tmp_path / "a.pdf", data)) is code


def test_a_half_copied_document_is_known_as_repaired(tmp_path: Path) -> None:
    whole = factories.pdf(*(f"Page {number}" for number in range(1, 21)))
    path = factories.write(tmp_path / "a.pdf", whole[: len(whole) // 2])
    facts = open_document(path, PDF)
    assert facts.is_repaired
    pages = split_pages(path, PDF, 1, facts.page_count)
    assert [page.page_no for page in pages] == list(range(1, facts.page_count + 1))
    assert "Page 1" in {_layer(page) for page in pages}


def test_a_page_that_cannot_be_loaded_keeps_its_place(tmp_path: Path) -> None:
    data = factories.pdf_with_broken_page("ONE", "TWO", "THREE", broken=2)
    path = factories.write(tmp_path / "a.pdf", data)
    assert open_document(path, PDF).page_count == 3
    pages = split_pages(path, PDF, 1, 3)
    assert [page.notes for page in pages] == [(), ("unreadable-page",), ()]
    assert [_layer(page) for page in pages] == ["ONE", "", "THREE"]


@pytest.mark.parametrize(
    ("key", "value", "note"),
    [
        ("AcroForm", "<</Fields[]/XFA(x)>>", "xfa-form"),
        ("NeedsRendering", "true", "xfa-form"),
        ("OpenAction", "<</S/JavaScript/JS(app.alert\\(1\\))>>", "javascript"),
        ("Names", "<</JavaScript<</Names[]>>>>", "javascript"),
        ("Names", "<</EmbeddedFiles<</Names[]>>>>", "attachments"),
    ],
)
def test_what_a_page_image_cannot_show_is_noted(tmp_path: Path, key: str, value: str, note: str) -> None:
    path = factories.write(tmp_path / "a.pdf", factories.pdf_with_catalog(key, value))
    assert open_document(path, PDF).notes == (note,)


def test_an_attachment_pinned_to_a_page_is_noted_there(tmp_path: Path) -> None:
    with pymupdf.open(stream=factories.pdf("x")) as document:
        document[0].add_file_annot((100, 100), b"data", "a.txt")
        path = factories.write(tmp_path / "a.pdf", document.tobytes())
    assert _page(path).notes == ("attachments",)


def test_a_signed_document_is_read_and_stays_byte_for_byte_as_it_is(tmp_path: Path) -> None:
    signature = "<</FT/Sig/T(S)/V<</Type/Sig/ByteRange[0 1 2 3]/Contents<00>>>/Rect[0 0 9 9]>>"
    form = f"<</SigFlags 3/Fields[{signature}]>>"
    data = factories.pdf_with_catalog("AcroForm", form)
    path = factories.write(tmp_path / "a.pdf", data)
    assert open_document(path, PDF).page_count == 1
    assert _layer(_page(path)) == "Hello catalog"
    assert path.read_bytes() == data


def test_a_name_that_is_not_utf8_can_be_opened(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.pdf"))
    factories.write(path, factories.pdf("Coffee"))
    assert open_document(path, PDF).page_count == 1
    assert _layer(_page(path)) == "Coffee"


def test_a_file_that_vanished_is_gone_not_corrupt(tmp_path: Path) -> None:
    with pytest.raises(SourceGone):
        open_document(tmp_path / "a.pdf", PDF)


def test_a_changed_file_is_never_shown_from_memory(tmp_path: Path) -> None:
    path = factories.write(tmp_path / "a.pdf", factories.pdf("OLD"))
    assert _layer(_page(path)) == "OLD"
    factories.write(path, factories.pdf("NEW AND LONGER"))
    assert _layer(_page(path)) == "NEW AND LONGER"


@pytest.mark.slow
def test_splitting_often_leaves_no_file_open(tmp_path: Path) -> None:
    paths = [factories.write(tmp_path / f"{number}.pdf", factories.pdf("x")) for number in range(12)]
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(30):
        for path in paths:
            split_pages(path, PDF, 1, 1)
    assert len(list(Path("/proc/self/fd").iterdir())) <= before + MOST_OPEN
