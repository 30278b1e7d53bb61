"""Backfills of documents that people have looked at: what they wrote stays through promote and rollback."""

from pathlib import Path

import pytest

from models.backfill import Selection
from models.review import Action, Decision, PageRef
from models.settings import load_settings
from tasks import backfill as work
from tasks import review
from tests import factories
from tests.flows.backfilling import OTHER, Backfills, backfills_in
from tests.flows.yard import Yard

pytestmark = pytest.mark.slow

EDIT = Decision(Action.EDIT, "Ann")
ALL = Selection()


@pytest.fixture
def again(yard: Yard, postgres: str, monkeypatch: pytest.MonkeyPatch) -> Backfills:
    """Backfills over the yard's inbox."""
    return backfills_in(yard, postgres, monkeypatch)


@pytest.fixture
def backfill_id(yard: Yard, again: Backfills) -> int:
    """A backfill that read a document of two pages again; nobody has promoted it."""
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO"))
    yard.ingest()
    return again.run(everything=True, options=OTHER)


def write(yard: Yard, home: Path, page_no: int, text: str) -> None:
    ref = PageRef(yard.document("a.pdf").id, page_no)
    settings = load_settings(home=home, vectors=False)
    review.edit(yard.database, settings, ref, text, EDIT, is_markdown=False)


def shown(yard: Yard) -> str:
    """All that can be found of the document."""
    edition_id = yard.document("a.pdf").edition_id
    return "\n\n".join(row.text for row in yard.rows("chunk") if row.edition_id == edition_id)


def test_a_rollback_takes_back_what_was_read_and_keeps_what_a_person_wrote_since(
    yard: Yard, backfill_id: int, tmp_path: Path
) -> None:
    work.promote(yard.database, backfill_id, ALL)
    write(yard, tmp_path, 2, "By hand")
    assert shown(yard) == "Read again\n\nBy hand"
    assert work.rollback(yard.database, backfill_id, ALL) == (yard.document("a.pdf").id,)
    assert shown(yard) == "Words on paper\n\nBy hand"
    assert work.rollback(yard.database, backfill_id, ALL) == ()


def test_a_promotion_keeps_what_was_written_after_the_backfill_had_read(
    yard: Yard, backfill_id: int, tmp_path: Path
) -> None:
    write(yard, tmp_path, 1, "By hand")
    assert work.promote(yard.database, backfill_id, ALL) == (yard.document("a.pdf").id,)
    assert shown(yard) == "By hand\n\nRead again"
    assert work.promote(yard.database, backfill_id, ALL) == ()
    assert work.rollback(yard.database, backfill_id, ALL) == (yard.document("a.pdf").id,)
    assert shown(yard) == "By hand\n\nWords on paper"


def test_a_page_looked_at_before_and_after_goes_back_to_the_same_text(
    yard: Yard, backfill_id: int, tmp_path: Path
) -> None:
    write(yard, tmp_path, 1, "First hand")
    work.promote(yard.database, backfill_id, ALL)
    write(yard, tmp_path, 2, "Second hand")
    assert work.promote(yard.database, backfill_id, ALL) == ()
    assert work.rollback(yard.database, backfill_id, ALL) != ()
    assert shown(yard) == "First hand\n\nSecond hand"
    steps = [row.kind for row in yard.rows("edition_switch")]
    assert steps == ["load", "review", "promote", "review", "review", "rollback", "review"]


def test_a_backfill_that_nobody_promoted_has_nothing_to_take_back(
    yard: Yard, backfill_id: int, tmp_path: Path
) -> None:
    write(yard, tmp_path, 1, "By hand")
    assert work.rollback(yard.database, backfill_id, ALL) == ()
    assert shown(yard) == "By hand\n\nWords on paper"
