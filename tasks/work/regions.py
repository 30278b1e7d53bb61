"""A page image cut into regions, so that a model is asked for one thing at a time. Nothing is left out.

What a layout detector finds is a proposal. What counts is ink: every connected piece of it goes to the region
it lies in or touches, and regions reach as far as their pieces, so that no letter is cut. Ink that is in none
makes regions of its own. Regions that overlap are one. A page of a single region, or of very many, is asked
for whole.
"""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image

from models.geometry import Box
from models.region import Region, RegionKind
from tasks.work import blank, components
from tasks.work.reading_order import ordered
from tasks.work.regions_net import Found
from tasks.work.sizing import MIN_SIDE_PX

_LONGEST_PX = 2_000
"""Ink is looked at on a picture of at most twice this length, halved."""
_SURE = {RegionKind.TABLE: 0.8, RegionKind.FORMULA: 0.7}
"""Scores under which a kind with a prompt of its own is taken for text."""
_FRAMES = frozenset({RegionKind.TABLE, RegionKind.PICTURE})
_FRAMES_BONUS = 0.3
"""What is found within a sure table or a picture belongs to it, be it surer or not."""
_INSIDE = 0.5
"""Share of a box inside another from which on it is no region of its own."""
_REACH_X, _REACH_Y = 1.5, 0.5
"""Ink so near to a region is part of it, in heights of a letter: less than between columns or paragraphs."""
_NEAR_X, _NEAR_Y = 3.0, 1.5
"""Ink outside of all regions that is so near together is one region."""
_SPECK = 0.5
"""Lower and narrower pieces, in heights of a letter, are no writing by themselves."""
_RULE = 0.7, 8.0
"""A piece thinner and longer than this, in heights of a letter, is a ruled line."""
_OVERLAP = 0.1
"""Share of the smaller of two boxes: less is a slanted edge or a tail of a letter."""
_MARGIN = 0.7
"""Of paper around a region, in heights of a letter."""
_MOST = 40
_SIGNS, _SIGN = 300, (0.5, 4.0)
"""So many pieces of ink, in heights of a letter, tell which way a page runs."""
_ROUNDS = 50

Boxes = components.Boxes
Owners = npt.NDArray[np.int64]


class Part(NamedTuple):
    """A region to be asked for; all in pixels of the page image."""

    region: Region
    crop: Box
    """What is cut out: the region with a margin, in whole pixels."""
    foreign: tuple[Box, ...]
    """Ink of other regions in the crop, to be painted over."""


def parts_of(picture: Image.Image, found: Sequence[Found]) -> list[Part]:
    """The regions of a page image in reading order; none when the page is better asked for whole.

    `found`: of a detector, boxes in pixels of `picture`.
    """
    grey = picture.convert("L")
    scale = 2 if max(grey.size) > _LONGEST_PX else 1
    pieces = components.boxes(blank.marks(grey.reduce(scale) if scale > 1 else grey)) * scale
    letter = _letter(pieces, picture.height)
    pieces = pieces[~_is_rule(pieces, letter)]
    proposed = _without_inner(found)
    owners = _owners(pieces, np.array([one.box for one in proposed]).reshape(-1, 4), letter)
    kinds = [_sure_kind(one) for one in proposed]
    owners, extra = _with_rest(pieces, owners, len(kinds), letter)
    kinds += [RegionKind.OTHER] * extra
    regions = _merged(pieces, owners, kinds, runs_down=_runs_down(pieces, letter))
    if not 1 < len(regions) <= _MOST:
        return []
    numbers = list(regions)
    places = ordered([regions[number].box for number in numbers])
    in_order = [numbers[place] for place in places]
    crops = [_crop(regions[number].box, letter, picture.size) for number in in_order]
    return [
        Part(
            regions[number],
            crop,
            _foreign(crop, pieces[(owners != number) & (owners >= 0)], pieces[owners == number]),
        )
        for number, crop in zip(in_order, crops, strict=True)
    ]


def _letter(pieces: Boxes, height: int) -> float:
    """Height of an ordinary letter in pixels."""
    letters = components.glyphs(pieces, height)
    return float(np.median(letters[:, 3] - letters[:, 1])) if len(letters) else height / 100


def _is_rule(pieces: Boxes, letter: float) -> components.Mask:
    across, down = pieces[:, 2] - pieces[:, 0], pieces[:, 3] - pieces[:, 1]
    thin, long = _RULE
    result: components.Mask = (np.minimum(across, down) < thin * letter) & (
        np.maximum(across, down) > long * letter
    )
    return result


def _without_inner(found: Sequence[Found]) -> list[Found]:
    """Those that lie in no other, the surest first."""
    kept: list[Found] = []
    for one in sorted(found, key=lambda one: -one.score - _FRAMES_BONUS * (_sure_kind(one) in _FRAMES)):
        if all(_inside(one.box, other.box) < _INSIDE for other in kept):
            kept.append(one)
    return kept


def _inside(one: Box, other: Box) -> float:
    """Share of the smaller box that lies in the larger."""
    width, height = (
        min(one.x1, other.x1) - max(one.x0, other.x0),
        min(one.y1, other.y1) - max(one.y0, other.y0),
    )
    least = max(1.0, min(one.width * one.height, other.width * other.height))
    return max(0.0, width) * max(0.0, height) / least


def _sure_kind(one: Found) -> RegionKind:
    return one.kind if one.score >= _SURE.get(one.kind, 0.0) else RegionKind.TEXT


def _owners(pieces: Boxes, proposed: npt.NDArray[np.float64], letter: float) -> Owners:
    """For each piece the number of its region, -1 for none. Regions grow by what they touch."""
    owners = np.full(len(pieces), -1)
    middles = (pieces[:, :2] + pieces[:, 2:]) / 2
    for number, box in enumerate(proposed):
        owners[(owners < 0) & ((middles >= box[:2]) & (middles <= box[2:])).all(axis=1)] = number
    reach = np.array([_REACH_X, _REACH_Y]) * letter
    for _ in range(_ROUNDS):
        free = int((owners < 0).sum())
        for number in set(owners) - {-1}:
            owners[(owners < 0) & _touches(pieces, middles, pieces[owners == number], reach)] = number
        if free == (owners < 0).sum():
            break
    return owners


def _touches(
    pieces: Boxes, middles: npt.NDArray[np.float64], mine: Boxes, reach: npt.NDArray[np.float64]
) -> components.Mask:
    """Which pieces lie within `reach` of these: beside them on their lines, or above or below."""
    low, high = mine[:, :2].min(axis=0), mine[:, 2:].max(axis=0)
    near = ((pieces[:, 2:] >= low - reach) & (pieces[:, :2] <= high + reach)).all(axis=1)
    result: components.Mask = near & ((middles >= low) & (middles <= high)).any(axis=1)
    return result


def _with_rest(pieces: Boxes, owners: Owners, first: int, letter: float) -> tuple[Owners, int]:
    """What has no region in regions of its own, numbered from `first`, specks left out; and how many."""
    owners, count = owners.copy(), 0
    middles = (pieces[:, :2] + pieces[:, 2:]) / 2
    for box in _clusters(pieces[owners < 0], letter):
        mine = (owners < 0) & ((middles >= box[:2]) & (middles <= box[2:])).all(axis=1)
        sizes = pieces[mine, 2:] - pieces[mine, :2]
        if sizes.size and sizes.max() >= _SPECK * letter:
            owners[mine] = first + count
            count += 1
    return owners, count


def _clusters(pieces: Boxes, letter: float) -> Boxes:
    """Boxes around pieces that lie near together: what hangs together once each is drawn larger."""
    cell = max(1, round(letter / 2))
    reach = np.array([_NEAR_X, _NEAR_Y]) * letter / 2
    low = np.maximum(0, (pieces[:, :2] - reach) // cell).astype(int)
    high = ((pieces[:, 2:] + reach) // cell).astype(int) + 1
    sheet = np.zeros(high.max(axis=0, initial=0)[::-1], bool)
    for (left, top), (right, bottom) in zip(low, high, strict=True):
        sheet[top:bottom, left:right] = True
    return components.boxes(sheet) * cell


def _runs_down(pieces: Boxes, letter: float) -> bool:
    """Whether most signs have their nearest neighbour below them rather than to their right.

    On pages of Chinese and Japanese it was 13 to 22 % where lines ran to the right, 74 to 85 % where down.
    """
    size = (pieces[:, 2:] - pieces[:, :2]).max(axis=1)
    signs = pieces[(size >= _SIGN[0] * letter) & (size <= _SIGN[1] * letter)]
    some = signs[:: max(1, len(signs) // _SIGNS)]
    down, right = (np.array([_gap(signs, one, axis) for one in some]) for axis in (1, 0))
    return bool(2 * (down < right).sum() > len(some))


def _gap(signs: Boxes, one: npt.NDArray[np.int64], axis: int) -> float:
    """White between a sign and the next one in its line (`axis` 0) or column (1); infinite for the last."""
    low, high = 1 - axis, 3 - axis
    shared = np.minimum(signs[:, high], one[high]) - np.maximum(signs[:, low], one[low])
    least = np.minimum(signs[:, high] - signs[:, low], one[high] - one[low]) / 2
    after = signs[(signs[:, axis] >= one[axis + 2]) & (shared > least)]
    return float(after[:, axis].min() - one[axis + 2]) if len(after) else np.inf


def _merged(
    pieces: Boxes, owners: Owners, kinds: Sequence[RegionKind], *, runs_down: bool
) -> dict[int, Region]:
    """The region of each owner; `owners` is changed so that regions that overlap are one, the larger."""
    while True:
        regions = {
            int(one): Region(kinds[one], _around(pieces[owners == one]), runs_down)
            for one in set(owners) - {-1}
        }
        pair = next(
            (
                (one, other)
                for one, other in combinations(sorted(regions, key=lambda one: -_area(regions[one].box)), 2)
                if _inside(regions[one].box, regions[other].box) > _OVERLAP
            ),
            None,
        )
        if pair is None:
            return regions
        owners[owners == pair[1]] = pair[0]


def _area(box: Box) -> float:
    return box.width * box.height


def _around(pieces: Boxes) -> Box:
    (x0, y0), (x1, y1) = pieces[:, :2].min(axis=0), pieces[:, 2:].max(axis=0)
    return Box(float(x0), float(y0), float(x1), float(y1))


def _crop(box: Box, letter: float, size: tuple[int, int]) -> Box:
    """The box with a margin, on the picture, and no side under what models take."""
    sides: list[tuple[float, float]] = []
    for low, high, most in ((box.x0, box.x1, size[0]), (box.y0, box.y1, size[1])):
        margin = max(_MARGIN * letter, (MIN_SIDE_PX - (high - low)) / 2)
        sides.append((math.floor(max(0, low - margin)), math.ceil(min(most, high + margin))))
    (left, right), (top, bottom) = sides
    return Box(left, top, right, bottom)


def _foreign(crop: Box, others: Boxes, mine: Boxes) -> tuple[Box, ...]:
    """Pieces of others in the crop that can be painted over without hurting its own."""
    near = others[_meets(others, np.array(crop))]
    return tuple(Box(*map(float, piece)) for piece in near if not _meets(mine, piece).any())


def _meets(pieces: Boxes, box: npt.NDArray[Any]) -> components.Mask:
    return np.asarray(((pieces[:, :2] < box[2:]) & (pieces[:, 2:] > box[:2])).all(axis=1))
