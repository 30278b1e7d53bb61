"""Where a document stands, from the verdicts of its pages and what people decided."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.document import DocumentStatus
from models.edition import document_status, reason, status_of
from models.verdict import Verdict
from models.work import SETTLED, PageToLoad

UNREAD = {Verdict.BAD, Verdict.SKIPPED}
some = st.lists(st.sampled_from(Verdict), min_size=1, max_size=8)


def pages(*verdicts: Verdict | str, code: str | None = None, message: str | None = None) -> list[PageToLoad]:
    return [
        PageToLoad(number, Verdict(verdict), number, (), code, message)
        for number, verdict in enumerate(verdicts, 1)
    ]


@pytest.mark.parametrize(
    ("verdicts", "is_repaired", "status"),
    [
        ("good good", False, "complete"),
        ("good repaired blank", False, "complete"),
        ("blank", False, "complete"),
        ("good suspect", False, "needs_review"),
        ("good bad", False, "partial"),
        ("suspect skipped", False, "partial"),
        ("bad skipped", False, "failed"),
        ("good good", True, "complete"),
        ("good blank", True, "needs_review"),
        ("blank bad", True, "partial"),
    ],
)
def test_a_document_stands_as_its_worst_pages_let_it(verdicts: str, is_repaired: bool, status: str) -> None:
    found = document_status([Verdict(word) for word in verdicts.split()], is_repaired=is_repaired)
    assert found is DocumentStatus(status)


@given(some, st.booleans())
def test_one_readable_page_saves_a_document_from_failing(verdicts: list[Verdict], is_repaired: bool) -> None:
    status = document_status(verdicts, is_repaired=is_repaired)
    assert (status is DocumentStatus.FAILED) == (set(verdicts) <= UNREAD)
    if status is DocumentStatus.COMPLETE:
        assert not set(verdicts) & (UNREAD | {Verdict.SUSPECT})


@given(some, st.booleans())
def test_the_order_of_pages_does_not_matter(verdicts: list[Verdict], is_repaired: bool) -> None:
    turned = sorted(verdicts)
    assert document_status(verdicts, is_repaired=is_repaired) is document_status(
        turned, is_repaired=is_repaired
    )


@given(some, st.booleans(), st.sampled_from(sorted(SETTLED)))
def test_what_people_decided_needs_no_review_and_unread_pages_stay_unread(
    verdicts: list[Verdict], is_repaired: bool, code: str
) -> None:
    status = status_of(pages(*verdicts, code=code), is_repaired=is_repaired)
    assert status is not DocumentStatus.NEEDS_REVIEW
    assert (status is DocumentStatus.COMPLETE) == (not set(verdicts) & UNREAD)


@given(some, st.booleans())
def test_a_document_nobody_decided_about_stands_as_its_verdicts_say(
    verdicts: list[Verdict], is_repaired: bool
) -> None:
    expected = document_status(verdicts, is_repaired=is_repaired)
    assert status_of(pages(*verdicts), is_repaired=is_repaired) is expected


def test_the_first_page_that_could_not_be_read_gives_the_reason() -> None:
    doubtful, torn, late = pages("suspect", "bad", "bad", code="ocr-timeout", message="It took too long.")
    assert reason([doubtful, torn, late], is_repaired=True) == ("ocr-timeout", "Page 2: It took too long.")


def test_a_reason_without_words_is_its_code_alone() -> None:
    assert reason(pages("good", "bad", code="truncated"), is_repaired=False) == ("truncated", None)


def test_a_damaged_file_with_blank_pages_says_how_many_may_be_lost() -> None:
    code, message = reason(pages("good", "blank", "blank"), is_repaired=True)
    assert code == "file-repaired"
    assert message is not None
    assert "2 of its 3 pages" in message


@pytest.mark.parametrize(
    ("verdicts", "is_repaired", "code"),
    [
        ("good suspect", False, None),
        ("good blank", False, None),
        ("good", True, None),
        ("blank", True, "ignored"),
    ],
)
def test_where_nothing_is_lost_there_is_no_reason(verdicts: str, is_repaired: bool, code: str | None) -> None:
    assert reason(pages(*verdicts.split(), code=code), is_repaired=is_repaired) == (None, None)
