"""Repetition in a text: the longest stretch that says one thing over and over."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count, pairwise
from typing import TYPE_CHECKING

from models.limits import CheckLimits
from models.reading import Block, BlockType

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# A loop repeats its own text: a sample of so many characters stands there again, so often that it is enough
# to look at the first places.
_SAMPLE, _MOST_AGAIN = 12, 32
_NUMBER = re.compile(r"[0-9]+")


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
    flat = _flat(text, limits)
    runs = (run for run in _runs(flat, limits) if _is_loop(run, limits))
    return next((run for run in runs if _ends_or_fills(run, flat, limits)), None)


def find_counting(text: str, limits: CheckLimits) -> Run | None:
    """The run of sentences that differ in their numbers only, if there are more than any list has."""
    flat = _NUMBER.sub("0", _flat(text, limits))
    runs = (run for run in _runs(flat, limits) if run.repeats >= limits.counted_repeats)
    runs = (run for run in runs if _is_sentence(run, limits))
    return next((run for run in runs if _ends_or_fills(run, flat, limits)), None)


def longest_runs(text: str, periods: Iterable[int]) -> list[Run]:
    """For each of `periods` that has one: its longest run, in the order of `periods`.

    A unit that is itself a shorter one repeated is left out: it would make sentences of form boxes.
    """
    import numpy as np  # noqa: PLC0415 (honest text has no periods)

    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    found = []
    for period in periods:
        if not 0 < period <= len(codes) // 2:
            continue
        start, length = _longest_true(codes[period:] == codes[:-period])
        unit = text[start : start + period]
        if length >= period and (unit + unit).find(unit, 1) == period:
            found.append(Run(start, start + length + period, period, unit))
    return found


def periods_in(text: str, most: int) -> list[int]:
    """Distances, up to `most`, at which samples of `text` stand again; few or none where text is honest.

    A run of two periods and 150 characters or more holds a sample, so its period is here.
    """
    found: set[int] = set()
    for start in _sample_starts(len(text) - _SAMPLE):
        sample, end = text[start : start + _SAMPLE], start + most + _SAMPLE
        at = start
        for _ in range(_MOST_AGAIN):
            at = text.find(sample, at + 1, end)
            if at < 0:
                break
            found.add(at - start)
    return sorted(found)


def _sample_starts(end: int) -> Iterator[int]:
    """Places 60 to 138 characters apart, never in step with a period."""
    start = 0
    for number in count():
        if start >= end:
            return
        yield start
        start += 60 + number * 37 % 79


def loop_text(blocks: tuple[Block, ...], text: str, limits: CheckLimits) -> str:
    """What is searched: all but tables that a page can hold, whose cells may well be equal."""
    if not blocks:
        return text
    return "\n".join(block.text for block in blocks if not is_printable_table(block, limits))


def is_printable_table(block: Block, limits: CheckLimits) -> bool:
    """Whether a block is a table of equal rows that fits on a page."""
    if block.type is not BlockType.TABLE or not block.rows:
        return False
    is_even = all(len(above) == len(below) for above, below in pairwise(block.rows))
    cells = sum(len(row) for row in block.rows)
    return is_even and len(block.rows) <= limits.table_rows and cells <= limits.table_cells


def _flat(text: str, limits: CheckLimits) -> str:
    # Twice as much is split as is searched: white space shrinks.
    return " ".join(text[-2 * limits.loop_scan_chars :].split())[-limits.loop_scan_chars :]


def _runs(flat: str, limits: CheckLimits) -> list[Run]:
    periods = periods_in(flat, limits.loop_period_chars)
    return longest_runs(flat, periods) if periods else []


def _longest_true(flags: "npt.NDArray[np.bool_]") -> tuple[int, int]:
    """Start and length of the longest stretch of True."""
    import numpy as np  # noqa: PLC0415

    breaks = np.flatnonzero(~flags)
    edges = np.concatenate(([-1], breaks, [len(flags)]))
    lengths = np.diff(edges) - 1
    longest = int(lengths.argmax())
    return int(edges[longest]) + 1, int(lengths[longest])


def _is_loop(run: Run, limits: CheckLimits) -> bool:
    if not any(char.isalpha() for char in run.unit):
        return run.chars >= limits.symbol_loop_chars
    if run.chars >= limits.loop_chars:
        return True
    return _is_sentence(run, limits) and run.repeats >= limits.sentence_repeats


def _is_sentence(run: Run, limits: CheckLimits) -> bool:
    letters = sum(char.isalpha() for char in run.unit)
    return run.period >= limits.sentence_chars and letters >= limits.sentence_chars // 2


def _ends_or_fills(run: Run, text: str, limits: CheckLimits) -> bool:
    return len(text) - run.end <= limits.loop_tail_chars or run.chars * 2 >= len(text)
