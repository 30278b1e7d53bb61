import os
import socket
import time
from pathlib import Path

import pytest

from models.document import MediaType, ScanProblem, SourceFile
from models.errors import Code, SourceBusy, SourceForbidden, SourceGone
from tasks.work.sources import check_unchanged, find, is_gone, take
from tasks.work.sources_local import reading
from tests import factories
from tests.permissions import as_nobody


def _files(*paths: Path, output: Path | None = None) -> list[str]:
    found = find(paths, output)
    return [Path(item.uri).name for item in found if isinstance(item, SourceFile)]


def _problems(*paths: Path, output: Path | None = None) -> dict[str, str]:
    found = find(paths, output)
    return {Path(item.uri).name: item.code for item in found if isinstance(item, ScanProblem)}


def _source(path: Path) -> SourceFile:
    (found,) = find([path])
    assert isinstance(found, SourceFile)
    return found


def test_folders_are_walked_in_order_of_name(tmp_path: Path) -> None:
    for name in ("b/2.pdf", "a/1.pdf", "z.pdf", "a/deep/er/0.pdf"):
        factories.write(tmp_path / name, b"x")
    assert _files(tmp_path) == ["z.pdf", "1.pdf", "0.pdf", "2.pdf"]


def test_files_and_folders_may_be_mixed_and_nothing_comes_twice(tmp_path: Path) -> None:
    one = factories.write(tmp_path / "in" / "1.pdf", b"x")
    factories.write(tmp_path / "in" / "2.pdf", b"x")
    assert _files(one, tmp_path / "in", one) == ["1.pdf", "2.pdf"]


def test_a_listed_file_has_an_absolute_path_size_and_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = factories.write(tmp_path / "a.pdf", b"12345")
    monkeypatch.chdir(tmp_path)
    assert _source(Path("a.pdf")) == SourceFile(str(path), 5, path.stat().st_mtime_ns)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("._x.pdf", "ignored-hidden"),
        (".DS_Store", "ignored-hidden"),
        ("Thumbs.db", "ignored-system"),
        ("THUMBS.DB", "ignored-system"),
        ("Desktop.ini", "ignored-system"),
        ("~$letter.docx", "ignored-temporary"),
        ("scan.pdf.part", "ignored-temporary"),
        ("scan.PDF.CRDOWNLOAD", "ignored-temporary"),
        ("scan.Tmp", "ignored-temporary"),
        ("@eaDir", "ignored-system"),
        ("lost+found", "ignored-system"),
        ("$RECYCLE.BIN", "ignored-system"),
    ],
)
def test_hidden_system_and_temporary_files_are_passed_over_and_counted(
    tmp_path: Path, name: str, code: str
) -> None:
    factories.write(tmp_path / name, bytes(4096))
    assert _problems(tmp_path) == {name: code}
    assert not _files(tmp_path)


def test_a_hidden_folder_is_not_entered(tmp_path: Path) -> None:
    factories.write(tmp_path / ".git" / "a.pdf", b"x")
    assert _problems(tmp_path) == {".git": "ignored-hidden"}


def test_a_file_that_is_named_itself_is_taken_whatever_its_name(tmp_path: Path) -> None:
    assert _files(factories.write(tmp_path / ".hidden.pdf", b"x")) == [".hidden.pdf"]


def test_other_kinds_of_file_are_found_so_that_they_can_be_refused(tmp_path: Path) -> None:
    factories.write(tmp_path / "notes.txt", b"text")
    assert _files(tmp_path) == ["notes.txt"]


def test_the_output_folder_is_never_read_as_input(tmp_path: Path) -> None:
    factories.write(tmp_path / "home" / "store" / "page.jpg", b"x")
    assert _problems(tmp_path, output=tmp_path / "home") == {"home": "ignored-output"}
    assert not _files(tmp_path, output=tmp_path / "home")


def test_links_are_not_followed_so_loops_and_links_outside_are_harmless(tmp_path: Path) -> None:
    (tmp_path / "secrets").symlink_to("/etc/passwd")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert _problems(tmp_path) == {"secrets": "ignored-symlink", "loop": "ignored-symlink"}


def test_a_link_that_is_named_itself_is_followed(tmp_path: Path) -> None:
    factories.write(tmp_path / "real" / "a.pdf", b"x")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert _files(tmp_path / "link") == ["a.pdf"]


def test_a_fifo_and_a_socket_are_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.pdf")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "y.pdf"))
        assert _problems(tmp_path) == {"x.pdf": "ignored-special", "y.pdf": "ignored-special"}
    assert _problems(tmp_path / "x.pdf") == {"x.pdf": "ignored-special"}


def test_a_path_that_is_not_there_is_told_and_the_rest_is_found(tmp_path: Path) -> None:
    there = factories.write(tmp_path / "a.pdf", b"x")
    assert _problems(tmp_path / "nowhere", there) == {"nowhere": "source-gone"}
    assert _files(tmp_path / "nowhere", there) == ["a.pdf"]


def test_a_folder_without_permission_is_told_and_the_rest_is_found(tmp_path: Path) -> None:
    factories.write(tmp_path / "a.pdf", b"x")
    (tmp_path / "closed").mkdir(mode=0o000)
    with as_nobody(tmp_path):
        assert _problems(tmp_path) == {"closed": "source-forbidden"}
        assert _files(tmp_path) == ["a.pdf"]


def test_a_file_without_permission_is_forbidden_until_it_is_fixed(tmp_path: Path) -> None:
    path = factories.write(tmp_path / "a.pdf", factories.pdf("x"))
    path.chmod(0o000)
    with as_nobody(tmp_path), pytest.raises(SourceForbidden, match="permission"):
        take(_source(path))
    path.chmod(0o444)
    with as_nobody(tmp_path):
        assert take(_source(path)).media_type is MediaType.PDF


def test_a_name_that_is_not_utf8_keeps_working(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/caf\xe9.pdf"
    factories.write(Path(os.fsdecode(name)), factories.pdf("x"))
    (found,) = find([tmp_path])
    assert isinstance(found, SourceFile)
    assert os.fsencode(found.uri) == name
    assert take(found).media_type is MediaType.PDF


def test_a_name_as_long_as_names_can_be_keeps_working(tmp_path: Path) -> None:
    path = factories.write(tmp_path / ("n" * 251 + ".pdf"), factories.pdf("x"))
    assert take(_source(path)).media_type is MediaType.PDF


def test_two_names_of_the_same_bytes_have_one_hash(tmp_path: Path) -> None:
    data = factories.pdf("x")
    one, two = (take(_source(factories.write(tmp_path / name, data))) for name in ("a.pdf", "b.pdf"))
    assert one.sha256 == two.sha256
    assert one.source != two.source


def test_refused_content_has_its_hash_code_and_reason(tmp_path: Path) -> None:
    taken = take(_source(factories.write(tmp_path / "a.pdf", b"<html></html>")))
    assert taken.media_type is None
    assert taken.rejection == "unsupported-type"
    assert taken.message is not None
    assert len(taken.sha256) == 64


def test_a_file_that_vanished_after_listing_is_gone(tmp_path: Path) -> None:
    source = _source(factories.write(tmp_path / "a.pdf", b"x"))
    Path(source.uri).unlink()
    with pytest.raises(SourceGone):
        take(source)


def test_a_file_that_grew_after_listing_is_busy(tmp_path: Path) -> None:
    path = factories.write(tmp_path / "a.pdf", factories.pdf("x"))
    source = _source(path)
    with path.open("ab") as file:
        file.write(bytes(65_536))
    with pytest.raises(SourceBusy):
        take(source)


def test_a_file_rewritten_in_the_same_size_is_busy(tmp_path: Path) -> None:
    path = factories.write(tmp_path / "a.pdf", factories.pdf("x"))
    source = _source(path)
    os.utime(path, ns=(0, source.mtime_ns + 1))
    with pytest.raises(SourceBusy):
        check_unchanged(source)


def test_a_file_replaced_by_a_fifo_is_busy_and_does_not_block(tmp_path: Path) -> None:
    path = factories.write(tmp_path / "a.pdf", b"x")
    source = _source(path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(SourceBusy):
        take(source)


def test_what_is_read_while_the_file_is_rewritten_in_its_size_and_time_is_not_the_documents(
    tmp_path: Path,
) -> None:
    path = factories.write(tmp_path / "a.pdf", factories.pdf("x"))
    source = _source(path)
    sha256 = take(source).sha256

    def rewriting(path: Path) -> str:
        path.write_bytes(bytes(source.size))
        os.utime(path, ns=(0, source.mtime_ns))
        return "read"

    with pytest.raises(SourceBusy):
        reading(source, sha256, rewriting, path)
    assert reading(source, None, rewriting, path) == "read"
    assert reading(None, sha256, rewriting, path) == "read"


def test_what_is_read_of_a_file_that_grows_meanwhile_is_not_the_documents(tmp_path: Path) -> None:
    path = factories.write(tmp_path / "a.pdf", factories.pdf("x"))
    source = _source(path)
    with pytest.raises(SourceBusy):
        reading(source, None, lambda path: path.write_bytes(b"more"), path)


def test_a_place_is_gone_only_where_nothing_stands_and_one_may_look(tmp_path: Path) -> None:
    path = factories.write(tmp_path / "closed" / "a.pdf", b"x")
    assert is_gone(str(tmp_path / "b.pdf"))
    assert is_gone(f"{path}/c.pdf")
    assert not is_gone(str(path))
    path.parent.chmod(0o000)
    with as_nobody(tmp_path):
        assert not is_gone(str(path.parent / "d.pdf"))
    path.parent.chmod(0o755)


def test_a_file_is_left_alone_until_it_has_settled(tmp_path: Path) -> None:
    path = factories.write(tmp_path / "a.pdf", factories.pdf("x"))
    with pytest.raises(SourceBusy) as raised:
        take(_source(path), settle_s=60)
    assert raised.value.code is Code.IGNORED_UNSETTLED
    assert take(_source(path), settle_s=0).media_type is MediaType.PDF
    long_ago = time.time() - 3_600
    os.utime(path, (long_ago, long_ago))
    assert take(_source(path), settle_s=60).media_type is MediaType.PDF


def test_a_file_server_whose_clock_runs_ahead_makes_no_file_look_settled(tmp_path: Path) -> None:
    path = factories.write(tmp_path / "a.pdf", factories.pdf("x"))
    ahead = time.time() + 120
    os.utime(path, (ahead, ahead))
    with pytest.raises(SourceBusy):
        take(_source(path), settle_s=10)


def test_a_time_in_the_future_does_not_keep_a_file_out_for_ever(tmp_path: Path) -> None:
    path = factories.write(tmp_path / "a.pdf", factories.pdf("x"))
    tomorrow = time.time() + 86_400
    os.utime(path, (tomorrow, tomorrow))
    assert take(_source(path), settle_s=60).media_type is MediaType.PDF


def test_one_bad_file_does_not_hide_the_others(tmp_path: Path) -> None:
    factories.write(tmp_path / "0.pdf", b"")
    for number in range(1, 10):
        factories.write(tmp_path / f"{number}.pdf", factories.pdf(str(number)))
    taken = [take(source) for source in find([tmp_path]) if isinstance(source, SourceFile)]
    assert [file.rejection for file in taken] == ["empty"] + [None] * 9
