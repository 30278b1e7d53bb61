"""Remote roots from the listing to the search: an S3 server, bounded copies, changes between scans."""

import hashlib
import socket
from collections.abc import Iterator

import fsspec
import pytest

from db.search import search
from models.document import DocumentStatus
from models.errors import Code, ScanStopped
from models.settings import load_settings
from tests import factories, s3
from tests.flows.engines import LayerEngine
from tests.flows.yard import QUICK_RETRIES, Yard, saying

# Each starts worker processes, and one of them a server.
pytestmark = pytest.mark.slow

_IN = "s3://docs/in"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A server for all tests of this file."""
    with s3.server() as url:
        yield url


@pytest.fixture
def bucket(url: str) -> Iterator[fsspec.AbstractFileSystem]:
    """A bucket `docs` with two documents."""
    with s3.account(url) as system:
        if system.exists("docs"):
            system.rm("docs", recursive=True)
        system.mkdir("docs")
        system.pipe("docs/in/a.pdf", factories.pdf("anchor", "mast"))
        system.pipe("docs/in/sub folder/b.pdf", factories.pdf("rudder"))
        yield system


def _found(yard: Yard, *words: str) -> list[int]:
    return [len(yard.database.run(lambda conn, word=word: search(conn, word))) for word in words]  # type: ignore[misc]


def _status(yard: Yard) -> set[str]:
    return {row.status for row in yard.rows("document")}


def test_documents_in_a_bucket_are_read_once_and_leave_no_copies(
    yard: Yard, bucket: fsspec.AbstractFileSystem
) -> None:
    yard.ingest(LayerEngine(), roots=[_IN])
    assert _status(yard) == {DocumentStatus.COMPLETE}
    assert _found(yard, "anchor", "mast", "rudder") == [1, 1, 1]
    assert yard.ingest(roots=[f"{_IN}/"]).requests == []
    assert {row.uri for row in yard.rows("source")} == {f"{_IN}/a.pdf", f"{_IN}/sub folder/b.pdf"}
    assert not any((yard.home / "copies").iterdir())


def test_changes_in_a_bucket_are_followed(yard: Yard, bucket: fsspec.AbstractFileSystem) -> None:
    yard.ingest(LayerEngine(), roots=[_IN])
    bucket.pipe("docs/in/a.pdf", factories.pdf("a compass in place of it"))
    bucket.mv("docs/in/sub folder/b.pdf", "docs/in/c.pdf")
    engine = LayerEngine()
    yard.ingest(engine, roots=[_IN])
    assert len(engine.requests) == 1
    assert _found(yard, "anchor", "compass", "rudder") == [0, 1, 1]
    gone = [row.uri for row in yard.rows("source") if row.gone_at is not None]
    assert gone == [f"{_IN}/sub folder/b.pdf"]


def test_an_emptied_prefix_or_a_store_that_is_down_stops_the_scan_and_changes_nothing(
    yard: Yard, bucket: fsspec.AbstractFileSystem
) -> None:
    yard.scan(roots=[_IN])
    before = yard.rows("source")
    bucket.rm("docs/in", recursive=True)
    with pytest.raises(ScanStopped) as raised:
        yard.scan(roots=[_IN])
    assert raised.value.code is Code.ROOT_UNAVAILABLE
    with (
        s3.account(f"http://127.0.0.1:{s3.free_port()}"),
        pytest.raises(ScanStopped, match="Could not connect"),
    ):
        yard.scan(roots=[_IN])
    assert yard.rows("source") == before


def test_an_object_of_a_bucket_and_a_file_with_its_content_are_one_document(
    yard: Yard, bucket: fsspec.AbstractFileSystem
) -> None:
    factories.write(yard.inbox / "local.pdf", bucket.cat("docs/in/a.pdf"))
    engine = yard.ingest(saying(), roots=[_IN, str(yard.inbox), f"file://{yard.inbox}"])
    assert len(engine.requests) == 3
    assert (len(yard.rows("document")), len(yard.rows("source"))) == (2, 3)


def test_copies_that_are_allowed_one_document_at_a_time_let_all_be_read(
    yard: Yard, memory: fsspec.AbstractFileSystem
) -> None:
    data = [factories.pdf(*(f"page {page} of {number}" for page in range(3))) for number in range(8)]
    memory.pipe({f"/in/{number}.pdf": content for number, content in enumerate(data)})
    most = max(map(len, data)) * 3 // 2
    yard.settings = load_settings(
        home=yard.home, retry=QUICK_RETRIES, jobs=2, vectors=False, copies_gib=most / 1024**3
    )
    yard.ingest(roots=["memory://in"])
    assert len(yard.rows("document", status="complete")) == 8


def test_an_object_that_changes_between_scan_and_split_is_read_by_the_next_scan(
    yard: Yard, memory: fsspec.AbstractFileSystem
) -> None:
    memory.pipe("/in/a.pdf", factories.pdf("anchor"))
    yard.scan(roots=["memory://in"])
    memory.pipe("/in/a.pdf", factories.pdf("rudder"))
    yard.ingest(LayerEngine(), roots=["memory://in"])
    new = hashlib.sha256(memory.cat("/in/a.pdf")).hexdigest()
    assert [row.sha256 for row in yard.rows("document") if row.edition_id] == [new]
    assert _found(yard, "anchor", "rudder") == [0, 1]


def test_copies_that_a_killed_process_left_are_removed_by_the_next_run(yard: Yard) -> None:
    folder = yard.home / "copies"
    for owner in (
        f"{socket.gethostname()}:999999999:1:dead",
        "another-host:1:1:x",
        f"{socket.gethostname()}:x",
    ):
        factories.write(folder / owner / "copy", b"x")
    mill, _ = yard.mill(saying())
    mill.free_dead()
    mill.close()
    names = {left.name for left in folder.iterdir()}
    assert names == {"another-host:1:1:x", f"{socket.gethostname()}:x"}


@pytest.fixture
def memory() -> Iterator[fsspec.AbstractFileSystem]:
    """An empty file system in memory."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    yield system
    system.store.clear()
