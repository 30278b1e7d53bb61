import numpy as np
import pytest
from PIL import Image

from tasks.work.blank import marks
from tasks.work.orientation import turn_of
from tasks.work.orientation_net import shares
from tests.unit import pages, prints

pytestmark = pytest.mark.slow

PAGE = prints.page()
SIDE_PX = 224
"""Of the pictures that the network was trained on."""


def _turn(sheet: Image.Image) -> int:
    return turn_of(sheet, marks(sheet))


@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
def test_a_turned_page_is_to_be_turned_back(degrees: int) -> None:
    assert _turn(PAGE.rotate(-degrees, expand=True)) == -degrees % 360


@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
def test_a_few_lines_in_a_corner_tell_it_too(degrees: int) -> None:
    assert _turn(prints.page(lines=5).rotate(-degrees, expand=True)) == -degrees % 360


@pytest.mark.parametrize("degrees", [0, 180])
def test_a_slanted_page_is_no_turned_one(degrees: int) -> None:
    assert _turn(prints.slanted(PAGE.rotate(degrees), 4.5)) == degrees


@pytest.mark.parametrize("size", [(1, 1), (3, 900), (900, 3), (224, 224), (3000, 3000)])
def test_any_size_can_be_looked_at(size: tuple[int, int]) -> None:
    assert _turn(Image.new("L", size, 0)) in {0, 90, 180, 270}


@pytest.mark.parametrize(
    "name", ["img-zh-heart-sutra.jpg", "img-mul-eurotext-1bit.tif", "receipt-fr-leclerc.jpg"]
)
def test_real_scans_are_turned_back(name: str) -> None:
    with Image.open(pages.corpus(name)) as picture:
        scan = picture.convert("L")
    scan.thumbnail((1540, 1540))
    for degrees in (0, 90, 180, 270):
        assert _turn(scan.rotate(-degrees, expand=True)) == -degrees % 360


def test_the_network_says_shares_of_each_turn() -> None:
    tile = np.asarray(PAGE.crop((90, 90, 90 + 2 * SIDE_PX, 90 + 2 * SIDE_PX)).resize((SIDE_PX, SIDE_PX)))
    found = shares(np.stack([np.rot90(tile, -turn) for turn in range(4)]))
    assert found.sum(axis=1) == pytest.approx(1)
    assert found.argmax(axis=1).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("side", [192, SIDE_PX])
def test_tiles_do_not_look_at_one_another(side: int) -> None:
    tiles = np.random.default_rng(1).integers(0, 256, (3, side, side)).astype(np.uint8)
    alone = np.concatenate([shares(tile[None]) for tile in tiles])
    assert shares(tiles) == pytest.approx(alone, abs=1e-5)


def test_the_network_answers_as_the_published_model_did() -> None:
    """On an even grey, a ramp and stripes; the numbers are ONNX Runtime's on the original weights."""
    even = np.full((SIDE_PX, SIDE_PX), 200)
    ramp = np.tile(np.arange(SIDE_PX), (SIDE_PX, 1))
    stripes = np.where(np.arange(SIDE_PX)[:, None] % 16 < 6, 30, 220) + np.zeros((1, SIDE_PX), int)
    wanted = [[0.256, 0.251, 0.26, 0.232], [0.25, 0.254, 0.244, 0.253], [0.454, 0.06, 0.43, 0.056]]
    assert shares(np.stack([even, ramp, stripes]).astype(np.uint8)) == pytest.approx(
        np.array(wanted), abs=0.01
    )
