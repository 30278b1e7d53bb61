import errno
import hashlib
import os
import resource
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from models.errors import Code, EnvironmentFault, StoreFull
from tasks.work.store import Store
from tests.permissions import as_nobody


def test_what_is_put_lies_under_its_hash(tmp_path: Path) -> None:
    store = Store(tmp_path)
    sha256 = store.put(b"page", ".jpg")
    assert sha256 == hashlib.sha256(b"page").hexdigest()
    assert store.path(sha256, ".jpg").read_bytes() == b"page"
    assert store.exists(sha256, ".jpg")


def test_what_was_never_put_does_not_exist(tmp_path: Path) -> None:
    assert not Store(tmp_path).exists("ab" * 32, ".jpg")


def test_putting_twice_writes_once_and_makes_young_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    path = store.path(store.put(b"page", ".jpg"), ".jpg")
    before = path.stat()
    os.utime(path, (1000, 1000))
    store.put(b"page", ".jpg")
    assert path.stat().st_ino == before.st_ino
    assert path.stat().st_mtime >= before.st_mtime


def test_a_file_cut_short_by_a_power_cut_is_written_anew(tmp_path: Path) -> None:
    store = Store(tmp_path)
    path = store.path(store.put(b"page", ".jpg"), ".jpg")
    path.write_bytes(b"")
    assert not store.exists(path.stem, ".jpg")
    store.put(b"page", ".jpg")
    assert path.read_bytes() == b"page"


def test_a_folder_that_was_removed_meanwhile_is_made_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    path = store.path(store.put(b"page", ".jpg"), ".jpg")
    path.unlink()
    path.parent.rmdir()
    store.put(b"page", ".jpg")
    assert path.read_bytes() == b"page"


def test_many_writers_of_the_same_bytes_leave_one_file(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with ThreadPoolExecutor(8) as threads:
        names = set(threads.map(lambda _: store.put(b"x" * 100_000, ".jpg"), range(64)))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(names) == len(files) == 1


def test_a_root_that_may_not_be_written_is_a_fault_of_the_environment(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir(mode=0o500)
    with as_nobody(tmp_path), pytest.raises(EnvironmentFault) as caught:
        Store(tmp_path / "store").put(b"page", ".jpg")
    assert caught.value.code is Code.HOME_UNWRITABLE
    assert "PAGEMILL_HOME" in caught.value.message


def test_a_file_in_the_way_of_the_store_is_a_fault_of_the_environment(tmp_path: Path) -> None:
    (tmp_path / "store").write_bytes(b"")
    with pytest.raises(EnvironmentFault):
        Store(tmp_path / "store").put(b"page", ".jpg")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_tried_again_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("tempfile.mkstemp", full)
    with pytest.raises(StoreFull) as caught:
        Store(tmp_path).put(b"page", ".jpg")
    assert caught.value.code is Code.STORE_FULL


def test_a_write_that_fails_half_way_leaves_nothing_behind(tmp_path: Path) -> None:
    """A limit on file size is the one real "no more room" that needs no disk of its own."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    try:
        with pytest.raises(EnvironmentFault):
            Store(tmp_path).put(b"x" * 100_000, ".jpg")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
