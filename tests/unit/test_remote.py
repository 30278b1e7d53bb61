"""Files by URL, in fsspec's file system in memory, which is a real one without a network."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from models.document import ScanProblem, SourceFile
from models.errors import Code, ConfigurationError, EnvironmentFault, SourceBusy, SourceGone
from tasks.work import remote
from tasks.work.sources import check_unchanged, find, is_gone, normal


@pytest.fixture
def memory() -> Iterator[fsspec.AbstractFileSystem]:
    """An empty file system in memory."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pseudo_dirs[:] = [""]
    yield system
    system.store.clear()


def _files(*roots: str) -> list[str]:
    return [item.uri for item in find(roots) if isinstance(item, SourceFile)]


def _problems(*roots: str) -> dict[str, str]:
    return {item.uri: item.code for item in find(roots) if isinstance(item, ScanProblem)}


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        ("memory://in/", "memory://in"),
        ("MEMORY://in//", "memory://in"),
        ("file:///srv/in/", "/srv/in"),
        ("local:///srv/in", "/srv/in"),
        ("/srv/in", "/srv/in"),
        ("/srv/a:b", "/srv/a:b"),
    ],
)
def test_a_root_has_one_name_however_it_is_written(root: str, expected: str) -> None:
    assert normal(root) == expected


def test_a_url_of_an_unknown_kind_is_told() -> None:
    with pytest.raises(ConfigurationError, match="knows no nosuch://"):
        normal("nosuch://a/b")


def test_a_password_in_a_url_is_refused_and_not_repeated() -> None:
    with pytest.raises(ConfigurationError, match="FSSPEC_FTP_PASSWORD") as raised:
        normal("ftp://me:secret@host/folder")
    assert "secret" not in raised.value.message


def test_a_missing_package_is_told_in_one_line_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(protocol: str) -> None:
        raise ImportError(f"Install s3fs to access {protocol}")

    monkeypatch.setattr(fsspec, "get_filesystem_class", missing)
    with pytest.raises(EnvironmentFault) as raised:
        normal("s3://bucket")
    assert raised.value.code is Code.PACKAGE_MISSING
    assert raised.value.message == "s3:// needs a package that is not installed: pip install 'pagemill[s3]'."


def test_folders_are_listed_with_sizes_and_times(memory: fsspec.AbstractFileSystem) -> None:
    memory.pipe({"/in/b/2.pdf": b"12", "/in/a/deep/1.pdf": b"1", "/in/z.pdf": b"123", "/out/x.pdf": b"x"})
    assert _files("memory://in") == ["memory://in/z.pdf", "memory://in/a/deep/1.pdf", "memory://in/b/2.pdf"]
    sizes = [item.size for item in find(["memory://in"]) if isinstance(item, SourceFile)]
    assert sizes == [3, 1, 2]
    created_ns = memory.created("/in/z.pdf").timestamp() * 1e9
    (source,) = (item for item in find(["memory://in/z.pdf"]) if isinstance(item, SourceFile))
    assert source.mtime_ns == pytest.approx(created_ns, abs=1_000)


def test_names_of_nobodys_documents_are_passed_over(memory: fsspec.AbstractFileSystem) -> None:
    names = (".DS_Store", "a.pdf.part", "~$b.docx", "@eaDir/c.pdf", ".git/d.pdf")
    memory.pipe({f"/in/{name}": b"x" for name in (*names, "e.pdf")})
    assert _files("memory://in") == ["memory://in/e.pdf"]
    assert sorted(_problems("memory://in").values()) == [
        "ignored-hidden",
        "ignored-hidden",
        "ignored-system",
        "ignored-temporary",
        "ignored-temporary",
    ]


def test_a_root_that_is_not_there_is_told(memory: fsspec.AbstractFileSystem) -> None:
    assert _problems("memory://in") == {"memory://in": "source-gone"}
    assert is_gone("memory://in/a.pdf")


def test_a_file_is_copied_with_its_hash(memory: fsspec.AbstractFileSystem, tmp_path: Path) -> None:
    data = bytes(range(256)) * 100_000
    memory.pipe("/in/a.pdf", data)
    (source,) = (item for item in find(["memory://in"]) if isinstance(item, SourceFile))
    assert remote.download(source, tmp_path / "copy") == hashlib.sha256(data).hexdigest()
    assert (tmp_path / "copy").read_bytes() == data


def test_a_file_that_changed_since_it_was_listed_is_not_copied(
    memory: fsspec.AbstractFileSystem, tmp_path: Path
) -> None:
    memory.pipe("/in/a.pdf", b"one")
    (source,) = (item for item in find(["memory://in"]) if isinstance(item, SourceFile))
    memory.pipe("/in/a.pdf", b"two")
    for act in (lambda: remote.download(source, tmp_path / "copy"), lambda: check_unchanged(source)):
        with pytest.raises(SourceBusy, match="changed while it was read"):
            act()
    memory.rm("/in/a.pdf")
    with pytest.raises(SourceGone):
        remote.download(source, tmp_path / "copy")


def test_an_error_of_a_service_is_worth_another_try(
    memory: fsspec.AbstractFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("no answer\nand more lines")

    monkeypatch.setattr(type(memory), "info", broken)
    (problem,) = find(["memory://in"])
    assert isinstance(problem, ScanProblem)
    assert problem.code == "source-busy"
    assert problem.message == "memory://in cannot be read now: ZeroDivisionError: no answer."
    assert not is_gone("memory://in")


def test_a_folder_that_cannot_be_listed_does_not_hide_the_others(
    memory: fsspec.AbstractFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.pipe({"/in/a/1.pdf": b"1", "/in/closed/2.pdf": b"2"})
    listing = type(memory).ls

    def ls(self: fsspec.AbstractFileSystem, path: str, **options: object) -> object:
        if path.endswith("/closed"):
            raise PermissionError(path)
        return listing(self, path, **options)

    monkeypatch.setattr(type(memory), "ls", ls)
    assert _files("memory://in") == ["memory://in/a/1.pdf"]
    assert _problems("memory://in") == {"memory://in/closed": "source-forbidden"}
