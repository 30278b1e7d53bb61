"""`s3://` against a real server: keys of every shape, buckets that are not there, a store that is down."""

import hashlib
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from models.document import ScanProblem, SourceFile
from models.errors import SourceBusy, SourceGone
from tasks.work import remote
from tasks.work.sources import find, normal
from tests import s3

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A server for all tests of this file."""
    with s3.server() as url:
        yield url


@pytest.fixture
def bucket(url: str, request: pytest.FixtureRequest) -> Iterator[fsspec.AbstractFileSystem]:
    """An account with an empty bucket `docs`."""
    with s3.account(url) as system:
        if system.exists("docs"):
            system.rm("docs", recursive=True)
        system.mkdir("docs")
        yield system


def _files(root: str) -> list[str]:
    return [item.uri for item in find([root]) if isinstance(item, SourceFile)]


def _problems(root: str) -> dict[str, str]:
    return {item.uri: item.code for item in find([root]) if isinstance(item, ScanProblem)}


def test_keys_of_every_shape_are_found_and_read(bucket: fsspec.AbstractFileSystem, tmp_path: Path) -> None:
    names = ["a.pdf", "deep/er/b.pdf", "sub dir/ö 文書?#::c%20&.pdf", "d+e=f.pdf", "noext"]
    bucket.pipe({f"docs/in/{name}": name.encode() for name in names})
    found = {item.uri: item for item in find(["s3://docs/in"]) if isinstance(item, SourceFile)}
    assert set(found) == {f"s3://docs/in/{name}" for name in names}
    for name in names:
        sha256 = remote.download(found[f"s3://docs/in/{name}"], tmp_path / "copy")
        assert sha256 == hashlib.sha256(name.encode()).hexdigest()


def test_a_prefix_is_a_folder_and_a_bucket_is_one_too(bucket: fsspec.AbstractFileSystem) -> None:
    bucket.pipe({"docs/in/a.pdf": b"a", "docs/in-other/b.pdf": b"b", "docs/in/folder/": b""})
    assert _files(normal("s3://docs/in/")) == ["s3://docs/in/a.pdf"]
    assert _files("s3://docs") == ["s3://docs/in-other/b.pdf", "s3://docs/in/a.pdf"]
    assert _files("s3://docs/in/a.pdf") == ["s3://docs/in/a.pdf"]


def test_more_keys_than_fit_on_a_page_of_the_listing_are_found(bucket: fsspec.AbstractFileSystem) -> None:
    bucket.pipe({f"docs/in/{number:04}.pdf": b"x" for number in range(1_203)})
    assert len(_files("s3://docs/in")) == 1_203


def test_names_of_nobodys_documents_are_passed_over(bucket: fsspec.AbstractFileSystem) -> None:
    bucket.pipe({"docs/in/.git/a.pdf": b"a", "docs/in/b.pdf.part": b"b", "docs/in/c.pdf": b"c"})
    assert _files("s3://docs/in") == ["s3://docs/in/c.pdf"]
    assert sorted(_problems("s3://docs/in").values()) == ["ignored-hidden", "ignored-temporary"]


def test_a_large_file_is_copied_in_pieces_and_little_memory(
    bucket: fsspec.AbstractFileSystem, tmp_path: Path
) -> None:
    data = bytes(range(256)) * 4_096 * 100
    bucket.pipe("docs/in/large.pdf", data)
    source = remote.facts("s3://docs/in/large.pdf")
    tracemalloc.start()
    sha256 = remote.download(source, tmp_path / "copy")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sha256 == hashlib.sha256(data).hexdigest()
    assert (tmp_path / "copy").stat().st_size == source.size == len(data)
    assert most < 40_000_000 < len(data) / 2


def test_what_changed_or_vanished_since_the_listing_is_told(
    bucket: fsspec.AbstractFileSystem, tmp_path: Path
) -> None:
    bucket.pipe("docs/in/a.pdf", b"one")
    listed = remote.facts("s3://docs/in/a.pdf")
    bucket.pipe("docs/in/a.pdf", b"three")
    with pytest.raises(SourceBusy):
        remote.download(listed, tmp_path / "copy")
    bucket.rm("docs/in/a.pdf")
    with pytest.raises(SourceGone):
        remote.download(listed, tmp_path / "copy")
    assert remote.is_gone("s3://docs/in/a.pdf")


def test_a_bucket_or_prefix_that_is_not_there_is_gone(bucket: fsspec.AbstractFileSystem) -> None:
    assert _problems("s3://docs/nothing") == {"s3://docs/nothing": "source-gone"}
    assert _problems("s3://nowhere/in") == {"s3://nowhere/in": "source-gone"}


def test_a_store_that_is_down_is_told_and_nothing_counts_as_gone() -> None:
    with s3.account(f"http://127.0.0.1:{s3.free_port()}"):
        (problem,) = find(["s3://docs/in"])
        assert isinstance(problem, ScanProblem)
        assert (problem.uri, problem.code) == ("s3://docs/in", "source-busy")
        assert "Could not connect" in problem.message
        assert not remote.is_gone("s3://docs/in/a.pdf")
