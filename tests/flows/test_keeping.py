"""What a drain commits: readings, attempts, tokens and times together, and what is refused."""

from dataclasses import replace

import pytest
import sqlalchemy as sa

from bench.drain import seed
from models import profiles
from models.errors import Code, PageFailed
from models.reading import Reading, Trial
from models.stage import Stage
from models.verdict import Verdict
from models.work import PageToRead
from tasks import keeping
from tasks.hand import PageInHand, Tried
from tasks.keeping import Ended, ended, keep
from tasks.mill import Mill
from tasks.requests import request_of
from tasks.validate import judge
from tasks.work.engines.fake import said
from tasks.work.ladder import FIRST, Step
from tests.flows.yard import Yard, saying

SAMPLING = Step(1, "sampling")


@pytest.fixture
def mill(yard: Yard) -> Mill:
    profile = profiles.get("ppocr")
    run_id = seed(yard.database, 3, profile, words=())
    return Mill(
        settings=yard.settings,
        database=yard.database,
        profile=profile,
        run_id=run_id,
        engine=saying(),
        jobs=1,
    )


def pages(mill: Mill) -> list[PageInHand]:
    """All seeded pages, claimed."""
    from db import pages as stored

    claims = mill.claim(Stage.OCR, 10)
    items = mill.database.run(lambda conn: stored.to_read(conn, claims))
    return [PageInHand(item, request_of(mill, item), "ppocr") for item in items]


def read(mill: Mill, page: PageInHand, reading: Reading, step: Step = FIRST) -> None:
    result = judge(page.item, page.first, reading, mill.profile)
    asked = replace(page.first, trial=Trial(rung=step.name))
    page.tries.append(Tried(step, "ppocr", asked, reading.seconds, result, judging_s=0.01))


def costing(text: str, seconds: float, tokens: int) -> Reading:
    return replace(said(text), seconds=seconds, tokens_in=tokens, tokens_out=tokens // 10)


def test_pages_of_a_group_end_together_with_their_times_and_tokens(yard: Yard, mill: Mill) -> None:
    hand = pages(mill)
    for page in hand:
        read(mill, page, costing("Words on paper", 2.0, 1000))
    keep(mill, [ended(page) for page in hand])
    assert {row.status for row in yard.rows("claim") if row.page_no} == {"done"}
    (row,) = yard.rows("stage_run", stage="ocr")
    assert (row.pages, row.seconds, row.tokens_in, row.tokens_out) == (3, 6.0, 3000, 300)
    (validated,) = yard.rows("stage_run", stage="validate")
    assert (validated.pages, validated.tokens_in) == (3, 0)
    assert validated.seconds == pytest.approx(0.03)
    mill.close()


def test_tokens_of_all_tries_are_paid_though_one_is_kept(yard: Yard, mill: Mill) -> None:
    page, *_ = pages(mill)
    read(mill, page, costing("", 1.0, 1000))
    read(mill, page, costing("Words on paper", 2.0, 500), SAMPLING)
    keep(mill, [ended(page)])
    (row,) = yard.rows("stage_run", stage="ocr")
    assert (row.seconds, row.tokens_in) == (3.0, 1500)
    assert [(one.number, one.tokens_in, one.is_kept) for one in yard.rows("attempt")] == [
        (1, 1000, False),
        (2, 500, True),
    ]
    assert yard.rows("reading")[0].tokens_in == 500
    mill.close()


def test_the_trial_that_an_engine_tells_is_kept_else_what_was_asked(mill: Mill) -> None:
    page, *_ = pages(mill)
    read(mill, page, said(""))
    told = replace(said("Words on paper"), trial=Trial("sampling", temperature=0.7))
    read(mill, page, told, SAMPLING)
    result = ended(page).result
    assert result is not None
    assert result.reading.trial == told.trial
    page.tries[1] = replace(page.tries[1], result=replace(result, reading=said("Words on paper")))
    asked = ended(page).result
    assert asked is not None
    assert asked.reading.trial == Trial("sampling")
    mill.close()


def test_a_page_that_was_never_read_fails_with_its_last_reason_and_keeps_its_tries(
    yard: Yard, mill: Mill
) -> None:
    page, *_ = pages(mill)
    for step, code in ((FIRST, Code.TOO_LARGE), (SAMPLING, Code.OCR_TIMEOUT)):
        page.tries.append(Tried(step, "ppocr", page.first, 1.0, error=PageFailed("no", code)))
    keep(mill, [ended(page)])
    (row,) = [row for row in yard.rows("claim") if row.code]
    assert (row.status, row.code) == ("failed", "ocr-timeout")
    assert [(one.codes, one.finish_reason) for one in yard.rows("attempt")] == [
        (("too-large",), ""),
        (("ocr-timeout",), ""),
    ]
    mill.close()


def test_a_page_whose_claim_was_lost_leaves_nothing_behind(yard: Yard, mill: Mill) -> None:
    page, *_ = pages(mill)
    read(mill, page, said(""))
    read(mill, page, said("Words on paper"), SAMPLING)
    late = replace(page.item, claim=replace(page.item.claim, attempt=9))
    page.item = PageToRead(late.claim, late.image, late.facts)
    page.tries = [
        replace(one, result=replace(one.result, claim=late.claim)) for one in page.tries if one.result
    ]
    keep(mill, [ended(page)])
    assert (yard.rows("reading"), yard.rows("attempt")) == ([], [])
    assert {row.status for row in yard.rows("claim") if row.page_no} == {"leased"}
    mill.close()


def test_a_page_that_the_database_refuses_ends_alone(
    yard: Yard, mill: Mill, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand = pages(mill)
    for page in hand:
        read(mill, page, said("poison" if page.item.claim.page_no == 2 else "Words on paper"))
    save = keeping.readings.save

    def refusing(conn: sa.Connection, results: list[keeping.PageResult]) -> frozenset[int]:
        if any(result.reading.text == "poison" for result in results):
            raise ValueError("invalid input")
        return save(conn, results)

    monkeypatch.setattr(keeping.readings, "save", refusing)
    keep(mill, [ended(page) for page in hand])
    assert sorted(row.page_no for row in yard.rows("reading")) == [1, 3]
    (row,) = [row for row in yard.rows("claim") if row.status == "failed"]
    assert (row.page_no, row.code) == (2, "internal")
    assert "poison" not in row.message
    mill.close()


def test_a_good_page_read_at_once_is_its_own_attempt(mill: Mill) -> None:
    page, *_ = pages(mill)
    read(mill, page, said("Words on paper"))
    kept: Ended = ended(page)
    assert kept.attempts == ()
    assert kept.result is not None
    assert (kept.result.verdict, kept.result.reading.attempts) == (Verdict.GOOD, 1)
    mill.close()
