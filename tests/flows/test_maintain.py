"""Keeping house: what is freed, what is purged, what stays, and what is told."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from db import tables
from flows.maintain import maintain
from flows.opening import CALLER, Caller
from flows.upkeep import run_maintenance
from models.errors import Code, PageFailed, PermanentError
from models.settings import Settings
from models.stage import STAGE_VERSION, Stage
from tasks import maintain as house
from tasks.policies import cache_key
from tasks.register import register_roots
from tests import factories
from tests.flows.yard import Yard, saying

_DAY = 86_400


@pytest.fixture
def settings(yard: Yard, postgres: str) -> Settings:
    """The yard's, for a flow that opens the database itself."""
    return yard.settings.model_copy(update={"database_url": SecretStr(postgres)})


@contextmanager
def called(settings: Settings) -> Iterator[None]:
    """As a caller in this process."""
    token = CALLER.set(Caller(settings, lambda _: None, threading.Event()))
    yield
    CALLER.reset(token)


def _aged(path: Path, days: float) -> Path:
    then = time.time() - days * _DAY
    os.utime(path, (then, then))
    return path


def _pictures(yard: Yard) -> dict[int, Path]:
    """Page images of the only document, by page."""
    store = yard.settings.store
    return {
        row.page_no: store / row.sha256[:2] / row.sha256[2:4] / f"{row.sha256}{row.suffix}"
        for row in yard.rows("page_image")
    }


def _change(yard: Yard, sql: str) -> None:
    yard.database.run(lambda conn: conn.execute(sa.text(sql)))


@pytest.fixture
def read(yard: Yard) -> Yard:
    """A document of two pages that was read."""
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO"))
    yard.ingest()
    return yard


def test_a_lease_that_ran_out_is_free_again(yard: Yard, settings: Settings) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE"))
    mill, recipe_id = yard.mill(saying())
    register_roots(mill, [yard.inbox], recipe_id)
    mill.claim(Stage.SPLIT, 1)
    assert house.free_leases(yard.database, 3) == 0
    _change(yard, "UPDATE claim SET leased_until = now() - interval '1 s'")
    assert house.free_leases(yard.database, 3) == 1
    assert [(row.status, row.crashes) for row in yard.rows("claim")] == [("ready", 1)]
    mill.close()


def test_what_a_dead_process_held_is_free_before_its_lease_runs_out(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE"))
    mill, recipe_id = yard.mill(saying())
    register_roots(mill, [yard.inbox], recipe_id)
    mill.claim(Stage.SPLIT, 1)
    host = mill.owner.split(":", maxsplit=1)[0]
    _change(yard, f"UPDATE claim SET owner = '{host}:999999:1:dead'")
    assert house.free_leases(yard.database, 3) == 1
    mill.close()


@pytest.mark.slow
def test_old_pictures_go_and_young_ones_stay(read: Yard, settings: Settings) -> None:
    old, young = _pictures(read).values()
    size = _aged(old, 31).stat().st_size
    assert house.purge_images(read.database, settings.store, days=30) == (1, size)
    assert (old.exists(), young.exists()) == (False, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "need",
    [
        "UPDATE claim SET status = 'ready' WHERE page_no > 0",
        "UPDATE claim SET status = 'waiting' WHERE page_no = 0",
        "UPDATE claim SET status = 'failed', code = 'x'",
        "UPDATE reading SET verdict = 'suspect'",
        "UPDATE reading SET verdict = 'bad'",
        "UPDATE source SET gone_at = now()",
    ],
)
def test_pictures_that_somebody_needs_stay_however_old(read: Yard, settings: Settings, need: str) -> None:
    pictures = [_aged(path, 400) for path in _pictures(read).values()]
    _change(read, need)
    assert house.purge_images(read.database, settings.store, days=30) == (0, 0)
    assert all(path.exists() for path in pictures)


@pytest.mark.slow
def test_pages_that_failed_keep_their_pictures_and_the_others_lose_them(
    yard: Yard, settings: Settings
) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO"))
    yard.ingest(saying(PageFailed("torn", Code.OCR_FAILED)))
    (failed,) = (row.page_no for row in yard.rows("claim", status="failed"))
    pictures = {page_no: _aged(path, 31) for page_no, path in _pictures(yard).items()}
    house.purge_images(yard.database, settings.store, days=30)
    assert [page_no for page_no, path in pictures.items() if path.exists()] == [failed]


def test_half_written_files_of_killed_processes_go_and_strange_ones_stay(yard: Yard) -> None:
    folder = yard.home / "store" / "ab" / "cd"
    part = _aged(factories.write(folder / ".part-x1", b"half"), 31)
    young = factories.write(folder / ".part-x2", b"half")
    strange = _aged(factories.write(folder / "notes.txt", b"mine"), 31)
    orphan = _aged(factories.write(folder / f"{'abcd' * 16}.jpg", b"of no page"), 31)
    assert house.purge_images(yard.database, yard.home / "store", days=30) == (1, 14)
    assert [path.exists() for path in (part, young, strange, orphan)] == [False, True, True, False]


def test_old_results_of_our_tasks_go_and_all_else_stays(tmp_path: Path) -> None:
    mine = tmp_path / cache_key(Stage.SPLIT, ["content"])
    old, young = _aged(factories.write(mine, b"{}"), 8), tmp_path / cache_key(Stage.PREPROCESS, ["content"])
    factories.write(young, b"{}")
    others = _aged(factories.write(tmp_path / "0b5c3c2e-result", b"{}"), 400)
    assert house.purge_results(tmp_path, days=7) == 1
    assert [path.exists() for path in (old, young, others)] == [False, True, True]
    assert house.purge_results(tmp_path / "nowhere", days=7) == 0
    assert set(STAGE_VERSION) == set(Stage)


def test_a_sound_ledger_is_a_run_that_ends_well(yard: Yard, settings: Settings) -> None:
    with called(settings):
        assert maintain.fn() == 0
    assert [(row.kind, row.outcome, row.recipe_id) for row in yard.rows("run")] == [("maintain", "ok", None)]


def test_a_broken_ledger_fails_the_run_with_a_line_for_each_invariant(yard: Yard, settings: Settings) -> None:
    document = {"sha256": "ab" * 32, "size": 1, "status": "pending"}
    yard.database.run(lambda conn: conn.execute(sa.insert(tables.document).values(document)))
    with called(settings), pytest.raises(PermanentError) as raised:
        maintain.fn()
    assert raised.value.code is Code.LEDGER_BROKEN
    assert raised.value.message.splitlines()[1:] == ["pending-without-work: 1 (document 1)"]
    assert [row.outcome for row in yard.rows("run")] == ["failed"]


def test_a_round_that_breaks_off_is_a_failed_run(
    yard: Yard, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(house, "purge_images", broken)
    with pytest.raises(ZeroDivisionError):
        run_maintenance(settings, images_days=30, results_days=7)
    assert [row.outcome for row in yard.rows("run")] == ["failed"]
