"""Loops of a model and the honest repeats of printed pages."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.reading import Block, BlockType
from tasks.work.checks import CheckLimits
from tasks.work.checks.loops import find_loop, longest_runs, loop_text

LIMITS = CheckLimits()
PROSE = "The quick brown fox jumps over the lazy dog and thinks about it. "
ROW = "<tr><td>Total amount due</td><td>12.50 EUR</td></tr>"


@pytest.mark.parametrize(
    "text",
    [
        "THIS FAR " * 4000,
        PROSE + "的人民" * 900,
        PROSE + ROW * 12,
        PROSE + "." * 5000,
        PROSE + "| | | | " * 800,
        PROSE + "\n".join(["row after row after row"] * 100) + "</table>",
        "no space at all" + "ab" * 1200,
        '{"text": "' + "again and " * 300 + '"}',
    ],
    ids=["words", "chinese", "rows", "dots", "cells", "before-a-closing-tag", "unspaced", "in-json"],
)
def test_a_loop_is_found(text: str) -> None:
    assert find_loop(text, LIMITS)


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(["0"] * 60),
        "\n".join(f"{n}. Chapter {n * 7} {'.' * 90} {n * 3}" for n in range(40)),
        "Yes [ ] No [ ]\n" * 40,
        "Name ________ Date ______\n" * 40,
        "是 □ 否 □\n" * 40,
        "\n".join(" ".join(["0.00"] * 10) for _ in range(50)),
        "Row, row, row your boat, gently down the stream. " * 3,
        "Refrain of a song. " * 6 + PROSE,
        "_" * 400,
        "",
        "a",
    ],
    ids=[
        "zeros",
        "contents",
        "boxes",
        "form",
        "chinese-boxes",
        "zero-table",
        "round",
        "song",
        "rule",
        "none",
        "one",
    ],
)
def test_honest_repeats_pass(text: str) -> None:
    assert find_loop(text, LIMITS) is None


def test_a_loop_far_from_the_end_of_a_long_text_is_no_loop() -> None:
    rest = "".join(f"{PROSE}{n} " for n in range(60))
    assert find_loop("again and " * 160 + rest, LIMITS) is None


def test_a_table_of_equal_cells_passes() -> None:
    rows = (("Available",) * 12,) * 30
    table = Block(BlockType.TABLE, "\n".join("\t".join(row) for row in rows), rows=rows)
    assert find_loop(loop_text((table,), table.text, LIMITS), LIMITS) is None


@pytest.mark.parametrize("rows", [(("Available",) * 5000,), (("a",), ("again", "again") * 800)])
def test_a_table_that_no_page_holds_is_searched(rows: tuple[tuple[str, ...], ...]) -> None:
    table = Block(BlockType.TABLE, "\n".join("\t".join(row) for row in rows), rows=rows)
    assert find_loop(loop_text((table,), table.text, LIMITS), LIMITS)


def test_a_page_without_blocks_is_searched_by_its_text() -> None:
    assert loop_text((), "text", LIMITS) == "text"


@given(st.text("ab ", min_size=1, max_size=12), st.integers(3, 30), st.text("cd", max_size=5))
def test_a_repeated_unit_is_always_among_the_runs(unit: str, times: int, before: str) -> None:
    runs = longest_runs(before + unit * times, range(1, 13))
    assert any(run.chars >= len(unit) * times for run in runs)


@given(st.text(max_size=80))
def test_every_run_repeats_its_unit(text: str) -> None:
    for run in longest_runs(text, range(1, 21)):
        stretch = text[run.start : run.end]
        assert stretch == (run.unit * (run.repeats + 1))[: run.chars]
        assert run.repeats >= 2


def test_the_search_is_quick_on_a_long_page() -> None:
    text = "".join(f"{PROSE}{n} " for n in range(1000))
    started = time.process_time()
    find_loop(text, LIMITS)
    assert time.process_time() - started < 1.0
