"""Symbolic links, followed where that is wanted: each folder once, never out of control."""

import os
from pathlib import Path

import pytest

from models.document import ScanProblem, SourceFile
from tasks.work.sources import find
from tests import factories
from tests.permissions import as_nobody


def _names(*roots: Path, output: Path | None = None) -> list[str]:
    found = find(roots, output, follows_links=True)
    return [item.uri.removeprefix(f"{roots[0]}/") for item in found if isinstance(item, SourceFile)]


def _problems(*roots: Path, output: Path | None = None) -> dict[str, str]:
    found = find(roots, output, follows_links=True)
    return {Path(item.uri).name: item.code for item in found if isinstance(item, ScanProblem)}


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder with one file, not below the root."""
    factories.write(tmp_path / "outside" / "b.pdf", b"x")
    return tmp_path / "outside"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with one file."""
    factories.write(tmp_path / "root" / "a.pdf", b"x")
    return tmp_path / "root"


def test_files_and_folders_behind_links_are_found_under_the_names_of_the_links(
    root: Path, outside: Path
) -> None:
    (root / "folder").symlink_to(outside)
    (root / "file.pdf").symlink_to(outside / "b.pdf")
    assert _names(root) == ["a.pdf", "file.pdf", "folder/b.pdf"]


def test_a_link_to_a_parent_is_entered_once(root: Path) -> None:
    (root / "deep").mkdir()
    (root / "deep" / "up").symlink_to(root)
    assert _names(root) == ["a.pdf"]
    assert _problems(root) == {"up": "ignored-symlink"}


def test_folders_that_are_linked_in_circles_are_entered_once(root: Path, outside: Path) -> None:
    (root / "out").symlink_to(outside)
    (outside / "back").symlink_to(root)
    (outside / "self").symlink_to(outside)
    assert _names(root) == ["a.pdf", "out/b.pdf"]
    assert _problems(root) == {"back": "ignored-symlink", "self": "ignored-symlink"}


def test_a_folder_keeps_its_own_name_where_a_link_leads_to_it_too(root: Path) -> None:
    factories.write(root / "real" / "c.pdf", b"x")
    (root / "aaa").symlink_to(root / "real")
    assert _names(root) == ["a.pdf", "real/c.pdf"]
    assert _problems(root) == {"aaa": "ignored-symlink"}


def test_a_link_that_leads_nowhere_or_to_itself_is_told_and_the_rest_is_found(root: Path) -> None:
    (root / "dangling.pdf").symlink_to(root / "nothing")
    (root / "self.pdf").symlink_to(root / "self.pdf")
    assert _problems(root) == {"dangling.pdf": "source-gone", "self.pdf": "source-busy"}
    assert _names(root) == ["a.pdf"]


def test_a_hidden_link_and_one_to_a_fifo_are_passed_over(root: Path, outside: Path) -> None:
    os.mkfifo(outside / "fifo")
    (root / "x.pdf").symlink_to(outside / "fifo")
    (root / ".b.pdf").symlink_to(outside / "b.pdf")
    assert _problems(root) == {"x.pdf": "ignored-special", ".b.pdf": "ignored-hidden"}


def test_pagemills_own_folder_is_not_entered_through_a_link(root: Path, outside: Path) -> None:
    (root / "link").symlink_to(outside)
    assert _names(root, output=outside) == ["a.pdf"]


def test_a_link_into_a_folder_without_permission_is_told(root: Path, outside: Path) -> None:
    (root / "link").symlink_to(outside)
    outside.chmod(0o000)
    with as_nobody(root):
        assert _problems(root) == {"link": "source-forbidden"}
    outside.chmod(0o755)
