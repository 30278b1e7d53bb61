"""Which way up a scan lies: a small network looks at a few tiles of it, more of them while it is not sure."""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
from PIL import Image

from tasks.work.components import Mask
from tasks.work.orientation_net import shares

Array = npt.NDArray[np.float32]
Pixels = npt.NDArray[np.uint8]
_Box = tuple[int, int, int, int]

LONG_EDGE_PX = 1024
"""Pages are looked at in this size at most."""

_SIDE_PX = 192
"""Of a tile. The model was trained on 224; with 192 a page takes a quarter less, in no more tiles. Of seven
sides from 160 to 224 px none got fewer pages of the test corpus wrong."""
_SHORT_PX = 448.0
_ZOOMS = (None, 1.0, 0.5)
"""How tiles are cut in turn: the short side of the inked part _SHORT_PX long, or by a factor."""
_TILES = (4, 4, 3)
_SURE = (4.3, 6.0, 9.0, 8.0)
"""Difference of log-probabilities, summed over tiles, that is enough after one tile, two, four, and all.
What is not sure then is looked at turned as well. On the test corpus, one page of 168 came out wrong, with
4.4 tiles a page turned any way. One tile is enough for upright pages alone: 133 of 168 got by with it, and of
504 turned ones none was taken for upright, the nearest at 3.9."""
_UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0], np.float32)
"""What speaks for a page as it lies: few are turned."""
_NONE = np.zeros(4, np.float32)
_MARGIN_PX = 8
_CELL_PX = 8
"""Ink is counted in cells of so many pixels: that tells as well which tiles have most."""


def turn_of(grey: Image.Image, ink: Mask, *, is_print: bool = True) -> int:
    """Degrees clockwise, 0, 90, 180 or 270, by which a page (L) has to be turned to stand upright.

    `ink`: its marks, see `blank.marks`. A page that is no print, so far as can be seen, gets no last look:
    that costs most and would hardly help.
    """
    page, cells = _inked(grey, ink)
    scores, seen = _NONE, list[Pixels]()
    for tiles, enough in zip(_steps(page, cells, LONG_EDGE_PX / max(grey.size)), _SURE, strict=True):
        seen += tiles
        scores = scores + _told(tiles)
        if _margin(scores) >= enough:
            break
    else:
        if is_print:
            scores = sum((np.roll(_told(seen, turn), turn) for turn in range(4)), start=_NONE)
    # The network names the turn a page has undergone; the way back is the rest of the circle.
    return -int((scores + _UPRIGHT).argmax()) * 90 % 360


def _told(tiles: Sequence[Pixels], turn: int = 0) -> Array:
    """Log-probabilities of the four turns, summed over tiles that were turned by so many quarters more."""
    if not tiles:
        return _NONE
    turned = np.stack([np.rot90(tile, turn) for tile in tiles])
    result: Array = np.log(shares(turned) + 1e-3).sum(axis=0)
    return result


def _margin(scores: Array) -> float:
    ordered = np.sort(scores + _UPRIGHT)
    return float(ordered[-1] - ordered[-2])


def _steps(page: Image.Image, cells: Image.Image, scale: float) -> Iterator[list[Pixels]]:
    """Tiles to look at, a step at a time; those of a later step are not cut before they are needed."""
    scale = min(1.0, scale)
    first, *others = (
        min(scale, _SHORT_PX / min(page.size)) if zoom is None else zoom * scale for zoom in _ZOOMS
    )
    found = _tiles(page, cells, first, _TILES[0])
    for count in (1, 1, _TILES[0]):
        yield list(itertools.islice(found, count))
    yield [
        tile
        for zoom, most in zip(others, _TILES[1:], strict=True)
        for tile in _tiles(page, cells, zoom, most)
    ]


def _inked(grey: Image.Image, ink: Mask) -> tuple[Image.Image, Image.Image]:
    """The part of the page that has ink, and how inked each of its cells is (L)."""
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    if not len(rows):
        rows, columns = np.arange(ink.shape[0]), np.arange(ink.shape[1])
    box = (
        max(0, int(columns[0]) - _MARGIN_PX),
        max(0, int(rows[0]) - _MARGIN_PX),
        min(ink.shape[1], int(columns[-1]) + _MARGIN_PX + 1),
        min(ink.shape[0], int(rows[-1]) + _MARGIN_PX + 1),
    )
    marks = Image.fromarray(ink.view(np.uint8) * np.uint8(255))
    return grey.crop(box), marks.reduce(_CELL_PX, box)


def _tiles(page: Image.Image, cells: Image.Image, scale: float, most: int) -> Iterator[Pixels]:
    """The most inked tiles of the page in rows and columns, each cut when it is asked for."""
    size = (max(1, round(page.width * scale)), max(1, round(page.height * scale)))
    inked = cells.resize(size, Image.Resampling.NEAREST)
    boxes = [_box(left, top) for top in _places(size[1]) for left in _places(size[0])]
    by_ink = sorted(boxes, key=lambda box: -float(np.asarray(inked.crop(box)).sum()))
    return (_cut(page, size, box) for box in by_ink[:most])


def _box(left: int, top: int) -> _Box:
    return left, top, left + _SIDE_PX, top + _SIDE_PX


def _cut(page: Image.Image, size: tuple[int, int], box: _Box) -> Pixels:
    """A tile of the page at `size`, white where it is larger than that."""
    left, top, right, bottom = max(box[0], 0), max(box[1], 0), min(box[2], size[0]), min(box[3], size[1])
    across, down = page.width / size[0], page.height / size[1]
    seen = (left * across, top * down, min(right * across, page.width), min(bottom * down, page.height))
    # Soft: a sharper filter got one more page in 400 wrong, and takes longer.
    part = page.resize((right - left, bottom - top), Image.Resampling.HAMMING, seen, reducing_gap=1.5)
    tile = Image.new("L", (_SIDE_PX, _SIDE_PX), 255)
    tile.paste(part, (left - box[0], top - box[1]))
    return np.asarray(tile)


def _places(length: int) -> list[int]:
    """Where tiles begin along a side: evenly, from edge to edge; one around the middle of a short side."""
    count = 1 if length < 1.15 * _SIDE_PX else -(-length // _SIDE_PX)
    spare = length - _SIDE_PX
    return [spare // 2] if count == 1 else [round(spare * number / (count - 1)) for number in range(count)]
