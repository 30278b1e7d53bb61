"""Which files a scan need not read: those whose name, size and time are as they were, for certain."""

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from db import runs
from db.engine import Database
from models import profiles
from models.document import IntakeFile, MediaType, SourceFile
from models.settings import load_settings
from tasks.mill import Mill
from tasks.scan import unchanged
from tests import factories
from tests.db.steps import RECIPE, register, sha

AN_HOUR_AGO = int((dt.datetime.now(dt.UTC) - dt.timedelta(hours=1)).timestamp() * 1e9)


@pytest.fixture
def mill(database: Database, tmp_path: Path) -> Iterator[Mill]:
    mill = Mill(
        settings=load_settings(home=tmp_path / "home", jobs=1),
        database=database,
        profile=profiles.get("ppocr"),
        run_id=database.run(lambda conn: runs.start(conn, "ingest", RECIPE, {})),
    )
    yield mill
    mill.close()


def known(
    mill: Mill, uri: str = "/a.pdf", mtime_ns: int = AN_HOUR_AGO, rejection: str | None = None
) -> SourceFile:
    """A file that was read just now and had not been changed for a while."""
    source = SourceFile(uri, 9, mtime_ns)
    kind = None if rejection else MediaType.PDF
    register(mill.database, IntakeFile(source, sha(uri), kind, rejection, rejection))
    return source


def names(mill: Mill, *files: SourceFile) -> list[str]:
    return [match.source.uri for match in unchanged(mill, files)]


def test_files_as_they_were_are_found_in_the_order_asked_for(mill: Mill) -> None:
    one, two = known(mill, "/a.pdf"), known(mill, "/b.pdf")
    assert names(mill, two, SourceFile("/new.pdf", 9, AN_HOUR_AGO), one) == ["/b.pdf", "/a.pdf"]
    assert names(mill) == []


@pytest.mark.parametrize("changed", [{"size": 10}, {"mtime_ns": AN_HOUR_AGO + 1}, {"mtime_ns": 0}])
def test_another_size_or_time_is_another_file(mill: Mill, changed: dict[str, int]) -> None:
    assert names(mill, replace(known(mill), **changed)) == []  # type: ignore[arg-type]


@pytest.mark.parametrize(("age_s", "is_sure"), [(0.5, False), (1.5, False), (3.0, True), (-60.0, False)])
def test_a_file_changed_just_before_it_was_read_may_have_changed_since(
    mill: Mill, age_s: float, is_sure: bool
) -> None:
    changed_at = dt.datetime.now(dt.UTC) - dt.timedelta(seconds=age_s)
    found = known(mill, mtime_ns=int(changed_at.timestamp() * 1e9))
    assert bool(names(mill, found)) is is_sure


def test_a_place_that_knows_no_times_is_read_at_every_scan(mill: Mill) -> None:
    assert names(mill, known(mill, mtime_ns=0)) == []


def test_a_name_that_means_another_content_by_now_is_read(mill: Mill) -> None:
    found = known(mill)
    superseded = sa.text("UPDATE source SET superseded_at = now()")
    mill.database.run(lambda conn: conn.execute(superseded))
    assert names(mill, found) == []


def test_a_refused_file_is_read_again_once_its_kind_is_known(mill: Mill, tmp_path: Path) -> None:
    strange = known(mill, str(tmp_path / "strange.bin"), rejection="unsupported-type")
    (tmp_path / "strange.bin").write_bytes(b"nobody knows")
    now_read = known(mill, str(tmp_path / "now.pdf"), rejection="unsupported-type")
    factories.write(tmp_path / "now.pdf", factories.pdf("words"))
    vanished = known(mill, str(tmp_path / "vanished"), rejection="unsupported-type")
    assert names(mill, strange, now_read, vanished) == [strange.uri, vanished.uri]
