"""A page's text layer as it is kept: compressed JSON, boxes to a hundredth of a point.

Packed where it is found and unpacked where it is looked at, it goes through pipes and tables as a few
kilobytes: about a sixth of jsonb. It is never searched in SQL.
"""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import orjson

from models.geometry import Box
from models.page import PageFacts, Word

_FAR = 1e9
"""Points. What a broken matrix puts at infinity stands here."""


class PackedLayer(NamedTuple):
    """The words of a page, packed, and how many characters they have."""

    data: bytes
    chars: int


@dataclass(frozen=True, slots=True)
class SplitPages:
    """Some pages of a document, and their text layers by page number."""

    pages: tuple[PageFacts, ...]
    """Without words."""
    layers: dict[int, PackedLayer]


def pack(words: Iterable[Word]) -> PackedLayer:
    """`words` as they are kept."""
    try:
        rows = _rows(words)
    except (OverflowError, ValueError):
        rows = _rows(word._replace(box=Box(*map(_near, word.box))) for word in words)
    return PackedLayer(zlib.compress(orjson.dumps(rows), 1), sum(len(row[0]) for row in rows))


def unpack(data: bytes) -> tuple[Word, ...]:
    """The words in `data`, in their order."""
    # Pages have hundreds: the usual way to make a named tuple takes thrice as long.
    make = tuple.__new__
    return tuple(
        [
            make(Word, (text, make(Box, (x0, y0, x1, y1)), block, line))
            for text, x0, y0, x1, y1, block, line in orjson.loads(zlib.decompress(data))
        ]
    )


def _rows(words: Iterable[Word]) -> list[tuple[str, float, float, float, float, int, int]]:
    # round() with digits goes through a decimal text.
    return [
        (
            text,
            round(x0 * 100) / 100,
            round(y0 * 100) / 100,
            round(x1 * 100) / 100,
            round(y1 * 100) / 100,
            block,
            line,
        )
        for text, (x0, y0, x1, y1), block, line in words
    ]


def _near(edge: float) -> float:
    return max(-_FAR, min(_FAR, edge))
