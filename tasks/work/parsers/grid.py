"""Tables of HTML: rows of cells, spans filled up, and clean HTML of the same."""

from dataclasses import dataclass
from html import escape
from typing import Any

from lxml import etree

from models.geometry import Box
from models.reading import Block, BlockType
from tasks.work.parsers.inline import text_of

RAGGED = "table-ragged"
# Of printed tables; models that run wild write more.
_WIDEST_SPAN, _MOST_CELLS = 100, 50_000


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as written, with the columns and rows that it spans."""

    text: str
    columns: int = 1
    rows: int = 1
    is_head: bool = False


def table_block(table: Any, box: Box | None) -> tuple[Block, tuple[str, ...]]:
    """A table element as a block; noted where its rows are not equally long."""
    written = _written(table)
    rows = spread(written)
    block = Block(
        BlockType.TABLE,
        "\n".join("\t".join(row) for row in rows),
        box,
        rows=tuple(map(tuple, rows)),
        html=_html(written),
    )
    return block, (RAGGED,) if len({len(row) for row in rows}) > 1 else ()


def spread(written: list[list[Cell]]) -> list[list[str]]:
    """Rows of texts: a cell's text stands once, at its top left; the other places it spans are empty.

    Rows stay as long as they were written. Spans are left out once a table is larger than any printed one.
    """
    rows: list[list[str]] = []
    below: dict[int, int] = {}
    """How many more rows each column is taken by a cell from above."""
    room = _MOST_CELLS
    for cells in written:
        row: list[str] = []
        taken = {column for column, left in below.items() if left}
        below = {column: left - 1 for column, left in below.items() if left > 1}
        for cell in cells:
            _fill(row, taken)
            columns = cell.columns if room > 0 else 1
            below |= {len(row) + n: cell.rows - 1 for n in range(columns) if cell.rows > 1 and room > 0}
            row += [cell.text, *[""] * (columns - 1)]
            room -= columns * cell.rows
        _fill(row, taken)
        rows.append(row)
    return [row for row in rows if row]


def _fill(row: list[str], taken: set[int]) -> None:
    """Empty cells where cells from above reach into this row."""
    while len(row) in taken:
        row.append("")


def _written(table: Any) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    walk = etree.iterwalk(table, events=("start", "end"))
    for event, node in walk:
        if event == "start" and node.tag in {"td", "th"}:
            _row(rows).append(_cell(node))
            walk.skip_subtree()
        elif event == "start" and node.tag == "caption":
            walk.skip_subtree()
        elif event == "start":
            if node.tag == "tr":
                rows.append([])
            _stray(rows, node.text)
        elif node is not table:
            _stray(rows, node.tail)
    return [row for row in rows if row]


def _row(rows: list[list[Cell]]) -> list[Cell]:
    if not rows:
        rows.append([])
    return rows[-1]


def _stray(rows: list[list[Cell]], text: str | None) -> None:
    """Text between cells belongs to none, and still stood on the page."""
    if text and text.strip():
        _row(rows).append(Cell(" ".join(text.split())))


def _cell(node: Any) -> Cell:
    # A cell is one line: rows are split by newlines and cells by tabs.
    text = " ".join(text_of(node).split())
    return Cell(text, _span(node.get("colspan")), _span(node.get("rowspan")), node.tag == "th")


def _span(value: str | None) -> int:
    """A span as written; 1 for what is no number of a printed table."""
    digits = (value or "").strip()
    return min(max(int(digits), 1), _WIDEST_SPAN) if digits.isdecimal() and len(digits) < 7 else 1


def _html(written: list[list[Cell]]) -> str:
    rows = ("".join(map(_cell_html, row)) for row in written)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def _cell_html(cell: Cell) -> str:
    tag = "th" if cell.is_head else "td"
    columns = f' colspan="{cell.columns}"' if cell.columns > 1 else ""
    rows = f' rowspan="{cell.rows}"' if cell.rows > 1 else ""
    return f"<{tag}{columns}{rows}>{escape(cell.text)}</{tag}>"
