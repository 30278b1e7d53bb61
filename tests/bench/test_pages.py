"""The benchmarks of page images at toy size, from the command line to the report."""

import shutil
import sys
from pathlib import Path
from types import ModuleType

import pymupdf
import pytest
from PIL import Image

from bench import blank, encodings, orientation, pages, resolution, result
from models.document import MediaType
from models.errors import ConfigurationError
from models.recipe import Recipe
from tests import factories
from tests.bench import toys


def run(monkeypatch: pytest.MonkeyPatch, module: ModuleType, *words: object) -> int:
    """A benchmark as a person calls it; its exit code."""
    monkeypatch.setattr(sys, "argv", [module.__name__, *map(str, words)])
    return int(module.main())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A page of type, a blank one, and a file that is no document."""
    lines = "\n".join(f"Line {n} of a page that was typed for a measurement" for n in range(40))
    factories.write(tmp_path / "in" / "typed.pdf", factories.pdf(lines))
    factories.write(tmp_path / "in" / "notes.pdf", b"no PDF at all")
    shutil.copy(toys.BLANK, tmp_path / "in")
    return tmp_path / "in"


def test_cases_are_the_first_pages_of_what_can_be_read(folder: Path) -> None:
    found = list(pages.cases([folder], 1))
    assert {case.path.name for case in found} == {"blank-page.pdf", "typed.pdf"}
    assert [case.page_no for case in pages.cases([toys.FAX], 2)] == [1, 2]


@pytest.mark.parametrize(
    ("path", "kind"), [(toys.SCAN, "scan"), (toys.TYPED, "text"), (toys.FAX, "picture"), (toys.BLANK, "text")]
)
def test_a_page_is_a_scan_where_a_picture_covers_it(path: Path, kind: str) -> None:
    assert next(pages.cases([path], 1)).kind == kind


def test_a_scan_of_more_pixels_than_any_usual_page_is_a_kind_of_its_own(tmp_path: Path) -> None:
    with pymupdf.open() as document:  # type: ignore[no-untyped-call]
        page = document.new_page()
        page.insert_image(page.rect, stream=factories.picture_bytes(Image.new("1", (6400, 6400), 1)))
        document.save(tmp_path / "plan.pdf")
    assert pages.kind_of(tmp_path / "plan.pdf", 1) == "giant"


def test_a_page_costs_what_its_best_round_did(folder: Path, tmp_path: Path) -> None:
    case = pages.Case(folder / "typed.pdf", MediaType.PDF, 1, "text")
    cost = pages.measure(case, 1, tmp_path / "store", Recipe(long_edge_px=400))
    assert cost.ours == cost.split + cost.preprocess > 0
    assert cost.pypdfium2 is not None
    assert cost.pypdfium2 > 0


def test_pictures_are_not_compared_with_tools_for_pdfs(tmp_path: Path) -> None:
    path = factories.write(tmp_path / "a.png", factories.picture_bytes(factories.picture()))
    cost = pages.measure(pages.Case(path, MediaType.PNG, 1, "picture"), 1, tmp_path / "store")
    assert cost.preprocess > 0
    assert (cost.pypdfium2, cost.pdftoppm) == (None, None)


def test_the_report_compares_on_pages_that_the_other_can_read() -> None:
    costs = [pages.Cost("text", 0.01, 0.03, 0.08, None), pages.Cost("text", 0.01, 0.05, None, None)]
    text = pages.report(costs, "the command", 21.4)
    assert "steps took 21 ms" in text
    assert "| text | 2 | 10 | 40 | 50 | 59 | 100 | 80 (2.0) |  |" in text
    assert "| scan" not in text


def test_costs_of_pages_are_written_where_asked(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = tmp_path / "pages.md"
    monkeypatch.setattr(pages, "TARGETS_S", {"text": 60.0, "scan": 60.0})
    assert run(monkeypatch, pages, folder, "--rounds", 1, "--write", report, "--out", tmp_path) == 0
    assert "| text | 2 |" in report.read_text()
    (text,) = result.load(tmp_path / "pages.json").rows
    assert (text["page"], text["pages"]) == ("text", 2)
    assert text["ours_ms"] == pytest.approx(text["split_ms"] + text["preprocess_ms"], abs=0.2)
    monkeypatch.setattr(pages, "TARGETS_S", {"text": 0.0, "scan": 0.0})
    assert (
        run(monkeypatch, pages, folder, "--rounds", 1, "--recipe", "long_edge_px=400", "--out", tmp_path) == 1
    )


@pytest.mark.slow
def test_blank_sheets_are_told_from_pages(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = tmp_path / "blank.md"
    assert run(monkeypatch, blank, folder, "--rounds", 1, "--write", report) == 0
    assert "Blank sheets called blank: 100.00 %" in report.read_text()
    assert "Pages with text called blank: 0 of 2." in report.read_text()


@pytest.mark.slow
def test_turns_and_slants_are_measured(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orientation, "SLANTS", (2.5,))
    report = tmp_path / "orientation.md"
    assert run(monkeypatch, orientation, folder, "--pages", 1, "--write", report) == 0
    assert "1 pages with text" in report.read_text()
    assert "All turns: 100.00 % right" in report.read_text()


def test_nothing_to_encode_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    factories.write(tmp_path / "notes.pdf", b"no PDF at all")
    assert run(monkeypatch, encodings, tmp_path) == 1


def test_formats_are_measured_and_stored_jpegs_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = factories.scan_pdf(factories.picture("A scan", (620, 877)))
    factories.write(tmp_path / "in" / "scan.pdf", scan)
    report = tmp_path / "encodings.md"
    assert run(monkeypatch, encodings, tmp_path / "in", "--write", report) == 0
    assert "One stored JPEG is all there is to see of 1 of 1 scanned pages" in report.read_text()
    assert "| JPEG, quality 90 |" in report.read_text()


def test_modes_differ_in_resolution_alone() -> None:
    made = resolution.modes([8.0, 10.0])
    assert list(made) == ["max", "fixed", "legible, 8 px", "legible, 10 px"]
    assert [recipe.resolution for recipe in made.values()] == ["max", "fixed", "legible", "legible"]
    assert {recipe.text_layer for recipe in made.values()} == {"ignore"}
    assert made["max"].max_pixels == resolution.MOST


@pytest.mark.slow
def test_resolution_is_measured_from_documents_with_a_truth_to_a_row_for_each_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f"Line {n} of a page that was typed" for n in range(20)]
    factories.write(tmp_path / "in" / "a.pdf", factories.pdf("\n".join(lines)))
    factories.write(tmp_path / "in" / "a.pdf.gt.txt", "\n".join(lines).encode())
    words = [tmp_path / "in", "--pages", 1, "--x-heights", 10, "--out", tmp_path]
    assert run(monkeypatch, resolution, *words, "--write", tmp_path / "resolution.md") in {0, 1}
    saved = result.load(tmp_path / "resolution.json")
    assert [row["mode"] for row in saved.rows] == ["max", "fixed", "legible, 10 px"]
    assert saved.rows[0]["fewer_pixels"] == 1
    assert saved.rows[0]["points_against_max"] == 0
    assert "| legible, 10 px |" in (tmp_path / "resolution.md").read_text()


def test_nothing_with_a_truth_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="no page with a truth"):
        run(monkeypatch, resolution, tmp_path, "--out", tmp_path)


def test_a_document_in_another_script_does_not_count_as_read() -> None:
    def page(mode: str, error: float) -> resolution.Page:
        return resolution.Page("p", mode, 1, 0.1, 0.1, 100, error, mode)

    assert resolution.is_read([page("max", 0.5), page("fixed", 0.1)])
    assert not resolution.is_read([page("max", 0.5), page("fixed", 0.6)])
    assert not resolution.is_read([])
