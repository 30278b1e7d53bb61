"""Copies of remote files: never more disk than allowed, never taken away from who reads them."""

import hashlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from models.document import MediaType, SourceFile
from models.errors import Code, SourceBusy
from tasks.work.remote import facts
from tasks.work.remote_copies import Copies, sweep
from tasks.work.sources import take
from tests import factories


@pytest.fixture
def store() -> Iterator[fsspec.AbstractFileSystem]:
    """Three files of 100 bytes."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    for name in "abc":
        system.pipe(f"/in/{name}", name.encode() * 100)
    yield system
    system.store.clear()


def _source(name: str) -> SourceFile:
    return facts(f"memory://in/{name}")


def _sha(name: str) -> str:
    return hashlib.sha256(name.encode() * 100).hexdigest()


def _bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def test_a_copy_is_made_once_and_given_to_all(store: fsspec.AbstractFileSystem, tmp_path: Path) -> None:
    copies = Copies(tmp_path / "copies", 1_000)
    path = copies.acquire(_source("a"), _sha("a"))
    assert path.read_bytes() == b"a" * 100
    listed = _source("a")
    store.rm("/in/a")
    assert copies.acquire(listed, _sha("a")) == copies.kept(_sha("a")) == path


def test_what_was_not_used_for_longest_makes_room(store: fsspec.AbstractFileSystem, tmp_path: Path) -> None:
    copies = Copies(tmp_path, 250)
    for name in ("a", "b", "a", "c"):
        copies.acquire(_source(name), _sha(name))
        copies.release(_sha(name))
        assert _bytes_in(tmp_path) <= 250
    assert copies.kept(_sha("b")) is None
    assert {path.name for path in tmp_path.iterdir()} == {_sha("a"), _sha("c")}


def test_who_finds_all_copies_in_use_waits_until_one_is_released(
    store: fsspec.AbstractFileSystem, tmp_path: Path
) -> None:
    copies = Copies(tmp_path, 250)
    for name in "ab":
        copies.acquire(_source(name), _sha(name))
    waiting = threading.Thread(target=copies.acquire, args=(_source("c"), _sha("c")))
    waiting.start()
    time.sleep(0.2)
    assert waiting.is_alive()
    assert _bytes_in(tmp_path) == 200
    copies.release(_sha("a"))
    waiting.join(120)
    assert {path.name for path in tmp_path.iterdir()} == {_sha("b"), _sha("c")}


def test_a_file_that_can_never_fit_is_refused_before_it_is_fetched(
    store: fsspec.AbstractFileSystem, tmp_path: Path
) -> None:
    copies = Copies(tmp_path / "copies", 99)
    with pytest.raises(SourceBusy, match="PAGEMILL_COPIES_GIB") as raised:
        copies.acquire(_source("a"), _sha("a"))
    assert raised.value.code is Code.TOO_LARGE
    assert not (tmp_path / "copies").exists()


def test_other_bytes_than_those_registered_are_not_given(
    store: fsspec.AbstractFileSystem, tmp_path: Path
) -> None:
    copies = Copies(tmp_path, 150)
    with pytest.raises(SourceBusy, match="changed"):
        copies.acquire(_source("a"), _sha("b"))
    assert copies.acquire(_source("c"), _sha("c")).read_bytes() == b"c" * 100


def test_what_fails_while_it_is_fetched_leaves_its_room(
    store: fsspec.AbstractFileSystem, tmp_path: Path
) -> None:
    copies = Copies(tmp_path, 100)
    stale = _source("a")
    store.pipe("/in/a", b"other")
    for _ in range(3):
        with pytest.raises(SourceBusy):
            copies.acquire(stale, _sha("a"))
    assert list(tmp_path.iterdir()) == []
    assert copies.acquire(_source("b"), _sha("b")).exists()


def test_a_remote_file_is_taken_with_its_kind_and_kept_for_what_comes(
    store: fsspec.AbstractFileSystem, tmp_path: Path
) -> None:
    copies = Copies(tmp_path, 100_000)
    store.pipe("/in/d.pdf", factories.pdf("text"))
    taken = take(_source("d.pdf"), 0, copies)
    assert taken.media_type is MediaType.PDF
    assert copies.kept(taken.sha256) is not None
    refused = take(_source("a"), 0, copies)
    assert (refused.media_type, refused.rejection) == (None, "unsupported-type")
    with pytest.raises(SourceBusy) as raised:
        take(_source("b"), 60, copies)
    assert raised.value.code is Code.IGNORED_UNSETTLED


def test_closing_removes_all_and_sweeping_what_the_dead_left(
    store: fsspec.AbstractFileSystem, tmp_path: Path
) -> None:
    copies = Copies(tmp_path / "me", 1_000)
    copies.acquire(_source("a"), _sha("a"))
    factories.write(tmp_path / "dead" / "copy", b"x")
    sweep(tmp_path, lambda owner: owner == "dead")
    assert [path.name for path in tmp_path.iterdir()] == ["me"]
    copies.close()
    assert list(tmp_path.iterdir()) == []
    sweep(tmp_path / "nowhere", lambda _: True)
