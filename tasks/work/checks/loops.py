"""Repetition in a text: the longest stretch that says one thing over and over."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from models.reading import Block, BlockType
from tasks.work.checks.limits import CheckLimits


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of text in which a unit of `period` characters stands again and again."""

    start: int
    end: int
    period: int
    unit: str

    @property
    def chars(self) -> int:
        """Length of the stretch in characters."""
        return self.end - self.start

    @property
    def repeats(self) -> int:
        """How often the whole unit stands in it."""
        return self.chars // self.period


def find_loop(text: str, limits: CheckLimits) -> Run | None:
    """The run in `text` that no printed page would hold, if there is one.

    Looked for at the end of the text, or anywhere when the run fills half of it. White space counts as one
    space, so that a loop over lines is one too.
    """
    flat = " ".join(text.split())[-limits.loop_scan_chars :]
    runs = (run for run in longest_runs(flat, limits.loop_period_chars) if _is_loop(run, limits))
    return next((run for run in runs if _ends_or_fills(run, flat, limits)), None)


def longest_runs(text: str, max_period: int) -> list[Run]:
    """For each period up to `max_period` that has one: its longest run, shortest period first.

    A unit that is itself a shorter one repeated is left out: it would make sentences of form boxes.
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    found = []
    for period in range(1, min(max_period, len(codes) // 2) + 1):
        start, length = _longest_true(codes[period:] == codes[:-period])
        unit = text[start : start + period]
        if length >= period and (unit + unit).find(unit, 1) == period:
            found.append(Run(start, start + length + period, period, unit))
    return found


def loop_text(blocks: tuple[Block, ...], text: str, limits: CheckLimits) -> str:
    """What is searched: all but tables that a page can hold, whose cells may well be equal."""
    if not blocks:
        return text
    return "\n".join(block.text for block in blocks if not _is_printable_table(block, limits))


def _longest_true(flags: npt.NDArray[np.bool_]) -> tuple[int, int]:
    """Start and length of the longest stretch of True."""
    breaks = np.flatnonzero(~flags)
    edges = np.concatenate(([-1], breaks, [len(flags)]))
    lengths = np.diff(edges) - 1
    longest = int(lengths.argmax())
    return int(edges[longest]) + 1, int(lengths[longest])


def _is_loop(run: Run, limits: CheckLimits) -> bool:
    if not any(char.isalpha() for char in run.unit):
        return run.chars >= limits.symbol_loop_chars
    return run.chars >= limits.loop_chars or _repeats_a_sentence(run, limits)


def _repeats_a_sentence(run: Run, limits: CheckLimits) -> bool:
    letters = sum(char.isalpha() for char in run.unit)
    return letters >= limits.sentence_chars // 2 and (
        run.period >= limits.sentence_chars and run.repeats >= limits.sentence_repeats
    )


def _ends_or_fills(run: Run, text: str, limits: CheckLimits) -> bool:
    return len(text) - run.end <= limits.loop_tail_chars or run.chars * 2 >= len(text)


def _is_printable_table(block: Block, limits: CheckLimits) -> bool:
    if block.type is not BlockType.TABLE or not block.rows:
        return False
    is_even = all(len(above) == len(below) for above, below in pairwise(block.rows))
    cells = sum(len(row) for row in block.rows)
    return is_even and len(block.rows) <= limits.table_rows and cells <= limits.table_cells
