from models.geometry import Box
from models.reading import Block, BlockType
from tasks.work.layout import blocks_of
from tasks.work.lines import Line
from tests.unit.boxes import PITCH, SAME, column, line

PROSE = "Running text that fills its line from the left to the right margin of the page."


def _grid(rows: list[list[str]], xs: list[float], top: float = 100) -> list[Line]:
    return [
        line(cell, x, top + number * PITCH)
        for number, row in enumerate(rows)
        for cell, x in zip(row, xs, strict=True)
        if cell
    ]


def _tables(lines: list[Line]) -> list[Block]:
    return [block for block in blocks_of(lines, SAME) if block.type is BlockType.TABLE]


ROWS = [
    ["State", "Permit", "Long gun"],
    ["Alabama", "18,870", "22,650"],
    ["Alaska", "209", "3,209"],
    ["Arizona", "2,303", "9,041"],
]


def test_aligned_cells_over_four_rows_are_a_table_with_its_rows() -> None:
    (table,) = _tables(_grid(ROWS, [100, 400, 700]))
    assert table.rows == tuple(tuple(row) for row in ROWS)
    assert table.text == "\n".join("\t".join(row) for row in ROWS)


def test_an_empty_cell_keeps_its_place() -> None:
    rows = [row[:] for row in ROWS]
    rows[2][1] = ""
    (table,) = _tables(_grid(rows, [100, 400, 700]))
    assert table.rows[2] == ("Alaska", "", "3,209")


def test_labels_and_values_are_a_table_of_two_columns() -> None:
    rows = [
        ["Number:", "549910"],
        ["Name:", "Lieferant GmbH"],
        ["Street:", "Weg 20"],
        ["Tax number:", "201/113/40209"],
    ]
    (table,) = _tables(_grid(rows, [100, 500]))
    assert table.rows[1] == ("Name:", "Lieferant GmbH")


def test_two_rows_are_no_table() -> None:
    assert not _tables(_grid(ROWS[:2], [100, 400, 700]))


def test_two_columns_of_prose_on_the_same_lines_are_no_table() -> None:
    text = ["Words that fill the column well"] * 12
    assert not _tables(column(text, 100, 100) + column(text, 600, 100))


def test_numbered_lines_are_no_table() -> None:
    numbers = column([str(n) for n in range(1, 13)], 40, 100)
    assert not _tables(numbers + column([PROSE] * 12, 100, 100))


def test_a_caption_over_the_table_and_a_note_under_it_are_not_its_rows() -> None:
    caption, note = line("Checks by state", 100, 70), line("Source: FBI", 100, 100 + 4 * PITCH)
    blocks = blocks_of([caption, *_grid(ROWS, [100, 400, 700]), note], SAME)
    assert [block.text for block in blocks if block.type is not BlockType.TABLE] == [
        "Checks by state",
        "Source: FBI",
    ]
    assert [len(block.rows) for block in blocks if block.type is BlockType.TABLE] == [4]


def test_a_table_stands_between_the_paragraphs_around_it() -> None:
    page = (
        column([PROSE] * 4, 100, 100) + _grid(ROWS, [100, 400, 700], top=260) + column([PROSE] * 4, 100, 420)
    )
    assert [block.type for block in blocks_of(page, SAME)] == [
        BlockType.PARAGRAPH,
        BlockType.TABLE,
        BlockType.PARAGRAPH,
    ]


def test_a_cell_read_over_two_rows_does_not_break_the_table() -> None:
    pieces = _grid([*ROWS, ["Colorado", "5", "7"], ["Delaware", "4", "8"]], [100, 400, 700])
    tall = Line("18,870209", Box(400, 126, 470, 126 + 1.9 * PITCH))
    pieces = [tall, *(piece for piece in pieces if piece.text not in {"18,870", "209"})]
    (table,) = _tables(pieces)
    assert [row[0] for row in table.rows] == ["State", "Alabama", "Alaska", "Arizona", "Colorado", "Delaware"]


def test_a_heading_over_two_columns_of_a_table_is_in_one_of_them() -> None:
    wide = line("All long guns of the state", 390, 74, width=420)
    rows = [[f"State {n}", str(n * 7), str(n * 11), str(n)] for n in range(12)]
    (table,) = _tables([wide, *_grid(rows, [100, 400, 600, 850])])
    assert len(table.rows[-1]) == 4
