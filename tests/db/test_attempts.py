"""Tries at a page as the ledger keeps them: whole, in order, and for as long as their page is there."""

from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from db import attempts, tables
from db.engine import Database
from models.attempt import Attempt
from models.claim import Claim
from models.reading import Trial
from models.stage import Stage
from models.verdict import Verdict
from tests.db.steps import count, intake, lease, prepare, register, split

t = tables.attempt
TRIAL = Trial("turn 90", temperature=0.2, max_tokens=99, turn=90, width_px=7, height_px=9, prompt_sha256="ab")


@pytest.fixture
def claim(database: Database) -> Claim:
    """A page that is being read."""
    register(database, intake("/a.pdf"))
    split(database, 1)
    prepare(database)
    return lease(database, Stage.OCR)[0]


def attempt(claim: Claim, number: int = 1, **changes: object) -> Attempt:
    made = Attempt(claim, number, "ppocr", None, Verdict.BAD, ("loop", "cut"), "length", 1.5)
    return replace(made, **changes)  # type: ignore[arg-type]


def kept(database: Database) -> list[Any]:
    query = sa.select(t).order_by(t.c.id)
    return list(database.run(lambda conn: conn.execute(query).all()))


def save(database: Database, *made: Attempt, run_id: int = 1) -> None:
    database.run(lambda conn: attempts.save(conn, run_id, made))


def test_an_attempt_comes_back_with_everything_that_was_asked_and_answered(
    database: Database, claim: Claim
) -> None:
    save(database, attempt(claim, 2, trial=TRIAL, tokens_in=10, tokens_out=3, raw="<p>", is_kept=True))
    (row,) = kept(database)
    assert (row.document_id, row.page_no, row.recipe_id) == (1, 1, claim.recipe_id)
    assert (row.run_id, row.number, row.profile, row.trial) == (1, 2, "ppocr", TRIAL)
    assert (row.verdict, row.codes, row.finish_reason) == ("bad", ("loop", "cut"), "length")
    assert (row.seconds, row.tokens_in, row.tokens_out, row.raw, row.is_kept) == (1.5, 10, 3, "<p>", True)


def test_what_nobody_counted_stays_unknown_and_is_not_zero(database: Database, claim: Claim) -> None:
    save(database, attempt(claim))
    (row,) = kept(database)
    assert (row.trial, row.tokens_in, row.tokens_out, row.raw) == (None, None, None, None)


def test_attempts_of_several_runs_stand_in_the_order_they_were_made(database: Database, claim: Claim) -> None:
    save(database, attempt(claim, 1), attempt(claim, 2), attempt(claim, 3, is_kept=True))
    save(database, attempt(claim, 1, profile="later"))
    assert [(row.number, row.profile) for row in kept(database)] == [
        (1, "ppocr"),
        (2, "ppocr"),
        (3, "ppocr"),
        (1, "later"),
    ]


def test_nothing_to_keep_is_nothing(database: Database) -> None:
    save(database)
    assert count(database, t) == 0


@pytest.mark.parametrize(
    ("statement", "left", "run_id"),
    [("DELETE FROM page", 0, None), ("DELETE FROM document", 0, None), ("DELETE FROM run", 1, None)],
)
def test_attempts_go_with_their_page_and_outlive_their_run(
    database: Database, claim: Claim, statement: str, left: int, run_id: int | None
) -> None:
    save(database, attempt(claim))
    database.run(lambda conn: conn.execute(sa.text(statement)))
    assert [row.run_id for row in kept(database)] == [run_id] * left
