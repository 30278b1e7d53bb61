"""What is killed, lost or broken on the way is done again, once, by whoever comes next."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from models.document import DocumentStatus
from models.engine import OcrRequest
from models.errors import Code, EngineUnavailable, PictureGone, TransientError
from models.settings import RetryPolicy, RetrySettings
from models.stage import Stage
from tasks.maintain import check_ledger
from tasks.register import register_roots
from tasks.split import split_batch
from tasks.work.engines.fake import Answer, Delayed, FakeEngine, said
from tests import factories
from tests.flows.yard import Yard, saying
from tests.served import until

_RUN = """
import sys
from pathlib import Path
from db.engine import Database
from tasks.work.engines.fake import Delayed, FakeEngine, said
from tests.flows.yard import Yard
yard = Yard(Database(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
yard.ingest(FakeEngine([said("at once")] * 3, default=Delayed(600.0, said("slowly"))))
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], check=False)
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    yield disk
    subprocess.run(["umount", disk], check=True)


def test_an_engine_that_is_down_for_a_while_costs_no_page(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO"))
    asked: set[str] = set()

    def down_at_first(request: OcrRequest) -> Answer:
        is_known = request.image.sha256 in asked
        asked.add(request.image.sha256)
        return said("Words on paper") if is_known else EngineUnavailable("no answer")

    yard.ingest(FakeEngine(down_at_first))
    assert yard.document("a.pdf").status is DocumentStatus.COMPLETE
    runs = yard.rows("stage_run", stage="ocr")
    assert [(row.attempt, row.outcome) for row in runs] == [(1, "retry"), (2, "ok")]


def test_an_engine_that_stays_down_fails_pages_and_the_next_run_takes_them_up(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE"))
    yard.ingest(saying(*[EngineUnavailable("no answer")] * 4))
    document = yard.document("a.pdf")
    assert (document.status, document.code) == (DocumentStatus.FAILED, "engine-unavailable")
    yard.ingest()
    assert yard.document("a.pdf").status is DocumentStatus.COMPLETE


def test_a_page_that_kills_its_worker_again_and_again_is_put_aside(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO"))
    death = TransientError("killed by signal 11", Code.OCR_CRASH)
    yard.ingest(saying(said("ONE"), death, death, death))
    document = yard.document("a.pdf")
    assert (document.status, document.code) == (DocumentStatus.PARTIAL, "quarantined")
    assert len(yard.rows("reading")) == 1


def test_a_stopped_run_keeps_what_is_done_and_gives_the_rest_back(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf(*"123456789"))
    slow = FakeEngine([said("at once")] * 3, default=Delayed(600.0, said("slowly")))
    yard.ingest(slow, stop_when=lambda: len(yard.rows("reading")) == 3)
    assert not yard.rows("claim", status="leased")
    again = yard.ingest()
    assert len(again.requests) == 9 - 3
    assert yard.document("a.pdf").status is DocumentStatus.COMPLETE


def test_after_kill_9_the_next_run_does_only_what_is_missing(yard: Yard, postgres: str) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf(*"abcdefghijkl"))
    arguments = [postgres, str(yard.home), str(yard.inbox)]
    run = subprocess.Popen([sys.executable, "-c", _RUN, *arguments], start_new_session=True)
    try:
        until(lambda: len(yard.rows("reading")) == 3)
    finally:
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
    again = yard.ingest()
    assert len(again.requests) == 12 - 3
    assert len(yard.rows("reading")) == 12
    assert yard.document("a.pdf").status is DocumentStatus.COMPLETE


def test_connections_cut_in_the_middle_lose_and_double_nothing(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf(*"123456"))
    mine = sa.text(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE application_name = 'pagemill' AND pid <> pg_backend_pid()"
    )
    cuts: list[int] = []

    def cut(_request: OcrRequest) -> Answer:
        cuts.append(len(yard.database.run(lambda conn: conn.execute(mine).all())))
        return said("Words on paper")

    yard.ingest(FakeEngine(cut))
    assert sum(cuts) > 1
    assert sorted(row.page_no for row in yard.rows("reading")) == [1, 2, 3, 4, 5, 6]
    assert yard.document("a.pdf").status is DocumentStatus.COMPLETE


def test_a_file_that_changes_between_listing_and_rendering_gives_no_page_of_the_other(yard: Yard) -> None:
    path = factories.write(yard.inbox / "a.pdf", factories.pdf("old"))
    mill, recipe_id = yard.mill(saying())
    try:
        register_roots(mill, [yard.inbox], recipe_id)
        factories.write(path, factories.pdf("other", "content"))
        split_batch(mill, mill.claim(Stage.SPLIT, 1))
    finally:
        mill.close()
    assert yard.rows("page") == []
    assert [(row.status, row.code) for row in yard.rows("claim")] == [("ready", "source-busy")]


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system takes root")
def test_a_full_disk_ends_the_run_and_costs_no_page_a_try(yard: Yard, small_disk: Path) -> None:
    at_once = RetrySettings(preprocess=RetryPolicy(attempts=1, delay_s=0.05, factor=1))
    yard.settings = yard.settings.model_copy(update={"home": small_disk, "retry": at_once})
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE"))
    filler = factories.write(small_disk / "filler", b"x" * 1_040_000)
    with pytest.raises(TransientError) as full:
        yard.ingest()
    assert full.value.code is Code.STORE_FULL
    page = yard.rows("claim", page_no=1)[0]
    assert (page.status, page.attempt, yard.document("a.pdf").status) == ("ready", 0, DocumentStatus.PENDING)
    filler.unlink()
    yard.ingest()
    assert yard.document("a.pdf").status is DocumentStatus.COMPLETE


@pytest.mark.slow
def test_a_page_whose_picture_is_gone_has_it_made_anew_and_is_read(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO"))
    gone = iter([PictureGone("The page image is missing from the store.")])

    def answer(request: OcrRequest) -> Answer:
        for error in gone:
            request.path.unlink()
            return error
        assert request.path.exists()
        return said("Words on paper")

    yard.ingest(FakeEngine(answer))
    assert yard.document("a.pdf").status is DocumentStatus.COMPLETE
    codes = [row.code for row in yard.rows("stage_run", stage="ocr") if row.code]
    assert codes == ["picture-gone"]
    assert check_ledger(yard.database) == ()


@pytest.mark.slow
def test_a_run_that_is_under_way_when_a_newer_version_migrates_comes_to_its_end(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE", "TWO"))
    names = ("claim", "reading", "document", "run")

    def alter(how: str) -> None:
        statements = [sa.text(f"ALTER TABLE {name} {how}") for name in names]
        yard.database.run(lambda conn: [conn.execute(one) for one in statements])

    def answer(_: OcrRequest) -> Answer:
        alter("ADD COLUMN IF NOT EXISTS newer INTEGER")
        return said("Words on paper")

    try:
        yard.ingest(FakeEngine(answer))
        assert yard.document("a.pdf").status is DocumentStatus.COMPLETE
    finally:
        alter("DROP COLUMN newer")
