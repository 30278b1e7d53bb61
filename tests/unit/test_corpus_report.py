"""The comparison with a manifest: what agrees, what does not, and pages that got lost."""

from pathlib import Path

import pytest

from bench.corpus import Outcome, Page, expectations, report

TEXT = Page(1, "good", None, has_text=True)
EMPTY = Page(1, "good", None, has_text=False)
FAILED = Page(2, None, "render-timeout", has_text=False)
LOST = Page(3, None, None, has_text=False)


@pytest.mark.parametrize(
    ("expected", "status", "code"),
    [
        ("ok", "complete", None),
        ("ok", "needs_review", None),
        ("ok (downscaled) or rejected:too-large", "rejected", "too-large"),
        ("ok (pages with missing images; warn) or rejected:corrupt", "partial", None),
        ("rejected:not-a-pdf", "rejected", "unsupported-type"),
        ("rejected:not-a-pdf or ok as image", "complete", None),
        ("needs-password", "rejected", "needs-password"),
        ("rejected:zero-pages or rejected:corrupt", "rejected", "corrupt"),
    ],
)
def test_an_outcome_that_the_manifest_allows_agrees(expected: str, status: str, code: str | None) -> None:
    assert Outcome("f", expected, status, code, pages=(TEXT,)).agrees


@pytest.mark.parametrize(
    ("expected", "status", "code"),
    [
        ("ok", "failed", "render-failed"),
        ("ok", "rejected", "corrupt"),
        ("ok", "pending", None),
        ("ok", "missing", None),
        ("rejected:corrupt", "complete", None),
        ("rejected:corrupt", "rejected", "empty"),
        ("needs-password", "rejected", "corrupt"),
    ],
)
def test_any_other_outcome_differs(expected: str, status: str, code: str | None) -> None:
    assert not Outcome("f", expected, status, code).agrees


def test_a_file_that_should_be_empty_must_be_empty() -> None:
    assert Outcome("f", "ok (empty text)", "complete", pages=(EMPTY,)).agrees
    assert not Outcome("f", "ok (empty text)", "complete", pages=(TEXT,)).agrees


def test_a_page_needs_a_reading_or_a_reason() -> None:
    outcome = Outcome("f", "ok", "partial", pages=(TEXT, FAILED, LOST))
    assert outcome.lost_pages == [3]


def test_the_report_puts_differences_first() -> None:
    fine = Outcome("fine.pdf", "ok", "complete", pages=(TEXT,))
    wrong = Outcome("wrong.pdf", "rejected:corrupt", "partial", "corrupt", "a | b", pages=(TEXT, LOST))
    text = report([fine, wrong], 90, "the command")
    assert "as the manifest expects: 1 of 2" in text
    assert "wrong.pdf [3]" in text
    assert "1.5 minutes" in text
    assert text.index("| wrong.pdf") < text.index("| fine.pdf")
    assert "a \\| b" in text


def test_the_manifest_may_hold_line_breaks_and_commas(tmp_path: Path) -> None:
    (tmp_path / "manifest.csv").write_text('file,traits,expected\na.pdf,"x, y\nz",ok\n')
    assert expectations(tmp_path) == {"a.pdf": "ok"}
