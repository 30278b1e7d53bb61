"""One's own pages for a tuning: chosen, prepared at each resolution, faults told."""

import shutil
from pathlib import Path

import pytest

from models.errors import ConfigurationError
from models.profiles import PROFILES
from tasks.work.tuning.pages import OwnPages
from tests.bench import toys

pytestmark = pytest.mark.slow


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    for path in (toys.TYPED, toys.FAX, toys.BLANK, toys.BROKEN):
        shutil.copy(path, folder)
    (folder / "notes.txt").write_text("no document")
    return folder


def gathered(documents: Path, store: Path, most: int = 9) -> OwnPages:
    own = OwnPages(PROFILES["glm-ocr"], store, jobs=1)
    own.gather([documents], most)
    return own


def test_pages_with_print_are_chosen_and_the_same_ones_every_time(documents: Path, tmp_path: Path) -> None:
    own = gathered(documents, tmp_path)
    names = [(page.path.name, page.facts.page_no) for page in own.pages]
    assert {name for name, _ in names} == {toys.TYPED.name, toys.FAX.name}
    assert own.documents == 2
    again = gathered(documents, tmp_path / "again", most=2)
    assert [(page.path.name, page.facts.page_no) for page in again.pages] == names[:2]


def test_every_resolution_has_the_same_pages_in_the_same_order(documents: Path, tmp_path: Path) -> None:
    own = gathered(documents, tmp_path, most=3)
    legible, largest = own.at("legible"), own.at("max")
    assert len(legible) == len(largest) == 3
    assert all(request.path.exists() for request in (*legible, *largest))
    areas = [sum(one.image.width_px * one.image.height_px for one in made) for made in (legible, largest)]
    assert areas[0] < areas[1]
    assert own.at("max") is largest


def test_a_folder_without_a_page_that_can_be_measured_is_told(tmp_path: Path) -> None:
    for name, path in (("blank", toys.BLANK), ("empty", None)):
        folder = tmp_path / name
        folder.mkdir()
        if path:
            shutil.copy(path, folder)
        with pytest.raises(ConfigurationError, match="no page with print on it"):
            gathered(folder, tmp_path / "store")
    with pytest.raises(ConfigurationError, match=r"nowhere.*\(source-gone\)"):
        gathered(tmp_path / "nowhere", tmp_path / "store")


def test_documents_that_fail_are_told_and_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    shutil.copy(toys.TYPED, folder)
    (folder / "cut.pdf").write_bytes(b"%PDF-1.7\nnothing more")
    own = gathered(folder, tmp_path)
    assert {page.path.name for page in own.pages} == {toys.TYPED.name}
    assert [fault.partition(":")[0] for fault in own.faults] == ["cut.pdf"]
