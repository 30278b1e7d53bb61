"""Tables: spans filled up, rows as long as they were written, nothing that runs wild."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.work.parsers.grid import Cell, spread
from tests.unit.parsing import read


def rows(*written: str) -> list[list[str]]:
    """Rows of cells written as a, a:2 (columns), a:1:3 (columns, rows)."""
    return spread([[cell(word) for word in row.split()] for row in written])


def cell(word: str) -> Cell:
    text, *spans = word.split(":")
    return Cell(text, *map(int, spans))


def test_a_plain_table_is_as_written() -> None:
    assert rows("a b", "c d") == [["a", "b"], ["c", "d"]]


def test_a_cell_over_columns_is_told_once_and_leaves_room() -> None:
    assert rows("a:3 b", "1 2 3 4") == [["a", "", "", "b"], ["1", "2", "3", "4"]]


def test_a_cell_over_rows_is_told_once_and_pushes_what_is_beside_it() -> None:
    assert rows("a:1:3 b", "c", "d") == [["a", "b"], ["", "c"], ["", "d"]]


def test_a_cell_over_rows_in_the_middle_keeps_its_column() -> None:
    assert rows("a b:1:2 c", "d e") == [["a", "b", "c"], ["d", "", "e"]]


def test_a_cell_over_both_fills_its_corner() -> None:
    assert rows("a:2:2 b", "c", "d e f") == [["a", "", "b"], ["", "", "c"], ["d", "e", "f"]]


def test_rows_stay_as_long_as_they_were_written() -> None:
    assert [len(row) for row in rows("a b c", "d", "e f g h")] == [3, 1, 4]


def test_a_span_past_the_last_row_harms_nothing() -> None:
    assert rows("a:1:99 b") == [["a", "b"]]


def test_a_row_of_nothing_but_spans_from_above_is_kept() -> None:
    assert rows("a:1:2 b:1:2", "c") == [["a", "b"], ["", "", "c"]]


@given(
    st.lists(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=5), max_size=6)
)
def test_every_cell_is_told_exactly_once(spans: list[list[tuple[int, int]]]) -> None:
    written = [[Cell(f"c{r}.{n}", *span) for n, span in enumerate(row)] for r, row in enumerate(spans)]
    told = [text for row in spread(written) for text in row if text]
    assert sorted(told) == sorted(cell.text for row in written for cell in row)


def test_spans_that_run_wild_take_no_memory() -> None:
    wild = [[Cell("x", 100, 100) for _ in range(50)] for _ in range(100)]
    assert sum(map(len, spread(wild))) < 200_000


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        ("<tr><td>a</td></tr>", "a"),
        ("<thead><tr><th>a</th></tr></thead><tbody><tr><td>b</td></tr></tbody>", "a\nb"),
        ("<td>a</td><td>b</td>", "a\tb"),
        ("<tr><td>a<br>b</td></tr>", "a b"),
        ("<tr><td><p>a</p><p>b</p></td></tr>", "a b"),
        ("<tr><td>a\tb</td></tr>", "a b"),
        ("<tr><td></td><td>b</td></tr>", "\tb"),
        ("<tr><td><ul><li>a</li><li>b</li></ul></td></tr>", "- a - b"),
        ("<tr><td><math>x^2</math></td></tr>", "$x^2$"),
        ("<tr></tr><tr><td>a</td></tr>", "a"),
    ],
)
def test_a_cell_is_one_line_and_a_row_is_one(inner: str, text: str) -> None:
    assert read("chandra", f"<table>{inner}</table>").blocks[0].text == text


def test_a_table_within_a_cell_is_words_of_that_cell() -> None:
    inner = "<table><tr><td>in</td><td>side</td></tr></table>"
    found = read("chandra", f"<table><tr><td>out {inner}</td><td>b</td></tr></table>")
    assert found.blocks[0].rows == (("out in side", "b"),)


def test_an_empty_table_is_no_block() -> None:
    assert read("chandra", "<table><tr></tr></table><p>a</p>").text == "a"
