"""A backfill reads known documents again, beside what is shown."""

import pytest

from models.document import DocumentStatus
from models.errors import Code, PageFailed
from tests import factories
from tests.flows.backfilling import OTHER, Backfills, backfills_in
from tests.flows.yard import Yard, saying

# Each starts worker processes; `make check` has a minute.
pytestmark = pytest.mark.slow


@pytest.fixture
def again(yard: Yard, postgres: str, monkeypatch: pytest.MonkeyPatch) -> Backfills:
    """Backfills over the yard's inbox."""
    return backfills_in(yard, postgres, monkeypatch)


def test_another_recipe_stands_beside_what_is_shown_until_it_is_promoted(
    yard: Yard, again: Backfills
) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO"))
    yard.ingest()
    before = yard.document("a.pdf")
    again.run(everything=True, options=OTHER)
    assert len(again.read()) == 2
    assert yard.document("a.pdf") == before
    assert [row.text for row in yard.rows("reading")] == ["Words on paper"] * 2 + ["Read again"] * 2
    assert len(yard.rows("edition")) == 2


def test_pages_that_failed_for_good_are_tried_again_and_their_document_is_whole(
    yard: Yard, again: Backfills
) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO"))
    yard.ingest(saying(PageFailed("torn", Code.OCR_FAILED)))
    assert yard.document("a.pdf").status is DocumentStatus.PARTIAL
    again.run(status=["partial"])
    assert len(again.read()) == 1
    assert yard.document("a.pdf").status is DocumentStatus.COMPLETE
    assert {row.verdict for row in yard.rows("edition_page", edition_id=2)} == {"good"}
