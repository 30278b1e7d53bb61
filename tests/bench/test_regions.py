"""The measurement of reading by regions, on one made page."""

from pathlib import Path

import pytest

from bench.regions import SIZE, asked, cut, sheet
from bench.regions import _request as request_of
from models import profiles

GLM = profiles.get("glm-ocr")


def test_a_made_page_is_always_the_same_and_another_number_is_another() -> None:
    page, told = sheet(1)
    assert page.size == SIZE
    assert told.count("\n\n") == 6
    assert sheet(1)[1] == told
    assert sheet(2)[1] != told


@pytest.mark.slow
def test_a_made_page_has_a_region_for_every_passage(tmp_path: Path) -> None:
    page, _ = sheet(3)
    request = request_of(page, GLM, tmp_path)
    assert len(asked(request, GLM, tmp_path)) == 7
    assert cut(request, GLM, tmp_path).seconds > 0
