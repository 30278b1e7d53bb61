"""Simple tables: cells that stand in rows and columns."""

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from tasks.work.lines import Placed, Row, join, rows_of, typical_height

_LEAST_ROWS = 3
# Share of rows that hold at least two cells, and of those the share whose cells stand on one line.
_FILLED_ROWS, _LEVEL_ROWS = 0.7, 0.75
# Rows of a table share a baseline; lines of two columns of prose meet by chance only.
_LEVEL = 0.35
# Prose fills its column and is not narrow; both in what tells prose from cells.
_PROSE_FILL, _PROSE_WIDTH = 0.7, 6.0
# Pieces so much taller than the usual are two rows read as one.
_TALL = 1.6
# Rows with more pieces than this can be found without a gutter.
_DENSE_ROW = 2
# A gap between columns, in line heights.
_GAP = 0.4


@dataclass(frozen=True, slots=True)
class Grid:
    """A table found among lines: the pieces it was made of and its cells, row by row, equally long.

    `before` and `after` are lines over and under it that share no row with others: captions and notes.
    """

    items: tuple[Placed, ...]
    cells: tuple[tuple[str, ...], ...]
    before: tuple[Placed, ...] = ()
    after: tuple[Placed, ...] = ()


def grid_of(items: Sequence[Placed]) -> Grid | None:
    """The table that these lines are as a whole, or None when they are prose, lists or loose pieces.

    A table has at least three rows, two columns, most rows with two cells or more on one level, and not
    only columns of prose. A line number beside prose is no table.
    """
    even, tall = _by_height(items)
    rows = rows_of(even)
    borders = _borders(even, len(rows))
    if len(rows) < _LEAST_ROWS or not borders or not _is_level(rows):
        return None
    if _only_prose(_columns(even, borders)):
        return None
    return _grid(_with_tall(rows, tall), borders)


def dense_runs(items: Sequence[Placed]) -> list[tuple[list[Placed], Grid | None]]:
    """Lines cut, top to bottom, into runs of rows that make a table of three columns and more, and the rest.

    Such tables are found by their rows, before any gutter is looked for: in a wide table some heading or
    misread cell stands in every gutter. A run with a column of prose is left to the gutters.
    """
    even, tall = _by_height(items)
    rows = _with_tall(rows_of(even), tall)
    runs: list[tuple[bool, list[Placed]]] = []
    for row, dense in zip(rows, _are_dense(rows), strict=True):
        if not runs or runs[-1][0] != dense:
            runs.append((dense, []))
        runs[-1][1].extend(row)
    found = [(part, _dense_grid(part) if dense else None) for dense, part in runs]
    return found if any(grid for _, grid in found) else [(list(items), None)]


def _are_dense(rows: Sequence[Row]) -> list[bool]:
    dense = [len(row) > _DENSE_ROW for row in rows]
    # A row with a cell missing, between full ones.
    between = [before and after for before, after in zip([False, *dense], [*dense[1:], False], strict=False)]
    return [
        is_dense or (is_between and len(row) == _DENSE_ROW)
        for row, is_dense, is_between in zip(rows, dense, between, strict=False)
    ]


def _dense_grid(items: Sequence[Placed]) -> Grid | None:
    grid = grid_of(items)
    if grid is None or len(grid.cells[0]) <= _DENSE_ROW:
        return None
    even, _ = _by_height(grid.items)
    columns = _columns(even, _borders(even, len(rows_of(even))))
    return None if any(is_prose(column) for column in columns) else grid


def _by_height(items: Sequence[Placed]) -> tuple[list[Placed], list[Placed]]:
    """Pieces of about one row's height, and taller ones: an engine that read two rows as one."""
    highest = _TALL * typical_height(items)
    even = [item for item in items if item.frame.height <= highest]
    return even, [item for item in items if item.frame.height > highest]


def _with_tall(rows: Sequence[Row], tall: Sequence[Placed]) -> list[Row]:
    """Rows with each taller piece in the nearest row that it covers; a title covers none and stands alone."""
    filled = [list(row) for row in rows]
    for item in tall:
        covered = [row for row in filled if _covers(item, row[0])]
        if covered:
            min(covered, key=lambda row: abs(row[0].middle - item.middle)).append(item)
        else:
            filled.append([item])
    filled.sort(key=lambda row: row[0].middle)
    return [tuple(sorted(row, key=lambda item: (item.frame, item.text))) for row in filled]


def _covers(item: Placed, other: Placed) -> bool:
    overlap = min(item.frame.y1, other.frame.y1) - max(item.frame.y0, other.frame.y0)
    return overlap > other.frame.height / 2


def _grid(rows: Sequence[Row], borders: Sequence[float]) -> Grid | None:
    cells = [_cells(row, borders) for row in rows]
    filled = [number for number, row in enumerate(cells) if sum(1 for cell in row if cell) >= 2]
    if len(filled) < max(_LEAST_ROWS, _FILLED_ROWS * len(rows)):
        return None
    first, end = filled[0], filled[-1] + 1
    return Grid(_flat(rows[first:end]), tuple(cells[first:end]), _flat(rows[:first]), _flat(rows[end:]))


def _flat(rows: Sequence[Row]) -> tuple[Placed, ...]:
    return tuple(item for row in rows for item in row)


def _borders(items: Sequence[Placed], rows: int) -> list[float]:
    """The middles of gaps between columns. One piece in ten rows may stand across a gap (a wide heading)."""
    least, allowed = _GAP * typical_height(items), rows // 10
    edges = sorted([(item.frame.x0, 1) for item in items] + [(item.frame.x1, -1) for item in items])
    borders: list[float] = []
    open_pieces, gap_from = 0, None
    for x, step in edges:
        before, open_pieces = open_pieces, open_pieces + step
        if before > allowed >= open_pieces:
            gap_from = x
        elif before <= allowed < open_pieces and gap_from is not None and x - gap_from >= least:
            borders.append((gap_from + x) / 2)
    return borders


def _is_level(rows: Sequence[Row]) -> bool:
    shared = [row for row in rows if len(row) > 1]
    level = [row for row in shared if _spread(row) <= _LEVEL * typical_height(row)]
    return bool(shared) and len(level) >= _LEVEL_ROWS * len(shared)


def _spread(row: Row) -> float:
    return max(item.middle for item in row) - min(item.middle for item in row)


def _columns(items: Sequence[Placed], borders: Sequence[float]) -> list[list[Placed]]:
    columns: list[list[Placed]] = [[] for _ in range(len(borders) + 1)]
    for item in items:
        columns[_column(item, borders)].append(item)
    return [column for column in columns if column]


def _column(item: Placed, borders: Sequence[float]) -> int:
    return bisect(borders, (item.frame.x0 + item.frame.x1) / 2)


def _only_prose(columns: Sequence[Sequence[Placed]]) -> bool:
    prose = [is_prose(column) for column in columns]
    if all(prose):
        return True
    numbered = len(columns) == 2 and all(item.text.strip().isdecimal() for item in columns[0])
    return numbered and prose[1]


def is_prose(items: Sequence[Placed]) -> bool:
    """Whether these lines fill a column of text: most are nearly as wide as the widest, and not short."""
    widths = [item.frame.width for item in items]
    widest = quantiles(widths, n=10)[-1] if len(widths) > 1 else widths[0]
    usual = median(widths)
    return usual >= _PROSE_FILL * min(widest, max(widths)) and usual >= _PROSE_WIDTH * typical_height(items)


def _cells(row: Row, borders: Sequence[float]) -> tuple[str, ...]:
    columns: list[list[str]] = [[] for _ in range(len(borders) + 1)]
    for item in row:
        columns[_column(item, borders)].append(" ".join(item.text.split()))
    return tuple(join(pieces, " ") for pieces in columns)
