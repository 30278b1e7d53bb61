"""Documents and pages as people see them."""

import pytest
from rich.console import Console

from cli.showing import page_of, print_facts, print_page, print_pages
from cli.status import counted, listing
from cli.views import called, excuse, file_name, is_missing
from models.document import DocumentStatus
from models.errors import Code, ConfigurationError
from models.reading import Trial
from models.verdict import Finding, Severity, Verdict
from tests.unit import shown

FINDING = Finding("low-confidence", Severity.WARNING, "The engine is not sure.")


def test_a_document_is_called_by_its_title_else_its_file_else_its_hash() -> None:
    assert called(shown.document(title=" Pump manual ")) == "Pump manual"
    assert called(shown.document()) == "pumps.pdf"
    assert called(shown.document(sources=())) == "ab12cd34ab12"


def test_names_are_printable() -> None:
    odd = b"/scans/a\x1b\xe9.pdf".decode("utf-8", "surrogateescape")
    assert file_name(shown.document(sources=(odd,))) == "a\\x1b\\xe9.pdf"


def test_the_list_says_status_and_reason() -> None:
    out = Console(width=120, markup=False)
    refused = shown.document(id=8, status=DocumentStatus.REJECTED, code="empty", message="The file is empty.")
    with out.capture() as captured:
        out.print(listing([shown.document(status=DocumentStatus.NEEDS_REVIEW), refused]))
    lines = captured.get().splitlines()
    assert lines[1].split() == ["7", "pumps.pdf", "1", "needs", "review"]
    assert "rejected" in lines[2]
    assert "The file is empty. (empty)" in lines[2]
    assert counted([shown.document(), refused]) == "2 documents: 1 complete, 1 rejected"


def test_the_list_says_that_no_file_holds_a_document_any_more() -> None:
    out = Console(width=120, markup=False)
    here, there = "/scans/pumps.pdf", "/scans/old.pdf"
    gone = [
        shown.document(sources=(here,), gone=(here,)),
        shown.document(sources=(here, there), gone=(there,)),
    ]
    with out.capture() as captured:
        out.print(listing(gone))
    assert ["gone or replaced" in line for line in captured.get().splitlines()] == [False, True, False]


def test_every_page_has_an_excuse_or_a_text() -> None:
    assert excuse(shown.page(1)) == ""
    assert excuse(shown.blank_page(2)) == "Page 2 is blank."
    assert excuse(shown.unread_page(3)) == "Page 3 has not been read yet."
    assert excuse(shown.bad_page(4)) == "Page 4 could not be read (render-timeout): It took too long."


def test_a_page_waiting_for_another_try_says_why() -> None:
    waiting = shown.page(5, "", verdict=None, source=None, code="engine-unavailable", message="It is down.")
    assert excuse(waiting) == "Page 5 could not be read (engine-unavailable): It is down."


def test_a_doubtful_page_is_shown_and_a_bad_one_is_not() -> None:
    assert not is_missing(shown.page(1, verdict=Verdict.SUSPECT))
    assert is_missing(shown.bad_page(1))
    assert not is_missing(shown.blank_page(1))


def test_a_page_that_is_not_there_is_told_with_how_many_there_are() -> None:
    with pytest.raises(ConfigurationError, match="has no page 3; it has 2 pages") as caught:
        page_of(shown.view(shown.page(1), shown.page(2)), 3)
    assert caught.value.code is Code.NOT_FOUND


def test_facts_tell_type_hash_sources_and_reason(capsys: pytest.CaptureFixture[str]) -> None:
    print_facts(
        shown.view(
            status=DocumentStatus.PARTIAL, code="loop", message="Page 2 repeats itself.", is_repaired=True
        )
    )
    text = capsys.readouterr().out
    for fact in (
        "partial",
        "Page 2 repeats itself. (loop)",
        "12,345 bytes",
        shown.SHA,
        "/scans/pumps.pdf",
        "repaired",
    ):
        assert fact in text


def test_pages_are_listed_with_verdict_and_remarks(capsys: pytest.CaptureFixture[str]) -> None:
    print_pages(
        shown.view(shown.page(1, "Hello", findings=(FINDING,)), shown.bad_page(2), shown.unread_page(3))
    )
    lines = [line for line in capsys.readouterr().out.splitlines() if line]
    assert lines[1].split() == ["1", "good", "ocr", "0.50", "5", "low-confidence"]
    assert "It took too long. (render-timeout)" in lines[2]
    assert lines[3].split() == ["3", "not", "read", "yet"]


def test_a_refused_document_tells_its_reason_once(capsys: pytest.CaptureFixture[str]) -> None:
    view = shown.view(code="needs-password", message="It needs a password.")
    print_facts(view)
    print_pages(view)
    told = capsys.readouterr().out
    assert told.count("It needs a password. (needs-password)") == told.count("password.") == 1
    assert "This document has no pages." in told


def test_a_document_that_was_never_read_says_so_in_place_of_pages(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_pages(shown.view())
    assert "This document has no pages: it has not been read yet." in capsys.readouterr().out


def test_a_page_shows_verdict_findings_and_text(capsys: pytest.CaptureFixture[str]) -> None:
    page = shown.page(
        2, "a [bold]line[/bold]\n  indented", verdict=Verdict.SUSPECT, confidence=0.875, findings=(FINDING,)
    )
    print_page(shown.view(shown.page(1), page), page)
    assert capsys.readouterr().out.splitlines() == [
        "pumps.pdf, page 2 of 2, 595 × 842 pt: suspect",
        "ocr by tiny 1 in 0.50 s, confidence 0.88",
        "warning low-confidence: The engine is not sure.",
        "",
        "a [bold]line[/bold]",
        "  indented",
    ]


def test_a_page_tells_the_size_of_its_picture_why_and_what_that_saves(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sized = {"image_width_px": 1120, "image_height_px": 1596, "image_reason": "legible-layer"}
    for saved in (5064, 0):
        page = shown.page(1, **sized, tokens_saved=saved)
        print_page(shown.view(page), page)
    told = capsys.readouterr().out.splitlines()
    assert "picture 1,120 × 1,596 px (legible-layer), 5,064 image tokens fewer than at the most" in told
    assert "picture 1,120 × 1,596 px (legible-layer)" in told
    page = shown.page(1, **sized, trial=Trial("larger", width_px=2030, height_px=2884))
    print_page(shown.view(page), page)
    told = capsys.readouterr().out.splitlines()
    assert "picture 2,030 × 2,884 px (larger); at first 1,120 × 1,596 px" in told


def test_long_lines_of_a_text_are_not_broken(capsys: pytest.CaptureFixture[str]) -> None:
    page = shown.page(1, "word " * 100 + "end")
    print_page(shown.view(page), page)
    assert "word " * 100 + "end" in capsys.readouterr().out


def test_a_bad_page_says_why_and_what_was_read_all_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    page = shown.page(1, "la la la", verdict=Verdict.BAD, code="loop", message="It repeats itself.")
    print_page(shown.view(page), page)
    text = capsys.readouterr().out
    assert "Page 1 could not be read (loop): It repeats itself." in text
    assert text.index("What was read all the same") < text.index("la la la")
