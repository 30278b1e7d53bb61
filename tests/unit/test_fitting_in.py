"""Pages beside each other: which are doubted, which testify, and what was said before. No database."""

from dataclasses import replace

import pytest

from models.limits import CheckLimits
from models.reading import Block, BlockType, ReadingSource
from models.verdict import Finding, Severity, Verdict
from models.work import PageToLoad
from tasks.neighbours import Findings, Judged, judge_together
from tests.unit.readings import GERMAN, PROSE, RUSSIAN

LIMITS = CheckLimits()
JUMP = Finding("language-jump", Severity.WARNING, "before", {})
OWN = Finding("low-confidence", Severity.WARNING, "hard to read", {})


def book(*texts: str) -> list[PageToLoad]:
    """Pages from 1 on, each beginning at another word; their readings are numbered from 101."""
    return [_page(number, text) for number, text in enumerate(texts, 1)]


def _page(number: int, text: str) -> PageToLoad:
    words = text.split()
    turned = " ".join(words[7 * number :] + words[: 7 * number])
    blocks = (Block(BlockType.PARAGRAPH, turned),)
    return PageToLoad(number, Verdict.GOOD, 100 + number, blocks, text=turned, source=ReadingSource.OCR)


def judge(pages: list[PageToLoad], known: Findings | None = None, limits: CheckLimits = LIMITS) -> Judged:
    return judge_together(pages, known or {}, limits)


def verdicts(judged: Judged) -> list[str]:
    return [page.verdict.value for page in judged.pages]


def changed(judged: Judged) -> list[tuple[int, list[str]]]:
    return [(page.page_no, [finding.code for finding in found]) for page, found in judged.changed]


def test_the_one_page_in_another_language_becomes_suspect() -> None:
    judged = judge(book(PROSE, PROSE, GERMAN, PROSE, PROSE))
    assert verdicts(judged) == ["good", "good", "suspect", "good", "good"]
    assert changed(judged) == [(3, ["language-jump"])]


@pytest.mark.parametrize("texts", [(PROSE, PROSE, PROSE), (PROSE, GERMAN), (PROSE,), ()])
def test_documents_that_agree_or_are_too_short_to_tell_are_left_alone(texts: tuple[str, ...]) -> None:
    pages = book(*texts)
    assert judge(pages) == Judged(tuple(pages))


def test_what_is_known_already_is_no_change() -> None:
    pages = book(PROSE, PROSE, GERMAN, PROSE, PROSE)
    first = judge(pages)
    known = {page.reading_id or 0: found for page, found in first.changed}
    assert judge(list(first.pages), known) == Judged(first.pages)


def test_a_page_that_fits_in_again_is_good_again() -> None:
    pages = book(PROSE, PROSE, PROSE)
    pages[1] = replace(pages[1], verdict=Verdict.SUSPECT)
    judged = judge(pages, {102: (JUMP,)})
    assert verdicts(judged) == ["good", "good", "good"]
    assert changed(judged) == [(2, [])]


def test_a_page_that_fits_in_again_stays_suspect_for_a_reason_of_its_own() -> None:
    pages = book(PROSE, PROSE, PROSE)
    pages[1] = replace(pages[1], verdict=Verdict.SUSPECT)
    judged = judge(pages, {102: (OWN, JUMP)})
    assert verdicts(judged) == ["good", "suspect", "good"]
    assert changed(judged) == [(2, [])]


@pytest.mark.parametrize(
    "change",
    [
        {"source": ReadingSource.HUMAN},
        {"code": "accepted"},
        {"code": "ignored"},
        {"reading_id": None},
        {"verdict": Verdict.BAD},
        {"verdict": Verdict.SKIPPED},
    ],
)
def test_what_people_settled_and_what_was_not_read_is_not_doubted(change: dict[str, object]) -> None:
    pages = book(PROSE, PROSE, GERMAN, PROSE, PROSE)
    pages[2] = replace(pages[2], **change)  # type: ignore[arg-type]
    judged = judge(pages)
    assert judged.pages[2] == pages[2]
    assert 3 not in dict(changed(judged))


@pytest.mark.parametrize(("verdict", "doubted"), [(Verdict.SUSPECT, [3]), (Verdict.BAD, [])])
def test_pages_that_were_read_testify_and_bad_ones_do_not(verdict: Verdict, doubted: list[int]) -> None:
    pages = book(PROSE, PROSE, RUSSIAN, PROSE, PROSE)
    pages = [page if page.page_no == 3 else replace(page, verdict=verdict) for page in pages]
    assert [number for number, _ in changed(judge(pages))] == doubted


def test_what_a_person_wrote_testifies_against_other_pages() -> None:
    pages = book(PROSE, PROSE, RUSSIAN, PROSE, PROSE)
    pages = [page if page.page_no == 3 else replace(page, source=ReadingSource.HUMAN) for page in pages]
    assert changed(judge(pages)) == [(3, ["script-jump"])]


def test_a_check_that_is_switched_off_takes_its_old_findings_back() -> None:
    pages = book(PROSE, PROSE, GERMAN, PROSE, PROSE)
    pages[2] = replace(pages[2], verdict=Verdict.SUSPECT)
    judged = judge(pages, {103: (JUMP,)}, CheckLimits(disabled=("language-jump",)))
    assert verdicts(judged)[2] == "good"
    assert changed(judged) == [(3, [])]
