"""The benchmark of image tokens at toy size."""

import json
import sys
from pathlib import Path

import pytest

from bench import pages, sizes
from tests.bench import toys

pytestmark = pytest.mark.slow


def test_tokens_of_each_kind_and_of_all_stand_beside_the_most(tmp_path: Path) -> None:
    found = list(pages.cases([toys.SCAN, toys.TYPED], 1))
    *kinds, every = sizes.measure("glm-ocr", found, tmp_path)
    assert [row["page"] for row in kinds] == ["text", "scan"]
    assert every["pages"] == 2
    for row in (*kinds, every):
        assert float(row["tokens_legible"] or 0) <= float(row["tokens_max"] or 0) <= 7_500
        assert float(row["times_fewer"] or 0) >= 1


def test_a_blank_page_counts_for_nothing(tmp_path: Path) -> None:
    found = list(pages.cases([toys.BLANK, toys.TYPED], 1))
    *_, every = sizes.measure("glm-ocr", found, tmp_path)
    assert every["pages"] == 1


def test_the_command_keeps_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = [str(toys.TYPED), "--profiles", "chandra-2", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["sizes.py", *words])
    assert sizes.main() == 0
    kept = json.loads((tmp_path / "sizes.json").read_text())
    assert [row["profile"] for row in kept["rows"]] == ["chandra-2"] * len(kept["rows"])
    assert "complete" not in kept["facts"]
