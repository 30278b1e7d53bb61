"""Findings become verdicts, verdicts become the status of a document."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.document import DocumentStatus
from models.edition import document_status, reason
from models.reading import Reading, ReadingSource
from models.verdict import Finding, Severity, Verdict
from models.work import PageToLoad
from tasks.work.checks import badness, verdict

READ = Reading(ReadingSource.OCR, "text", ())
UNREAD = Reading(ReadingSource.NONE, "", ())


def finding(severity: Severity) -> Finding:
    return Finding("code", severity, "message")


@pytest.mark.parametrize(
    ("severities", "expected"),
    [
        ([], Verdict.GOOD),
        ([Severity.INFO], Verdict.GOOD),
        ([Severity.INFO, Severity.WARNING], Verdict.SUSPECT),
        ([Severity.WARNING, Severity.ERROR], Verdict.BAD),
    ],
)
def test_the_heaviest_finding_decides(severities: list[Severity], expected: Verdict) -> None:
    assert verdict(READ, [finding(severity) for severity in severities]) is expected


@pytest.mark.parametrize("code", ["html-repaired", "json-repaired", "fence-stripped", "tokens-stripped"])
def test_a_good_answer_that_was_mended_is_repaired(code: str) -> None:
    mended = Finding(code, Severity.INFO, "message")
    assert verdict(READ, [mended]) is Verdict.REPAIRED
    assert verdict(READ, [mended, finding(Severity.WARNING)]) is Verdict.SUSPECT


def test_a_text_layer_is_not_repaired_but_cleaned() -> None:
    layer = Reading(ReadingSource.TEXT_LAYER, "text", ())
    assert verdict(layer, [Finding("text-cleaned", Severity.INFO, "message")]) is Verdict.GOOD


def test_the_least_bad_attempt_comes_first() -> None:
    repaired = [Finding("json-repaired", Severity.INFO, "message")]
    suspect = [finding(Severity.WARNING)]
    cut = [Finding("truncated", Severity.ERROR, "message")]
    cut_and_looping = [*cut, Finding("loop", Severity.ERROR, "message")]
    empty = [Finding("empty-with-ink", Severity.ERROR, "message")]
    order = [[], repaired, suspect, [*suspect, *suspect], cut, cut_and_looping, empty]
    shuffled = random.Random(2).sample(order, len(order))
    assert sorted(shuffled, key=badness) == order


def test_other_notes_make_no_attempt_worse() -> None:
    assert badness([finding(Severity.INFO)]) == badness([])


def test_a_page_that_nobody_had_to_read_is_blank() -> None:
    assert verdict(UNREAD, []) is Verdict.BLANK
    assert verdict(UNREAD, [finding(Severity.INFO)]) is Verdict.BLANK


def test_a_finding_weighs_more_than_blankness() -> None:
    assert verdict(UNREAD, [finding(Severity.ERROR)]) is Verdict.BAD


def status(*verdicts: Verdict, is_repaired: bool = False) -> DocumentStatus:
    return document_status(verdicts, is_repaired=is_repaired)


def test_good_and_blank_pages_make_a_complete_document() -> None:
    assert status(Verdict.GOOD, Verdict.BLANK, Verdict.REPAIRED) is DocumentStatus.COMPLETE


def test_one_bad_page_never_loses_a_document() -> None:
    assert status(Verdict.GOOD, Verdict.BAD, Verdict.GOOD) is DocumentStatus.PARTIAL


def test_a_page_that_nobody_read_counts_as_bad() -> None:
    assert status(Verdict.GOOD, Verdict.SKIPPED) is DocumentStatus.PARTIAL


def test_nothing_but_bad_pages_is_a_failure() -> None:
    assert status(Verdict.BAD, Verdict.SKIPPED) is DocumentStatus.FAILED


def test_a_doubtful_page_asks_for_a_person() -> None:
    assert status(Verdict.GOOD, Verdict.SUSPECT) is DocumentStatus.NEEDS_REVIEW


def test_a_half_copied_file_is_never_complete() -> None:
    assert status(Verdict.GOOD, Verdict.BLANK, is_repaired=True) is DocumentStatus.NEEDS_REVIEW


def test_a_repaired_file_with_all_its_pages_is_complete() -> None:
    assert status(Verdict.GOOD, is_repaired=True) is DocumentStatus.COMPLETE


@given(st.lists(st.sampled_from(Verdict), min_size=1), st.booleans())
def test_the_order_of_pages_does_not_matter(verdicts: list[Verdict], is_repaired: bool) -> None:
    assert status(*verdicts, is_repaired=is_repaired) is status(*reversed(verdicts), is_repaired=is_repaired)


@given(st.lists(st.sampled_from(Verdict), min_size=1))
def test_a_bad_page_is_never_hidden(verdicts: list[Verdict]) -> None:
    is_hidden = status(*verdicts) in {DocumentStatus.COMPLETE, DocumentStatus.NEEDS_REVIEW}
    assert is_hidden is not bool({Verdict.SKIPPED, Verdict.BAD} & set(verdicts))


def test_a_half_copied_file_says_so_on_its_own_line() -> None:
    pages = [PageToLoad(1, Verdict.GOOD, 1, ()), PageToLoad(2, Verdict.BLANK, 2, ())]
    code, message = reason(pages, is_repaired=True)
    assert code == "file-repaired"
    assert message is not None
    assert "1 of its 2 pages" in message
    assert reason(pages, is_repaired=False) == (None, None)


def test_the_first_bad_page_names_the_document_s_trouble() -> None:
    pages = [
        PageToLoad(1, Verdict.GOOD, 1, ()),
        PageToLoad(2, Verdict.BAD, None, (), "render-timeout", "It took too long."),
        PageToLoad(3, Verdict.BAD, None, (), "ocr-failed", "torn"),
    ]
    assert reason(pages, is_repaired=True) == ("render-timeout", "Page 2: It took too long.")
