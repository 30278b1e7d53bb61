"""Split, ocr and load as drains of their own, one after the other, come to the same as ingest."""

import threading
from dataclasses import dataclass, field
from typing import Any

import pytest
from prefect.exceptions import TerminationSignal
from pydantic import SecretStr

from flows import draining, opening
from flows.load import load
from flows.ocr import ocr
from flows.opening import CALLER, Caller
from flows.split import split
from models.errors import ConfigurationError
from models.settings import Settings
from tasks.register import register_roots
from tasks.work.engines.fake import FakeEngine
from tests import factories
from tests.flows.engines import LayerEngine
from tests.flows.yard import Yard, saying

# Each starts worker processes; `make check` has a minute.
pytestmark = pytest.mark.slow


@dataclass
class Drains:
    """Runs flows by themselves with the yard's settings and a scripted engine; `runs` are their ids."""

    settings: Settings
    runs: list[int] = field(default_factory=list)

    def run(self, flow: Any, **options: Any) -> None:
        """One drain to its end. Its caller is its own: the end of a drain stops whoever it belongs to."""
        token = CALLER.set(Caller(self.settings, self.runs.append, threading.Event()))
        try:
            flow.fn(**{"linger_s": 0.1} | options)
        finally:
            CALLER.reset(token)


@pytest.fixture
def drains(yard: Yard, postgres: str, monkeypatch: pytest.MonkeyPatch) -> Drains:
    """Drains whose engine reads the text layer."""
    monkeypatch.setattr(opening, "open_engine", lambda *_: LayerEngine())
    return Drains(yard.settings.model_copy(update={"database_url": SecretStr(postgres)}))


def _register(yard: Yard) -> None:
    mill, recipe_id = yard.mill(saying())
    register_roots(mill, [yard.inbox], recipe_id)
    mill.close()


def _fill(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "", "THREE", title="Numbers"))
    factories.write(yard.inbox / "b.pdf", factories.pdf_with_broken_page("1", "2", broken=2))
    factories.write(yard.inbox / "c.pdf", factories.encrypted_pdf("secret", user="u"))
    factories.write(yard.inbox / "d.png", factories.picture_bytes(factories.picture("Picture")))
    factories.write(yard.inbox / "e.pdf", b"no document")


def _what_there_is(yard: Yard) -> dict[str, list[Any]]:
    """All that people see, by content instead of by number."""
    names = {row.id: row.sha256 for row in yard.rows("document")}
    return {
        "documents": sorted(
            (row.sha256, row.status, row.page_count, row.code, row.title) for row in yard.rows("document")
        ),
        "readings": sorted(
            (names[row.document_id], row.page_no, row.text, row.verdict) for row in yard.rows("reading")
        ),
        "pages": sorted((row.page_no, row.verdict, row.code) for row in yard.rows("edition_page")),
        "chunks": sorted((row.text, row.pages) for row in yard.rows("chunk")),
        "work": sorted((row.page_no, row.stage, row.status) for row in yard.rows("claim")),
    }


def test_three_drains_one_after_the_other_come_to_the_same_as_ingest(yard: Yard, drains: Drains) -> None:
    _fill(yard)
    yard.ingest(LayerEngine())
    together = _what_there_is(yard)
    for table in ("document", "run", "recipe"):
        yard.clear(table)
    _register(yard)
    for flow in (split, ocr, load):
        drains.run(flow)
    assert _what_there_is(yard) == together
    assert [(row.kind, row.outcome) for row in yard.rows("run") if row.id in drains.runs] == [
        ("split", "partial"),
        ("ocr", "ok"),
        ("load", "ok"),
    ]


def test_each_drain_does_its_own_stage_and_leaves_the_rest(yard: Yard, drains: Drains) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO"))
    _register(yard)
    drains.run(split)
    assert [(row.stage, row.status) for row in yard.rows("claim", page_no=1)] == [("ocr", "ready")]
    assert yard.rows("reading") == []
    drains.run(ocr)
    assert len(yard.rows("reading")) == 2
    assert yard.rows("edition") == []
    drains.run(load)
    assert [row.status for row in yard.rows("document")] == ["complete"]
    assert {row.status for row in yard.rows("claim")} == {"done"}


def test_a_drain_with_nothing_to_do_ends_and_changes_nothing(yard: Yard, drains: Drains) -> None:
    for flow in (load, ocr, split):
        drains.run(flow)
    assert [row.outcome for row in yard.rows("run")] == ["ok"] * 3
    assert yard.rows("stage_run") == []


def test_a_drain_whose_time_is_up_leaves_work_that_the_next_one_finishes(yard: Yard, drains: Drains) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf(*map(str, range(40))))
    _register(yard)
    drains.run(split, budget_s=0.01)
    drains.run(split)
    assert {row.stage for row in yard.rows("claim") if row.page_no} == {"ocr"}
    assert len(yard.rows("page_image")) == 40


def test_drains_side_by_side_pass_work_on_and_read_everything_once(yard: Yard, drains: Drains) -> None:
    _fill(yard)
    _register(yard)
    threads = [
        threading.Thread(target=drains.run, args=(flow,), kwargs={"linger_s": 3.0})
        for flow in (load, ocr, split)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    yard.ingest(LayerEngine())
    assert len(yard.rows("reading")) == 5
    assert sum(row.pages for row in yard.rows("stage_run", stage="ocr")) == 4
    assert {row.status for row in yard.rows("document")} == {"complete", "partial", "rejected"}


def test_a_profile_that_does_not_exist_starts_no_run(yard: Yard, drains: Drains) -> None:
    for flow in (split, ocr, load):
        with pytest.raises(ConfigurationError):
            drains.run(flow, profile="nonsense")
    assert (drains.runs, yard.rows("run")) == ([], [])


def test_a_run_that_breaks_is_entered_as_failed_and_gives_its_work_back(
    yard: Yard, drains: Drains, monkeypatch: pytest.MonkeyPatch
) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE"))
    _register(yard)
    drains.run(split)

    def broken(self: FakeEngine, request: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(LayerEngine, "submit", broken)
    with pytest.raises(ZeroDivisionError):
        drains.run(ocr)
    assert yard.rows("run")[-1].outcome == "failed"
    assert not yard.rows("claim", status="leased")


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), TerminationSignal(15)])
def test_a_run_that_a_signal_ends_is_entered_as_cancelled(
    yard: Yard, drains: Drains, monkeypatch: pytest.MonkeyPatch, stop: BaseException
) -> None:
    def ended(*_: object) -> None:
        raise stop

    monkeypatch.setattr(draining, "drain", ended)
    with pytest.raises(type(stop)):
        drains.run(split)
    assert [row.outcome for row in yard.rows("run")] == ["cancelled"]
