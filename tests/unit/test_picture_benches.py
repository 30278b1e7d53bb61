"""The benchmarks of page images at toy size, and what they say of made-up figures."""

from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bench import blank as blank_bench
from bench import encodings, orientation, resolution, sheets
from bench.pages import cases
from bench.truths import truths
from tasks.work.blank import measure
from tests import factories
from tests.unit import pages, prints


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A page of type with its truth, and a scan."""
    (tmp_path / "documents").mkdir()
    factories.write(tmp_path / "documents" / "typed.pdf", pages.born_digital())
    factories.write(tmp_path / "documents" / "scan.pdf", factories.scan_pdf(prints.page(lines=20)))
    (tmp_path / "documents" / "typed.pdf.gt.txt").write_text("\n".join(pages.LINES))
    return tmp_path


@pytest.mark.slow
def test_pages_of_a_folder_become_pictures_to_turn_and_slant(folder: Path, tmp_path: Path) -> None:
    found = list(orientation.pictures([folder / "documents"], 1, tmp_path))
    assert [case.kind for case, _, _ in found] == ["scan", "text"]
    turns = [turn for case, picture, _ in found for turn in orientation.turned(case.kind, picture, tmp_path)]
    assert [turn.degrees for turn in turns] == [0, 90, 180, 270] * 2
    assert all(turn.is_right for turn in turns)


def test_the_orientation_report_names_what_went_wrong() -> None:
    turns = [orientation.Turned(f"p{n}", n, n != 90, 0.05) for n in (0, 90, 180, 270)]
    slants = [orientation.Slanted("q", 2.5, left, is_poor=False) for left in (0.1, -0.7)]
    text = orientation.report(turns, slants, "command")
    assert "| 90 | 0.00 % | p90 |" in text
    assert "All turns: 75.00 % right; turned pages alone: 66.67 %." in text
    assert "| clean | 2 | 0.40 | 0.67 | 50.0 % |" in text
    assert "q at +2.5 by -0.7" in text


@pytest.mark.slow
def test_a_slanted_page_is_measured_clean_and_poor(tmp_path: Path) -> None:
    found = list(islice(orientation.slanted("page", prints.page(), tmp_path), 4))
    assert [one.is_poor for one in found] == [False, True, False, True]
    assert max(abs(one.left) for one in found) <= 0.3


@pytest.mark.slow
@pytest.mark.parametrize("paper", [255, 170, 70, 4])
def test_marked_sheets_are_blank_and_marked_pages_are_not(paper: int) -> None:
    rng = np.random.default_rng(paper)
    for mark in (*sheets.MARKS.values(), sheets.bleed_through(prints.page())):
        assert measure(mark(Image.new("L", sheets.SIZE, paper), rng)).is_blank
    assert not measure(sheets.worn(prints.page(lines=3), rng)).is_blank


@pytest.mark.slow
def test_sheets_come_in_every_paper_with_every_mark() -> None:
    names = [name for name, _ in sheets.blank_sheets(prints.page(lines=2), rounds=1)]
    assert len(names) == len(sheets.PAPERS) * (len(sheets.MARKS) + 3)
    assert "dark grey, bleed-through" in names


def test_the_blank_report_counts_by_sheet() -> None:
    text = blank_bench.report(
        Counter({"white": 4, "black": 4}), Counter({"black": 1}), 9, ["x.pdf:1"], "command"
    )
    assert "87.50 % of 8" in text
    assert "| black | 3 of 4 |" in text
    assert "Pages with text called blank: 1 of 9." in text


def test_a_stored_jpeg_is_found_under_a_bare_scan_alone(folder: Path) -> None:
    scan, typed = cases([folder / "documents"], 1)
    through = encodings.passed(scan)
    assert through is not None
    assert through.taken_pixels == 1089 * 1540
    assert encodings.passed(typed) is None


@pytest.mark.slow
def test_each_format_is_measured(folder: Path, tmp_path: Path) -> None:
    scan, _ = cases([folder / "documents"], 1)
    found = list(encodings.costs(scan, tmp_path))
    assert [cost.name for cost in found] == list(encodings.FORMATS)
    text = encodings.report(found, [encodings.Passed(0.2, 0.1, 9_000, 7_000, 2_000_000)], 1, "command")
    assert "| drawn and encoded | 200 | 9 | 1,540 px long |" in text


@pytest.mark.slow
def test_modes_are_measured_on_pages_with_a_truth(folder: Path, tmp_path: Path) -> None:
    (truth,) = truths(folder)
    recipes = resolution.modes([10.0])
    found = resolution.measure(truth, recipes, 1, tmp_path)
    assert [page.mode for page in found] == ["max", "fixed", "legible, 10 px"]
    assert max(page.error for page in found) < 0.02
    assert found[2].pixels < found[0].pixels
    assert resolution.is_read(found)


def test_the_resolution_report_sets_modes_against_the_most_pixels() -> None:
    def page(mode: str, pixels: int, error: float) -> resolution.Page:
        return resolution.Page("p", mode, pixels, 0.05, 1.0, 1_000, error, "max")

    text = resolution.report(
        [page("max", 4_000_000, 0.01), page("legible, 8 px", 1_000_000, 0.012)], "command"
    )
    assert "| legible, 8 px | 1.00 M | 1/4.0 | 50 | 1000 | 1.20 % | +0.20 |" in text
