"""From boxes of lines to the blocks of a page, in reading order.

The story: lines are straightened, upright writing is laid on its side so that it reads like any other,
the page is cut into columns and tables, and each column into paragraphs, list items and headings.
"""

from collections.abc import Sequence

from models.geometry import Box, Transform
from models.reading import Block, BlockType, mean_confidence
from models.text import CJK_SCRIPTS, script_of
from tasks.work.columns import Region, regions
from tasks.work.lines import Line, Placed, typical_height
from tasks.work.paragraphs import Paragraph, paragraphs
from tasks.work.reading_order import Direction, direction_of, seen
from tasks.work.skew import straighten
from tasks.work.tables import Grid

# A column of upright writing is at least so many times as high as wide.
_UPRIGHT = 2.5


def blocks_of(lines: Sequence[Line], transform: Transform) -> tuple[Block, ...]:
    """Blocks of a page in reading order, boxes in page points.

    `lines` have boxes in pixels of the page image, in any order; `transform` maps pixels to points. Lines
    without text are left out. Columns are read one after the other, headings over several columns in
    their place, Chinese and Japanese written downwards and Arabic and Hebrew from right to left. Hyphens stay
    as they are.
    """
    lines = [line for line in lines if line.text.strip()]
    placed = _placed(lines)
    usual_height = _usual_height(placed)
    found: list[Block] = []
    for region in regions(placed):
        found += _blocks(region, usual_height, transform)
    return tuple(found)


def is_vertical(lines: Sequence[Line]) -> bool:
    """Whether most of the page's Chinese or Japanese text stands in columns to be read downwards."""
    longer = [line for line in lines if len(line.text.strip()) > 2]
    upright = [line for line in longer if _is_upright(line)]
    return _letters(upright) > _letters(longer) / 2


def text_of(blocks: Sequence[Block]) -> str:
    """The text of a page: its blocks' texts with an empty line between them."""
    return "\n\n".join(block.text for block in blocks if block.type is not BlockType.PICTURE)


def _placed(lines: Sequence[Line]) -> list[Placed]:
    if is_vertical(lines):
        return [Placed(line, seen(line.box, Direction.DOWN)) for line in lines]
    way = direction_of("".join(line.text for line in lines), runs_down=False)
    return [Placed(item.line, seen(item.frame, way)) for item in straighten(lines)]


def _is_upright(line: Line) -> bool:
    cjk = sum(script_of(char) in CJK_SCRIPTS for char in line.text)
    return line.box.height > _UPRIGHT * line.box.width and cjk > len(line.text) / 2


def _letters(lines: Sequence[Line]) -> int:
    return sum(len(line.text) for line in lines)


def _usual_height(placed: Sequence[Placed]) -> float:
    """Height of running text: the median over characters, so that long lines weigh more."""
    weighted = sorted((item.frame.height, len(item.text)) for item in placed)
    total, seen = sum(count for _, count in weighted), 0
    for height, count in weighted:
        seen += count
        if 2 * seen >= total:
            return max(height, 1.0)
    return typical_height(placed)


def _blocks(region: Region, usual_height: float, transform: Transform) -> list[Block]:
    if isinstance(region, Grid):
        return [_table(region, transform)]
    return [_passage(paragraph, transform) for paragraph in paragraphs(region, usual_height)]


def _table(grid: Grid, transform: Transform) -> Block:
    return Block(
        BlockType.TABLE,
        "\n".join("\t".join(row) for row in grid.cells),
        _box(grid.items, transform),
        rows=grid.cells,
        confidence=_confidence(grid.items),
    )


def _passage(paragraph: Paragraph, transform: Transform) -> Block:
    return Block(
        paragraph.type,
        paragraph.text,
        _box(paragraph.pieces, transform),
        level=paragraph.level,
        confidence=_confidence(paragraph.pieces),
    )


def _box(items: Sequence[Placed], transform: Transform) -> Box:
    return transform.box(Box.around(item.line.box for item in items))


def _confidence(items: Sequence[Placed]) -> float | None:
    return mean_confidence((item.line.confidence, len(item.text)) for item in items)
