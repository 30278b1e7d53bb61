"""Where the bytes of a document still are, and which folders may be scanned."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from models.document import SourceFile
from models.errors import Code, ConfigurationError, SourceBusy, SourceGone
from models.settings import load_settings
from tasks.places import place_of
from tasks.scan import roots_of


def seen(path: Path, text: str = "words") -> SourceFile:
    """A file as it was registered."""
    path.write_text(text)
    stat = path.stat()
    return SourceFile(str(path), stat.st_size, stat.st_mtime_ns)


def roots(home: Path, *paths: Path | str) -> Sequence[str]:
    return roots_of(load_settings(home=home), paths)


def test_the_first_place_that_is_as_it_was_is_taken(tmp_path: Path) -> None:
    gone, grown, same, other = (seen(tmp_path / name) for name in ("a", "b", "c", "d"))
    Path(gone.uri).unlink()
    Path(grown.uri).write_text("more words")
    assert place_of([gone, grown, same, other]) == same
    assert place_of([other, same]) == other


def test_where_no_place_is_as_it_was_the_last_one_says_why(tmp_path: Path) -> None:
    gone, grown = seen(tmp_path / "a"), seen(tmp_path / "b")
    Path(gone.uri).unlink()
    Path(grown.uri).write_text("more words")
    with pytest.raises(SourceBusy):
        place_of([gone, grown])
    with pytest.raises(SourceGone):
        place_of([grown, gone])


def test_a_document_without_any_place_is_gone() -> None:
    with pytest.raises(SourceGone, match="none of the places"):
        place_of([])


def test_a_file_of_the_same_size_and_another_time_is_another_file(tmp_path: Path) -> None:
    one = seen(tmp_path / "a")
    os.utime(one.uri, ns=(one.mtime_ns, one.mtime_ns + 1_000))
    with pytest.raises(SourceBusy):
        place_of([one])


def test_roots_are_absolute_and_each_is_scanned_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    monkeypatch.chdir(tmp_path)
    assert roots(tmp_path / "home", "inbox", inbox, f"{inbox}/") == [str(inbox)]
    assert roots(tmp_path / "home", tmp_path / "b", tmp_path / "a") == [
        str(tmp_path / "b"),
        str(tmp_path / "a"),
    ]


def test_no_roots_at_all_are_refused_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="name at least one"):
        roots(tmp_path)


@pytest.mark.parametrize("root", ["", "home", "home/store", "home/store/ab"])
def test_what_holds_pagemill_s_own_files_is_refused_as_a_root(tmp_path: Path, root: str) -> None:
    with pytest.raises(ConfigurationError, match="PAGEMILL_HOME") as refused:
        roots(tmp_path / "home", tmp_path / "inbox", tmp_path / root)
    assert refused.value.code is Code.OUTPUT_IN_INPUT


@pytest.mark.parametrize("root", ["inbox", "home/inbox", "home-of-others", "home.pdf"])
def test_folders_beside_pagemill_s_own_files_are_read(tmp_path: Path, root: str) -> None:
    assert roots(tmp_path / "home", tmp_path / root) == [str(tmp_path / root)]


def test_a_link_does_not_hide_that_a_root_holds_pagemill_s_own_files(tmp_path: Path) -> None:
    (tmp_path / "real" / "home").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(ConfigurationError) as refused:
        roots(tmp_path / "link" / "home", tmp_path / "real")
    assert refused.value.code is Code.OUTPUT_IN_INPUT
