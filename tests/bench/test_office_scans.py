"""Scans that the benchmark makes are such as an office scanner's."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bench import office_scans
from tasks.work import pdf
from tests.bench import toys


def _scanned(folder: Path, number: int) -> bytes:
    target = folder / f"{number}.pdf"
    office_scans.scan(toys.TYPED, [1], target, number)
    found = pdf.whole_jpeg(target, 1, ())
    assert found, "a page is one JPEG from edge to edge"
    return found


def test_paper_is_grainy_and_print_is_dark() -> None:
    drawn = Image.new("RGB", (400, 400), "white")
    drawn.paste("black", (0, 0, 400, 200))
    seen = np.asarray(office_scans.on_paper(drawn, [1], is_grey=True), float)
    assert seen[250:].mean() == pytest.approx(243, abs=2)
    assert seen[250:].std() == pytest.approx(4, abs=0.5)
    assert seen[:150].mean() < 10


@pytest.mark.slow
def test_documents_are_grey_and_coloured_by_turns(tmp_path: Path) -> None:
    modes = []
    for number in (0, 1):
        with Image.open(io.BytesIO(_scanned(tmp_path, number))) as image:
            modes.append(image.mode)
            dpi = image.width / pdf.page_size(toys.TYPED, 1, ())[0] * 72
            assert dpi == pytest.approx(200, abs=1)
    assert modes == ["L", "RGB"]


@pytest.mark.slow
def test_a_scan_is_the_same_every_time_and_no_two_pages_are_alike(tmp_path: Path) -> None:
    one = _scanned(tmp_path, 2)
    assert _scanned(tmp_path, 2) == one
    assert _scanned(tmp_path, 4) != one
