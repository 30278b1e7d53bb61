"""Where exports go, and that nothing is overwritten by accident."""

from pathlib import Path

import pytest

from cli.choices import Format
from cli.export.run import refuse_input
from cli.export.writing import file_names, targets, write
from models.errors import ConfigurationError, EnvironmentFault
from tests.unit import shown


def test_one_document_goes_into_the_file_that_is_named(tmp_path: Path) -> None:
    assert targets([shown.view()], Format.MD, tmp_path / "out.md") == [tmp_path / "out.md"]


def test_one_document_goes_into_a_folder_under_its_own_name(tmp_path: Path) -> None:
    assert targets([shown.view()], Format.MD, tmp_path) == [tmp_path / "pumps.md"]


def test_several_documents_go_into_a_folder_that_may_be_new(tmp_path: Path) -> None:
    views = [shown.view(), shown.view(sources=("/scans/valves.tif",))]
    assert targets(views, Format.TXT, tmp_path / "new") == [
        tmp_path / "new" / "pumps.txt",
        tmp_path / "new" / "valves.txt",
    ]


def test_several_documents_do_not_fit_into_a_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="folder"):
        targets([shown.view(), shown.view(id=8)], Format.MD, tmp_path / "out.md")


def test_documents_of_the_same_name_get_their_hash_added() -> None:
    views = [shown.view(), shown.view(sha256="99" * 32, sources=("/other/PUMPS.pdf",))]
    assert file_names(views, Format.HTML) == ["pumps-ab12cd34.html", "PUMPS-99999999.html"]


def test_odd_names_become_safe_ones() -> None:
    odd = [
        shown.view(sources=(b"/scans/caf\xe9.pdf".decode("utf-8", "surrogateescape"),)),
        shown.view(sources=("/scans/.hidden",)),
        shown.view(sources=()),
        shown.view(sources=("/scans/" + "长" * 200 + ".pdf",)),
    ]
    names = file_names(odd, Format.TXT)
    assert names[:3] == ["caf\\xe9.txt", "hidden.txt", "ab12cd34ab12.txt"]
    assert all(len(name.encode()) < 255 for name in names)


def test_files_are_written_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.txt"
    write([path], ["one\n\ftwo 硬\n"], force=False)
    assert path.read_bytes() == "one\n\ftwo 硬\n".encode()
    assert [found.name for found in path.parent.iterdir()] == ["a.txt"]


def test_a_file_that_is_there_is_not_overwritten_and_nothing_else_is_written(tmp_path: Path) -> None:
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_text("mine")
    with pytest.raises(ConfigurationError, match="--force"):
        write([new, old], ["a", "b"], force=False)
    assert old.read_text() == "mine"
    assert not new.exists()


def test_force_overwrites(tmp_path: Path) -> None:
    path = tmp_path / "old.txt"
    path.write_text("mine")
    write([path], ["theirs"], force=True)
    assert path.read_text() == "theirs"


def test_a_failed_write_leaves_the_old_file_and_no_scrap(tmp_path: Path) -> None:
    path = tmp_path / "old.txt"
    path.write_text("mine")
    with pytest.raises(UnicodeEncodeError):
        write([path], ["\ud800"], force=True)
    assert path.read_text() == "mine"
    assert [found.name for found in tmp_path.iterdir()] == ["old.txt"]


@pytest.mark.parametrize("place", ["{0}/file/x.md", "/proc/none/x.md", "{0}/{1}.md", "{0}/self/x.md"])
def test_a_place_that_cannot_be_written_is_told_with_its_reason(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "self").symlink_to(tmp_path / "self")
    with pytest.raises(EnvironmentFault, match=r"cannot be written: .*\. Choose another --output"):
        write([Path(place.format(tmp_path, "x" * 300))], ["text"], force=False)


@pytest.mark.parametrize("force", [False, True])
def test_what_is_no_file_is_never_written_over(tmp_path: Path, force: bool) -> None:
    for place in (tmp_path, Path("/dev/null")):
        with pytest.raises(ConfigurationError, match="is no file"):
            write([place], ["text"], force=force)


def test_a_name_as_long_as_names_can_be_is_written(tmp_path: Path) -> None:
    path = tmp_path / f"{'x' * 252}.md"
    write([path], ["text"], force=False)
    assert path.read_text() == "text"


def test_a_link_to_itself_is_there_already_and_may_be_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "self"
    path.symlink_to(path)
    refuse_input(path, frozenset({str(tmp_path / "watched")}))
    with pytest.raises(ConfigurationError, match="is there already"):
        write([path], ["text"], force=False)
    write([path], ["text"], force=True)
    assert path.read_text() == "text"
