from models.geometry import Box
from tasks.work.lines import Line, Placed
from tasks.work.tables import dense_runs, grid_of, is_prose


def _placed(text: str, x: float, y: float, width: float | None = None, height: float = 20) -> Placed:
    box = Box(x, y, x + (10 * len(text) if width is None else width), y + height)
    return Placed(Line(text, box), box)


def _rows(*rows: str, xs: tuple[float, ...] = (0, 200, 400, 600), top: float = 0) -> list[Placed]:
    """Cells separated by bars; a dash leaves a cell out."""
    return [
        _placed(cell.strip(), x, top + 24 * number)
        for number, row in enumerate(rows)
        for cell, x in zip(row.split("|"), xs, strict=False)
        if cell.strip() != "-"
    ]


def test_a_grid_has_its_cells_row_by_row_and_all_rows_equally_long() -> None:
    grid = grid_of(_rows("a|1|2", "b|3|-", "c|5|6", "d|7|8"))
    assert grid is not None
    assert grid.cells == (("a", "1", "2"), ("b", "3", ""), ("c", "5", "6"), ("d", "7", "8"))


def test_two_pieces_in_one_cell_are_joined() -> None:
    pieces = [*_rows("one|1|2", "two and more|3|4", "six|5|6"), _placed("more", 45, 0)]
    grid = grid_of(pieces)
    assert grid is not None
    assert grid.cells[0] == ("one more", "1", "2")


def test_a_piece_across_a_gap_is_forgiven_once_in_ten_rows() -> None:
    across = _placed("a heading across the gaps", 5, -24, width=590)
    long = grid_of([across, *_rows(*(f"row {n}|{n}|{n * n}" for n in range(20)))])
    short = grid_of([across, *_rows("a|1|2", "b|3|4", "c|5|6")])
    assert long is not None
    assert len(long.cells[-1]) == 3
    assert short is None


def test_rows_that_are_not_level_are_no_table() -> None:
    left = [_placed(f"left {n}", 0, 30 * n) for n in range(8)]
    right = [_placed(f"right {n}", 300, 30 * n + 9) for n in range(8)]
    assert grid_of(left + right) is None


def test_a_list_with_a_remark_here_and_there_is_no_table() -> None:
    assert grid_of(_rows("a|-", "b|x", "c|-", "d|-", "e|y", "f|-")) is None


def test_prose_fills_its_column_and_cells_do_not() -> None:
    prose = [_placed("a line of text", 0, 24 * n, width=300 - 10 * (n % 3)) for n in range(6)]
    ragged = [_placed("cell", 0, 24 * n, width=(40, 300, 90, 60)[n % 4]) for n in range(8)]
    narrow = [_placed("12", 0, 24 * n, width=40) for n in range(6)]
    assert is_prose(prose)
    assert not is_prose(ragged)
    assert not is_prose(narrow)
    assert is_prose(prose[:1])


def test_dense_rows_are_cut_out_from_the_text_around_them() -> None:
    above = [_placed("text over the whole width", 0, -60, width=700)]
    below = [_placed("text under the whole table", 0, 200, width=700)]
    runs = dense_runs([*above, *_rows("a|1|2|3", "b|4|5|6", "c|7|8|9"), *below])
    assert [grid is not None for _, grid in runs] == [False, True, False]


def test_a_row_with_a_cell_missing_does_not_cut_a_dense_table() -> None:
    runs = dense_runs(_rows("a|1|2", "b|3|4", "c|-|6", "d|7|8", "e|9|10"))
    assert [len(grid.cells) for _, grid in runs if grid] == [5]


def test_three_columns_of_prose_are_no_dense_table() -> None:
    pieces = [_placed("words of a column", x, 24 * n, width=180) for x in (0, 220, 440) for n in range(9)]
    assert dense_runs(pieces) == [(pieces, None)]


def test_a_title_much_taller_than_the_cells_is_not_in_a_row() -> None:
    title = _placed("The Title", 150, -50, height=40)
    (_, before), (_, grid) = dense_runs([title, *_rows("a|1|2", "b|3|4", "c|5|6")])
    assert before is None
    assert grid is not None
    assert len(grid.cells) == 3
