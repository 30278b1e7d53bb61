"""The error rate of a served model by resolution, at toy size: pages of print, modes, and who is left out."""

import sys
from pathlib import Path

import pymupdf
import pytest
from PIL import Image

from bench import result, tune_resolution
from bench.truths import truths
from models.profiles import get
from tasks.work.doubles.vllm_server import Asked, Said, ScriptedVllm

GLM = get("glm-ocr")


def page(name: str, mode: str, pixels: int, error: float) -> tune_resolution.Page:
    return tune_resolution.Page(name, mode, pixels, pixels // 784, 100, error)


def test_pages_of_print_say_what_is_printed_on_them(tmp_path: Path) -> None:
    tune_resolution.print_pages(5, tmp_path)
    known = list(truths(tmp_path))
    assert len(known) == 5
    for truth in known:
        with pymupdf.open(truth.path) as document:
            assert document[0].get_text().split() == truth.text_of(1).split()
    assert len({truth.text_of(1) for truth in known}) == 5


def test_some_of_what_is_printed_must_be_read_sign_by_sign(tmp_path: Path) -> None:
    tune_resolution.print_pages(10, tmp_path)
    words = [word for truth in truths(tmp_path) for word in truth.text_of(1).split()]
    with_figures = [word for word in words if any(char.isdigit() for char in word)]
    assert 0.2 < len(with_figures) / len(words) < 0.5
    assert len(set(with_figures)) == len(with_figures)


def test_scans_are_pictures_of_the_same_pages(tmp_path: Path) -> None:
    for name in ("typed", "scanned"):
        (tmp_path / name).mkdir()
        tune_resolution.print_pages(2, tmp_path / name, are_scans=name == "scanned")
    typed, scanned = (list(truths(tmp_path / name)) for name in ("typed", "scanned"))
    assert [truth.pages for truth in scanned] == [truth.pages for truth in typed]
    assert [truth.path.suffix for truth in scanned] == [".png"] * 2
    with Image.open(scanned[0].path) as picture:
        assert picture.size == (625, 459)


def test_the_same_seed_prints_the_same_pages(tmp_path: Path) -> None:
    texts = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        tune_resolution.print_pages(3, tmp_path / name)
        texts.append([truth.pages for truth in truths(tmp_path / name)])
    assert texts[0] == texts[1]


def test_modes_are_the_profile_s_own_sizes_and_heights_of_print() -> None:
    found = tune_resolution.modes(GLM, [8, 10.5])
    assert list(found) == ["max", "fixed", "legible, 8 px", "legible, 10.5 px"]
    assert [recipe.resolution for recipe in found.values()] == ["max", "fixed", "legible", "legible"]
    assert {recipe.max_pixels for recipe in found.values()} == {GLM.max_pixels}
    assert found["legible, 8 px"].x_height_px == 8
    assert {recipe.text_layer for recipe in found.values()} == {"ignore"}


def test_rows_compare_with_the_largest_and_weigh_by_length() -> None:
    pages = [page("a", "max", 4000, 0.0), page("a", "legible", 1000, 0.02), page("b", "max", 4000, 0.01)]
    full, small = tune_resolution.rows([*pages, page("b", "legible", 1000, 0.01)])
    assert (full["mode"], full["wrong_percent"], full["points_worse"]) == ("max", 0.5, 0)
    assert (small["times_fewer_pixels"], small["wrong_percent"], small["points_worse"]) == (4, 1.5, 1.0)
    assert (full["pages_with_errors"], small["pages_with_errors"]) == (1, 2)


def test_pages_that_no_mode_can_read_are_left_out() -> None:
    pages = [page("a", "max", 4000, 0.0), page("a", "legible", 900, 0.9)]
    foreign = [page("b", "max", 4000, 0.8), page("b", "legible", 900, 0.7)]
    full, small = tune_resolution.rows([*pages, *foreign])
    assert (full["pages"], small["pages"], small["wrong_percent"]) == (1, 1, 90)


@pytest.mark.slow
def test_from_a_server_to_a_saved_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "print"
    folder.mkdir()
    tune_resolution.print_pages(1, folder)
    (truth,) = truths(folder)
    sizes: list[int] = []

    def answer(asked: Asked) -> Said:
        sizes.append(asked.tokens_in)
        return Said(truth.text_of(1) if len(sizes) > 1 else truth.text_of(1)[2:])

    with ScriptedVllm(answer) as server:
        words = ["glm-ocr", str(folder), "--url", server.url, "--x-heights", "10", "--out", str(tmp_path)]
        monkeypatch.setattr(sys, "argv", ["tune_resolution", *words])
        tune_resolution.main()
    saved = result.load(tmp_path / "tune-resolution.json")
    assert [row["mode"] for row in saved.rows] == ["max", "fixed", "legible, 10 px"]
    assert saved.rows[2]["megapixels"] < saved.rows[0]["megapixels"]
    assert sum(row["pages_with_errors"] for row in saved.rows) == 1
    assert saved.facts["profile"] == "glm-ocr"
