"""The layout detector itself, on pages made in code."""

import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from models.errors import Code, EnvironmentFault
from models.geometry import Box
from tasks.work import regions_net
from tasks.work.regions_net import find, require
from tests.unit.paperwork import SIZE, two_columns


def middle(box: Box) -> float:
    return (box.x0 + box.x1) / 2


@pytest.mark.slow
def test_both_columns_of_a_page_are_found_with_boxes_on_its_pixels() -> None:
    seen = find(two_columns())
    texts = [one.box for one in seen if one.kind == "text"]
    assert any(middle(box) < 620 for box in texts)
    assert any(middle(box) > 620 for box in texts)
    assert all(0 <= one.box.x0 < one.box.x1 <= SIZE[0] for one in seen)
    assert all(0 <= one.box.y0 < one.box.y1 <= SIZE[1] for one in seen)


@pytest.mark.slow
def test_the_surest_come_first_and_none_is_told_twice() -> None:
    seen = find(two_columns())
    scores = [one.score for one in seen]
    assert scores == sorted(scores, reverse=True)
    assert all(0.4 <= score <= 1 for score in scores)
    assert len({one.box for one in seen}) == len(seen)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_an_empty_sheet_has_no_regions(mode: str) -> None:
    assert find(Image.new(mode, SIZE, "white")) == []


def test_without_the_package_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regions_net, "find_spec", lambda _: None)
    with pytest.raises(EnvironmentFault, match=r"pip install 'pagemill\[layout\]'") as caught:
        require()
    assert caught.value.code is Code.PACKAGE_MISSING
    assert "\n" not in caught.value.message


@pytest.mark.slow
def test_it_works_offline_and_leaves_nothing_in_the_home(tmp_path: Path) -> None:
    code = "from tests.unit.test_regions_net import *; find(two_columns())"
    home = tmp_path / "home"
    home.mkdir()
    subprocess.run([sys.executable, "-c", code], env={"HOME": str(home), "PATH": ""}, check=True, timeout=60)
    assert list(home.iterdir()) == []
