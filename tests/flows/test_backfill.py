"""A backfill reads known documents again, beside what is shown."""

import threading

import pytest

from models.backfill import BACKFILL_PRIORITY, FromStage, Selection
from models.document import DocumentStatus
from models.errors import Code, ConfigurationError, PageFailed
from tasks import backfill as work
from tasks.maintain import check_ledger, purge_images
from tasks.register import register_roots
from tasks.work.engines.fake import Awaiting, Delayed, FakeEngine, said
from tests import factories
from tests.flows.backfilling import (
    OTHER,
    SMALLER,
    Backfills,
    ClockedEngine,
    WordEngine,
    backfills_in,
)
from tests.flows.yard import Yard, saying
from tests.served import until

# Each starts worker processes; `make check` has a minute.
pytestmark = pytest.mark.slow


@pytest.fixture
def again(yard: Yard, postgres: str, monkeypatch: pytest.MonkeyPatch) -> Backfills:
    """Backfills over the yard's inbox."""
    return backfills_in(yard, postgres, monkeypatch)


def _texts(yard: Yard) -> set[str]:
    """What can be found: passages of shown editions."""
    shown = {row.edition_id for row in yard.rows("document")}
    return {row.text for row in yard.rows("chunk") if row.edition_id in shown}


def test_another_recipe_stands_beside_until_it_is_promoted_and_can_be_rolled_back(
    yard: Yard, again: Backfills
) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO"))
    yard.ingest()
    before = yard.document("a.pdf")
    backfill_id = again.run(everything=True, options=OTHER)
    assert len(again.read()) == 2
    assert yard.document("a.pdf") == before
    assert _texts(yard) == {"Words on paper\n\nWords on paper"}
    assert work.promote(yard.database, backfill_id, Selection()) == (before.id,)
    assert _texts(yard) == {"Read again\n\nRead again"}
    assert work.promote(yard.database, backfill_id, Selection()) == ()
    assert work.rollback(yard.database, backfill_id, Selection()) == (before.id,)
    assert work.rollback(yard.database, backfill_id, Selection()) == ()
    assert yard.document("a.pdf") == before
    kinds = [(row.kind, "@" in row.by) for row in yard.rows("edition_switch")]
    assert kinds == [("load", False), ("promote", True), ("rollback", True)]


def test_a_comparison_says_what_changed_and_what_it_cost(yard: Yard, again: Backfills) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO", "THREE"))
    torn = PageFailed("torn", Code.OCR_FAILED)
    yard.ingest(WordEngine({"ONE": said("the old words"), "TWO": said("the same"), "THREE": torn}))
    pictures = {row.page_no: row.sha256 for row in yard.rows("page_image")}
    answers = {1: said("the new words"), 2: said("the same"), 3: said("found at last")}
    again.engine = FakeEngine({pictures[page_no]: answer for page_no, answer in answers.items()})
    backfill_id = again.run(everything=True, options=OTHER)
    (compared,) = work.comparisons(yard.database, backfill_id, Selection())
    assert (compared.pages, compared.changed, compared.better, compared.worse) == (3, (1, 3), (3,), ())
    assert (compared.added, compared.removed) == (3 + 13, 3)
    assert not compared.is_shown


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


def test_a_document_refused_for_a_password_is_read_once_there_is_one(yard: Yard, again: Backfills) -> None:
    factories.write(yard.inbox / "a.pdf", factories.encrypted_pdf("ONE", user="secret"))
    yard.ingest()
    assert yard.document("a.pdf").status is DocumentStatus.REJECTED
    passwords = factories.write(yard.home / "passwords", b"secret\n")
    again.settings = again.settings.model_copy(update={"password_file": passwords})
    again.run(finding=["needs-password"])
    assert yard.document("a.pdf").status is DocumentStatus.COMPLETE


def test_pictures_that_were_purged_are_made_again_when_a_page_is_read_again(
    yard: Yard, again: Backfills
) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO"))
    yard.ingest()
    pictures = [row.sha256 for row in yard.rows("page_image")]
    assert purge_images(yard.database, again.settings.store, days=0)[0] == 2
    again.run(everything=True, options=OTHER)
    assert sorted(again.read()) == sorted(pictures)
    assert all(request.path.exists() for request in again.engine.requests)


@pytest.mark.parametrize("start", [FromStage.SPLIT, FromStage.PREPROCESS])
def test_from_the_first_stages_everything_is_done_anew(
    yard: Yard, again: Backfills, start: FromStage
) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "", "THREE"))
    yard.ingest()
    again.run(everything=True, from_stage=start, again=True)
    assert len(again.read()) == 2
    stages = {row.stage: (row.pages, row.cached) for row in yard.rows("stage_run", run_id=2)}
    assert stages["preprocess"] == (3, 3 * (start is FromStage.SPLIT))
    assert ("split" in stages) == (start is FromStage.SPLIT)
    present = {row.page_no: row.verdict for row in yard.rows("reading") if row.superseded_at is None}
    assert present == {1: "good", 2: "blank", 3: "good"}
    assert check_ledger(yard.database) == ()


def test_from_validate_what_was_read_is_judged_anew_and_nothing_is_read(yard: Yard, again: Backfills) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO"))
    yard.ingest(saying(said("x" * 3000)))
    backfill_id = again.run(everything=True, from_stage=FromStage.VALIDATE)
    assert again.read() == []
    old, new = (
        [row for row in yard.rows("reading") if bool(row.superseded_at) is was] for was in (True, False)
    )
    assert [row.text for row in new] == [row.text for row in old]
    assert [row.cached_from for row in new] == [row.id for row in old]
    assert yard.document("a.pdf").edition_id == 1
    assert work.promote(yard.database, backfill_id, Selection()) == (1,)
    assert check_ledger(yard.database) == ()


def test_from_load_passages_are_made_anew_and_nothing_is_read(yard: Yard, again: Backfills) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE"))
    yard.ingest()
    again.run(everything=True, from_stage=FromStage.LOAD)
    assert again.read() == []
    assert sum(row.stage == "load" for row in yard.rows("stage_run")) == 2
    assert len(yard.rows("edition")) == 1


def test_a_plan_counts_documents_pages_readings_and_minutes_and_changes_nothing(
    yard: Yard, again: Backfills
) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO", ""))
    factories.write(yard.inbox / "b.pdf", factories.pdf("THREE"))
    yard.ingest(FakeEngine(default=Delayed(0.2, said("Words on paper"))))
    before = {table: yard.rows(table) for table in ("claim", "document", "recipe", "run", "backfill")}
    everything = Selection(everything=True)
    own, other = again.plan(everything), again.plan(everything, options=OTHER)
    smaller = again.plan(everything, options=SMALLER)
    assert (own.documents, own.of, own.pages, own.cached, own.to_read) == (2, 2, 4, 4, 0)
    assert (other.cached, other.to_read) == (1, 3)
    assert (smaller.cached, smaller.to_read) == (0, 4)
    assert other.pace is not None
    assert other.pace.pages == 3
    assert {table: yard.rows(table) for table in before} == before


def test_matching_nothing_or_unsaid_everything_is_refused(yard: Yard, again: Backfills) -> None:
    for name in ("a", "b"):
        factories.write(yard.inbox / f"{name}.pdf", factories.pdf(name))
    yard.ingest()
    with pytest.raises(ConfigurationError, match="No document matches"):
        again.run(status=["failed"])
    with pytest.raises(ConfigurationError, match="all 2 documents"):
        again.run(source="*")
    with pytest.raises(ConfigurationError, match="Say which documents"):
        again.run()
    assert again.plan(Selection(source="*")).documents == 2
    assert yard.rows("backfill") == []


def test_a_document_that_comes_in_on_schedule_goes_before_the_rest_of_a_backfill(
    yard: Yard, again: Backfills
) -> None:
    for number in range(5):
        texts = [f"{number} {page}" for page in range(16)]
        factories.write(yard.inbox / f"{number}.pdf", factories.pdf(*texts))
    yard.ingest()
    comes = threading.Event()
    clocked = again.engine = ClockedEngine(default=Awaiting(comes.is_set, said("slowly")))
    running = threading.Thread(target=again.run, kwargs={"everything": True, "options": OTHER})
    running.start()
    until(lambda: len(clocked.requests) == 4)
    factories.write(yard.inbox / "new.pdf", factories.pdf("new 1", "new 2", "new 3"))
    mill, recipe_id = yard.mill(saying())
    register_roots(mill, [yard.inbox], recipe_id)
    mill.close()
    new = yard.document("new.pdf").id
    until(lambda: len(yard.rows("claim", document_id=new, stage="ocr")) == 3)
    comes.set()
    running.join()
    assert len(clocked.requests) == 5 * 16 + 3
    ready = max(row.ready_at for row in yard.rows("claim", document_id=new) if row.page_no)
    first = min(clocked.at(0))
    # Of the backfill no more goes before them than was in hand: a batch, and what the engine holds.
    assert sum(ready < at < first for at in clocked.at(BACKFILL_PRIORITY)) <= 16 + 4 * clocked.slots
    assert max(clocked.at(0)) < max(clocked.at(BACKFILL_PRIORITY))
