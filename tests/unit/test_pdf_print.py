from pathlib import Path
from typing import Any

import pymupdf
import pytest

from models.document import MediaType
from models.recipe import Recipe
from tasks.work import pdf
from tasks.work.preprocess import preprocess_page
from tests import factories
from tests.unit import pages, prints

_mu: Any = pymupdf
LEGIBLE = Recipe(resolution="legible", grid_px=28, x_height_px=10.0, long_edge_px=2324)


def _half_a_picture(rotation: int) -> bytes:
    """A page whose lower half is a picture, shown turned."""
    with _mu.open() as document:
        page = document.new_page(width=400, height=600)
        page.insert_image(
            (0, 300, 400, 600), pixmap=_mu.Pixmap(_mu.csGRAY, (0, 0, 40, 30)), keep_proportion=False
        )
        page.set_rotation(rotation)
        return bytes(document.tobytes())


def test_a_page_of_type_is_interpreted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, asked = factories.write(tmp_path / "page.pdf", pages.born_digital()), list[bool]()
    interpret = _mu.Page.get_displaylist

    def counted(page: Any, annots: bool = True) -> Any:
        asked.append(annots)
        return interpret(page, annots)

    monkeypatch.setattr(_mu.Page, "get_displaylist", counted)
    made = preprocess_page(path, MediaType.PDF, 1, LEGIBLE, tmp_path / "store")
    assert made.reason.endswith("-layer")
    assert asked == [True]


def test_what_one_file_showed_is_not_taken_for_another(tmp_path: Path) -> None:
    typed = factories.write(tmp_path / "typed.pdf", pages.born_digital())
    scanned = factories.write(tmp_path / "scan.pdf", factories.scan_pdf(prints.page(), dpi=140))
    found = [bool(pdf.printed(path, 1, ()).runs) for path in (typed, scanned, typed)]
    assert found == [True, False, True]


def test_a_file_that_was_changed_is_looked_at_anew(tmp_path: Path) -> None:
    path = factories.write(tmp_path / "page.pdf", pages.born_digital())
    before = pdf.printed(path, 1, ())
    factories.write(path, factories.scan_pdf(prints.page(), dpi=140))
    assert before.runs
    assert not pdf.printed(path, 1, ()).runs


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_pictures_cover_as_much_of_a_page_however_it_is_turned(tmp_path: Path, rotation: int) -> None:
    found = pdf.printed(factories.write(tmp_path / "page.pdf", _half_a_picture(rotation)), 1, ())
    assert found.pictures == pytest.approx(0.5, abs=0.01)
