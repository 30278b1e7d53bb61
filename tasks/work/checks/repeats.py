"""Loops of a model wherever it writes: in text, cells and rows of tables, attributes and JSON values."""

import re
from collections.abc import Iterator

from models.limits import CheckLimits
from models.verdict import Severity
from tasks.work.checks.case import Case, Sighting, clipped
from tasks.work.checks.loops import Run, find_counting, find_loop, is_printable_table, loop_text
from tasks.work.repair import unfenced

_TAG = re.compile(r"<[^<>]{0,200}>")
# Longer ones are left to the search of the whole text.
_MOST_VALUES = 50
# A row that says something, in two kinds of cells: no column of zeros, no form of boxes for Yes and No.
_ROW_WEIGHT, _ROW_CELLS, _DIGIT_WEIGHT = 10, 2, 2
_MANY_ROWS = 20


def loop(case: Case) -> Sighting | None:
    """The text repeats itself as no printed page does; text layers and line readers cannot."""
    if not case.is_written:
        return None
    run = find_loop(loop_text(case.reading.blocks, case.reading.text, case.limits), case.limits)
    if run:
        return _seen(run, "text", case.limits)
    return _in_rows(case) or _in_values(case) or _counting(case)


def _seen(run: Run, place: str, limits: CheckLimits) -> Sighting:
    return Sighting(
        f"The same {run.period} characters stand {run.repeats} times in a row.",
        {"period": run.period, "repeats": run.repeats, "chars": run.chars, "place": place},
        None if run.chars >= limits.loop_chars else Severity.WARNING,
    )


def _in_rows(case: Case) -> Sighting | None:
    """The same row again and again down to the end of a table."""
    for table in case.tables:
        # The last row may be cut.
        repeats = max(_equal_rows(table.rows), _equal_rows(table.rows[:-1]))
        if repeats < case.limits.row_repeats or not is_printable_table(table, case.limits):
            continue
        weight = None if repeats >= _MANY_ROWS else Severity.WARNING
        return Sighting(
            f"The same row stands {repeats} times at the end of a table.",
            {"repeats": repeats, "place": "row"},
            weight,
        )
    return None


def _equal_rows(rows: tuple[tuple[str, ...], ...]) -> int:
    """How many rows at the end say the same in cells that differ."""
    last = rows[-1] if rows else ()
    cells = {cell for cell in last if cell.strip()}
    if len(cells) < _ROW_CELLS or sum(map(_weight, cells)) < _ROW_WEIGHT:
        return 0
    return next((n for n, row in enumerate(reversed(rows)) if row != last), len(rows))


def _weight(cell: str) -> int:
    """Letters and, twice, digits other than zero: of two amounts one is rarely like the other."""
    digits = sum(char.isdecimal() and char != "0" for char in cell)
    return sum(map(str.isalpha, cell)) + _DIGIT_WEIGHT * digits


def _in_values(case: Case) -> Sighting | None:
    """A loop inside one cell, attribute or JSON value; the rest of the answer can look sound."""
    for place, value in _values(case):
        run = find_loop(value, case.limits)
        if run:
            return _seen(run, place, case.limits)
    return None


def _values(case: Case) -> Iterator[tuple[str, str]]:
    least = case.limits.value_chars
    cells = (cell for table in case.tables for row in table.rows for cell in row if len(cell) >= least)
    yield from (("cell", cell) for _, cell in zip(range(_MOST_VALUES), cells, strict=False))
    raw = clipped(case.reading.raw or "", 2 * case.limits.scan_chars)
    # A quote begins a value after one of these only; after the value, what follows is no value.
    before = r"[:\[,]\s?" if unfenced(raw).text.lstrip()[:1] in {"{", "["} else "="
    quoted = re.compile(f'{before}"([^"]{{{least},}})').findall(raw)[-_MOST_VALUES:]
    # Cells of a table inside a JSON value may be equal; their tags are no words.
    yield from (("value", _TAG.sub(" ", value)) for value in quoted)


def _counting(case: Case) -> Sighting | None:
    run = find_counting(loop_text(case.reading.blocks, case.reading.text, case.limits), case.limits)
    if run is None:
        return None
    return Sighting(
        f"The same sentence stands {run.repeats} times in a row, counting.",
        {"period": run.period, "repeats": run.repeats, "chars": run.chars, "place": "counting"},
        Severity.WARNING,
    )
