"""What is counted of a disk, and how it is told."""

from collections import Counter
from pathlib import Path

import pytest

from bench.disk import fill, size_of, tell
from tests import factories


def test_files_below_a_folder_are_counted_with_those_in_it(tmp_path: Path) -> None:
    factories.write(tmp_path / "a" / "b", b"four")
    factories.write(tmp_path / "c", b"xx")
    assert (size_of(tmp_path), size_of(tmp_path / "nowhere")) == (6, 0)


def test_documents_are_copied_until_the_pages_are_enough_and_only_what_can_be_read(tmp_path: Path) -> None:
    folder, inbox = tmp_path / "from", tmp_path / "inbox"
    inbox.mkdir()
    factories.write(folder / "a.pdf", factories.encrypted_pdf("ONE", user="secret"))
    factories.write(folder / "b.pdf", b"no PDF")
    for name in ("c", "d", "e"):
        factories.write(folder / f"{name}.pdf", factories.pdf("ONE", "TWO"))
    assert fill(inbox, sorted(folder.iterdir()), 3) == 4
    assert sorted(path.name[-5:] for path in inbox.iterdir()) == ["c.pdf", "d.pdf"]


def test_what_grew_is_told_the_most_first(capsys: pytest.CaptureFixture[str]) -> None:
    tell(Counter(store=10, same=5, logs=1), Counter(store=30, same=5, logs=41), 2, "page")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["logs", "store"]
    assert lines[0].endswith("20 B a page")
