"""Pages that a person wants to have read again: only these, and shown only if they are no worse."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import SecretStr

from db import reports, review
from flows import opening
from flows import review as flow
from models.document import DocumentStatus
from models.errors import Code, ConfigurationError, PageFailed
from models.reading import FinishReason
from models.review import Action, Decision, PageRef, Retried, ReviewQuery
from models.settings import Settings
from models.verdict import Verdict
from tasks import review as work
from tasks.maintain import check_ledger
from tasks.register import register_roots
from tasks.work.engines.fake import FakeEngine, said
from tests import factories
from tests.flows.yard import Yard, saying

# Each starts worker processes; `make check` has a minute.
pytestmark = pytest.mark.slow

RETRY = Decision(Action.RETRY, "ann@desk")
CUT = replace(said("half a ta"), finish_reason=FinishReason.LENGTH)


@pytest.fixture
def desk(yard: Yard, postgres: str, monkeypatch: pytest.MonkeyPatch) -> "Desk":
    """A person before the yard's documents."""
    desk = Desk(yard, yard.settings.model_copy(update={"database_url": SecretStr(postgres)}))
    monkeypatch.setattr(opening, "open_engine", lambda *_: desk.engine)
    return desk


class Desk:
    """Asks for retries; `engine` reads in the next one."""

    def __init__(self, yard: Yard, settings: Settings) -> None:
        self.yard, self.settings = yard, settings
        self.engine = FakeEngine()

    def retry(self, *answers: Any, pages: tuple[str, ...] = ("1:2",), **how: Any) -> tuple[Retried, ...]:
        """Have pages read again; the engine gives these answers."""
        self.engine = FakeEngine(answers)
        return flow.retry(self.settings, [PageRef.parse(page) for page in pages], RETRY, jobs=1, **how)

    def edit(self, page: str, text: str) -> None:
        """Write the text of a page."""
        ref, decision = PageRef.parse(page), Decision(Action.EDIT, "Ann")
        work.edit(self.yard.database, self.settings, ref, text, decision, is_markdown=False)

    def texts(self) -> list[str]:
        """What document 1 shows."""
        return [page.text for page in self.yard.database.run(lambda conn: reports.pages(conn, 1))]

    def waiting(self) -> list[str]:
        """Pages that wait for a person."""
        found, _ = self.yard.database.run(lambda conn: review.waiting(conn, ReviewQuery()))
        return [page.page for page in found]


def _cut_page(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO", "THREE"))
    yard.ingest(FakeEngine(_second, default=said("Words on paper")))


def _second(request: Any) -> Any:
    return CUT if [word.text for word in request.words] == ["TWO"] else None


def test_a_page_that_reads_well_now_is_shown_and_no_other_page_is_read(yard: Yard, desk: Desk) -> None:
    _cut_page(yard)
    assert yard.document("a.pdf").status is DocumentStatus.PARTIAL
    assert desk.waiting() == ["1:2"]
    (done,) = desk.retry(said("Whole again"))
    assert (done.page, done.profile, done.verdict, done.is_shown) == ("1:2", "ppocr", Verdict.GOOD, True)
    assert len(desk.engine.requests) == 1
    assert desk.texts() == ["Words on paper", "Whole again", "Words on paper"]
    assert yard.document("a.pdf").status is DocumentStatus.COMPLETE
    assert desk.waiting() == []
    assert check_ledger(yard.database) == ()


def test_another_recipe_reads_one_page_beside_the_others_and_stays_after_a_load(
    yard: Yard, desk: Desk
) -> None:
    _cut_page(yard)
    (done,) = desk.retry(said("Other eyes"), profile="ppocr", options=["long_edge_px=2000"])
    assert done.is_shown
    assert len(yard.rows("reading")) == 4
    load = "UPDATE claim SET stage = 'load', status = 'ready', ended_at = NULL WHERE page_no = 0"
    yard.database.run(lambda conn: conn.exec_driver_sql(load))
    yard.ingest()
    assert desk.texts() == ["Words on paper", "Other eyes", "Words on paper"]
    assert check_ledger(yard.database) == ()


def test_what_is_worse_or_fails_is_not_shown_and_the_page_still_waits(yard: Yard, desk: Desk) -> None:
    _cut_page(yard)
    (worse,) = desk.retry(CUT)
    assert (worse.verdict, worse.is_shown) == (Verdict.BAD, False)
    (failed,) = desk.retry(PageFailed("torn", Code.OCR_FAILED))
    assert (failed.verdict, failed.code, failed.message) == (None, "ocr-failed", "torn")
    present = [row.text for row in yard.rows("reading", page_no=2) if row.superseded_at is None]
    assert present == ["half a ta"]
    assert desk.waiting() == ["1:2"]
    (better,) = desk.retry(said("Whole again"))
    assert better.is_shown
    assert check_ledger(yard.database) == ()


def test_a_page_that_could_not_be_read_at_all_can_be_read_again(yard: Yard, desk: Desk) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO"))
    yard.ingest(saying(PageFailed("torn", Code.OCR_FAILED)))
    (page,) = desk.waiting()
    (done,) = desk.retry(said("Whole again"), pages=(page,))
    assert done.is_shown
    assert sorted(desk.texts()) == ["Whole again", "Words on paper"]
    assert yard.document("a.pdf").status is DocumentStatus.COMPLETE


def test_what_a_person_wrote_gives_way_only_when_that_is_said(yard: Yard, desk: Desk) -> None:
    _cut_page(yard)
    desk.edit("1:2", "Written by hand")
    with pytest.raises(ConfigurationError, match="over-edit"):
        desk.retry(said("Whole again"))
    (worse,) = desk.retry(CUT, over_edit=True)
    assert not worse.is_shown
    assert desk.texts()[1] == "Written by hand"
    (done,) = desk.retry(said("Whole again"), over_edit=True)
    assert done.is_shown
    assert desk.texts()[1] == "Whole again"


def test_other_work_of_the_profile_waits_until_somebody_runs_it(yard: Yard, desk: Desk) -> None:
    _cut_page(yard)
    factories.write(yard.inbox / "b.pdf", factories.pdf(*(f"B {number}" for number in range(40))))
    mill, recipe_id = yard.mill(saying())
    register_roots(mill, [yard.inbox], recipe_id)
    mill.close()
    desk.retry(said("Whole again"))
    waiting = yard.rows("claim", document_id=yard.document("b.pdf").id)
    assert [(row.stage, row.status) for row in waiting] == [("split", "ready")]


def test_what_is_not_there_is_refused_before_anything_is_read(yard: Yard, desk: Desk) -> None:
    _cut_page(yard)
    with pytest.raises(ConfigurationError) as raised:
        desk.retry(pages=("1:9",))
    assert raised.value.code is Code.NOT_FOUND
    with pytest.raises(ConfigurationError, match="no profile"):
        desk.retry(profile="nonesuch")
    assert yard.rows("review_action") == []
