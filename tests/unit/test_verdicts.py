"""Findings become verdicts, verdicts become the status of a document."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.document import DocumentFacts, DocumentStatus
from models.reading import Reading, ReadingSource
from models.verdict import Finding, Severity, Verdict
from tasks.work.checks import document_status, verdict

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


def test_a_page_that_nobody_had_to_read_is_blank() -> None:
    assert verdict(UNREAD, []) is Verdict.BLANK
    assert verdict(UNREAD, [finding(Severity.INFO)]) is Verdict.BLANK


def test_a_finding_weighs_more_than_blankness() -> None:
    assert verdict(UNREAD, [finding(Severity.ERROR)]) is Verdict.BAD


def status(*verdicts: Verdict | None, is_repaired: bool = False) -> DocumentStatus:
    return document_status(verdicts, DocumentFacts(len(verdicts), is_repaired=is_repaired))


def test_good_and_blank_pages_make_a_complete_document() -> None:
    assert status(Verdict.GOOD, Verdict.BLANK, Verdict.REPAIRED) is DocumentStatus.COMPLETE


def test_one_bad_page_never_loses_a_document() -> None:
    assert status(Verdict.GOOD, Verdict.BAD, Verdict.GOOD) is DocumentStatus.PARTIAL


def test_a_failed_page_counts_as_bad() -> None:
    assert status(Verdict.GOOD, None) is DocumentStatus.PARTIAL


def test_nothing_but_bad_pages_is_a_failure() -> None:
    assert status(Verdict.BAD, None) is DocumentStatus.FAILED


def test_a_doubtful_page_asks_for_a_person() -> None:
    assert status(Verdict.GOOD, Verdict.SUSPECT) is DocumentStatus.NEEDS_REVIEW


def test_a_half_copied_file_is_never_complete() -> None:
    assert status(Verdict.GOOD, Verdict.BLANK, is_repaired=True) is DocumentStatus.NEEDS_REVIEW


def test_a_repaired_file_with_all_its_pages_is_complete() -> None:
    assert status(Verdict.GOOD, is_repaired=True) is DocumentStatus.COMPLETE


@given(st.lists(st.sampled_from([*Verdict, None]), min_size=1), st.booleans())
def test_the_order_of_pages_does_not_matter(verdicts: list[Verdict | None], is_repaired: bool) -> None:
    assert status(*verdicts, is_repaired=is_repaired) is status(*reversed(verdicts), is_repaired=is_repaired)


@given(st.lists(st.sampled_from([*Verdict, None]), min_size=1))
def test_a_bad_page_is_never_hidden(verdicts: list[Verdict | None]) -> None:
    is_hidden = status(*verdicts) in {DocumentStatus.COMPLETE, DocumentStatus.NEEDS_REVIEW}
    assert is_hidden is not bool({None, Verdict.BAD} & set(verdicts))
