from pathlib import Path

import pymupdf
import pytest
from PIL import Image

from models.document import MediaType
from models.errors import PageFailed
from models.geometry import Box
from models.page import PageImage
from models.recipe import Recipe
from tasks.work.preprocess import preprocess_page
from tasks.work.store import Store
from tasks.work.variants import draw_again, retouch
from tests import factories

RECIPE = Recipe()
BAR = Box(100, 150, 220, 170)
"""In page points: where the page of these tests has its one black bar."""


def _page(home: Path, *bars: Box) -> tuple[Path, PageImage]:
    with pymupdf.open() as document:  # type: ignore[no-untyped-call]
        page = document.new_page(width=400, height=600)
        for bar in bars or (BAR,):
            page.draw_rect(tuple(bar), color=0, fill=0, width=0)
        path = factories.write(home / "page.pdf", bytes(document.tobytes()))
    return path, preprocess_page(path, MediaType.PDF, 1, RECIPE, home / "store")


def _picture(home: Path, image: PageImage) -> Image.Image:
    with Image.open(Store(home / "store").path(image.sha256, image.suffix)) as stored:
        stored.load()
    assert stored.size == (image.width_px, image.height_px)
    return stored


def _ink(home: Path, image: PageImage) -> Box | None:
    """Where on the page the picture is dark, in points."""
    found = _picture(home, image).convert("L").point(lambda level: 255 * (level < 128)).getbbox()
    return image.transform.box(Box(*found)) if found else None


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_what_is_found_on_a_turned_picture_lies_where_it_was(tmp_path: Path, turn: int) -> None:
    _, image = _page(tmp_path)
    (turned,) = retouch(tmp_path / "store", image, turn=turn)
    assert (turned.width_px > turned.height_px) == (turn != 180)
    assert _ink(tmp_path, turned) == pytest.approx(BAR, abs=1)


def test_a_quarter_turn_is_clockwise(tmp_path: Path) -> None:
    _, image = _page(tmp_path)
    (turned,) = retouch(tmp_path / "store", image, turn=90)
    box = _picture(tmp_path, turned).convert("L").point(lambda level: 255 * (level < 128)).getbbox()
    assert box is not None
    # Near the top left before, so near the top right now.
    assert box[0] > turned.width_px / 2 > box[1]


@pytest.mark.parametrize("grid", [1, 28, 32])
def test_a_smaller_picture_keeps_its_share_of_pixels_and_the_grid(tmp_path: Path, grid: int) -> None:
    _, image = _page(tmp_path)
    (small,) = retouch(tmp_path / "store", image, factor=0.5, grid_px=grid)
    assert small.width_px % grid == small.height_px % grid == 0
    share = small.width_px * small.height_px / (image.width_px * image.height_px)
    assert 0.45 < share <= 0.5
    assert _ink(tmp_path, small) == pytest.approx(BAR, abs=1)


def test_halves_are_cut_between_lines(tmp_path: Path) -> None:
    lines = [Box(50, y, 350, y + 12) for y in range(40, 560, 24)]
    _, image = _page(tmp_path, *lines)
    top, bottom = retouch(tmp_path / "store", image, halves=True)
    assert top.height_px + bottom.height_px == image.height_px
    above, below = _ink(tmp_path, top), _ink(tmp_path, bottom)
    assert above is not None
    assert below is not None
    # The last line of the one and the first of the other are whole, and neighbours.
    assert below.y0 - above.y1 == pytest.approx(12, abs=1.5)


def test_halves_overlap_where_nothing_can_be_cut_through(tmp_path: Path) -> None:
    _, image = _page(tmp_path, Box(100, 50, 140, 550))
    top, bottom = retouch(tmp_path / "store", image, halves=True)
    both = top.height_px + bottom.height_px - image.height_px
    assert 0.03 < both / image.height_px < 0.05
    assert bottom.transform.point(0, 0)[1] < top.transform.point(0, top.height_px)[1]


def test_halves_of_a_turned_page_know_their_places(tmp_path: Path) -> None:
    _, image = _page(tmp_path)
    found = [_ink(tmp_path, half) for half in retouch(tmp_path / "store", image, turn=180, halves=True)]
    # Upside down, what stood at the top is in the lower half.
    assert found[0] is None
    assert found[1] == pytest.approx(BAR, abs=1)


def test_a_strip_too_low_to_be_cut_fails_as_a_page(tmp_path: Path) -> None:
    data = factories.picture_bytes(Image.new("L", (600, 100), 255))
    path = factories.write(tmp_path / "strip.png", data)
    strip = preprocess_page(path, MediaType.PNG, 1, RECIPE, tmp_path / "store")
    with pytest.raises(PageFailed):
        retouch(tmp_path / "store", strip, halves=True)


@pytest.mark.parametrize("wrong", [{"turn": 45}, {"factor": 0.0}, {"factor": 1.5}])
def test_what_cannot_be_made_is_refused(tmp_path: Path, wrong: dict[str, float]) -> None:
    _, image = _page(tmp_path)
    with pytest.raises(ValueError, match="turn"):
        retouch(tmp_path / "store", image, **wrong)  # type: ignore[arg-type]


def test_a_larger_picture_is_drawn_from_the_source(tmp_path: Path) -> None:
    path, image = _page(tmp_path)
    larger = draw_again(path, MediaType.PDF, 1, RECIPE, image, 1.5, tmp_path / "store")
    assert larger.width_px * larger.height_px == pytest.approx(
        1.5 * image.width_px * image.height_px, rel=0.01
    )
    assert _ink(tmp_path, larger) == pytest.approx(BAR, abs=1)


def test_no_picture_is_drawn_larger_than_the_recipe_allows(tmp_path: Path) -> None:
    path, image = _page(tmp_path)
    most = Recipe(max_pixels=2_000_000)
    larger = draw_again(path, MediaType.PDF, 1, most, image, 9.0, tmp_path / "store")
    assert 1_990_000 < larger.width_px * larger.height_px <= 2_000_000
    full = draw_again(path, MediaType.PDF, 1, most, image, 1.0, tmp_path / "store")
    assert full.sha256 == larger.sha256
