"""Loops in rows, cells, values and counting sentences: on both sides of each border."""

from dataclasses import replace

import pytest

from models.limits import CheckLimits
from models.verdict import Severity
from tasks.work.checks.loops import find_counting, periods_in
from tests.unit.readings import PAGE, PROSE, found, page_of, table_of

LIMITS = CheckLimits()
HEAD = [["Item", "Price"], ["Nail", "0.10"], ["Screw", "0.20"]]
ROW = ["Large hammer", "12.50"]


def loop_in(raw: str) -> bool:
    return found(page_of(PROSE, raw=raw), "loop") is not None


@pytest.mark.parametrize(("times", "is_found"), [(7, False), (8, True), (19, True), (20, True)])
def test_equal_rows_at_the_end_of_a_table_are_a_loop_from_eight_on(times: int, is_found: bool) -> None:
    assert bool(found(table_of([*HEAD, *[ROW] * times]), "loop")) is is_found


def test_many_equal_rows_are_an_error_and_some_a_warning() -> None:
    few, many = (found(table_of([*HEAD, *[ROW] * times]), "loop") for times in (8, 20))
    assert few is not None
    assert many is not None
    assert (few.severity, many.severity) == (Severity.WARNING, Severity.ERROR)


def test_a_last_row_that_was_cut_does_not_hide_the_loop() -> None:
    assert found(table_of([*HEAD, *[ROW] * 12, ["Large ham", ""]]), "loop")


def test_equal_rows_with_others_after_them_pass() -> None:
    assert not found(table_of([*HEAD, *[ROW] * 12, *HEAD]), "loop")


@pytest.mark.parametrize(
    "row", [["0", "0"], ["", ""], ["Yes ☐", "No ☐"], ["0.00", "-"], ["Available", "Available"], ["n/a", "0"]]
)
def test_columns_of_zeros_and_forms_of_boxes_pass(row: list[str]) -> None:
    assert not found(table_of([*HEAD, *[row] * 40]), "loop")


@pytest.mark.parametrize(("times", "is_found"), [(5, False), (400, True)])
def test_a_loop_inside_one_cell_is_found(times: int, is_found: bool) -> None:
    assert bool(found(table_of([*HEAD, ["again and " * times, "1"]]), "loop")) is is_found


def test_a_loop_inside_an_attribute_or_a_json_value_is_found() -> None:
    said = "a red door and " * 200
    assert loop_in(f'<img alt="{said}"/>')
    assert loop_in(f'<img alt="{said}')
    assert loop_in(f'{{"kind": "sign", "text": "{said}"}}')
    assert loop_in(f'```json\n["{said}"]\n```')


def test_what_stands_between_values_is_no_value() -> None:
    cells = "<td>Available</td>" * 360
    assert not loop_in(f'<div data-label="Table"><table>{cells}</table></div>')
    assert not loop_in(f'{{"html": "<table>{"<td>0</td>" * 400}</table>"}}')
    assert not loop_in(f'<img alt="{PROSE}"/>' * 2)


@pytest.mark.parametrize(("times", "is_found"), [(19, False), (21, True)])
def test_sentences_that_differ_in_their_numbers_only_are_a_loop_from_twenty_on(
    times: int, is_found: bool
) -> None:
    text = "".join(f"{n}. The following entry was added to the list of members. " for n in range(times))
    assert bool(find_counting(text, LIMITS)) is is_found


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"{n}. Chapter {n * 7} {'.' * 60} {n * 3}\n" for n in range(60)),
        "".join(f"12:{n:02} 14:{n:02} 0.{n}\n" for n in range(200)),
        "".join(
            f"{n}. {'abcdefghij'[n % 10] * (n % 7 + 3)} was added to the list of members.\n"
            for n in range(60)
        ),
    ],
    ids=["contents", "timetable", "list-of-names"],
)
def test_lists_that_count_pass(text: str) -> None:
    assert find_counting(text, LIMITS) is None
    assert not found(page_of(text), "loop", replace(PAGE, ink=0.1))


def test_honest_prose_has_no_periods_to_try() -> None:
    assert periods_in(PROSE, 400) == []


@pytest.mark.parametrize("period", [1, 2, 7, 60, 97, 100, 137, 399, 400])
def test_any_period_of_a_loop_is_tried(period: int) -> None:
    unit = "".join(chr(0x4E00 + n) for n in range(period))
    assert period in periods_in(PROSE + unit * (1_500 // period + 1), 400)
