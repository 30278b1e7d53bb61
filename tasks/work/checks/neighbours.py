"""Checks of a page against the pages around it: what is right alone can be wrong in its document."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rapidfuzz import fuzz

from models.limits import CheckLimits
from models.reading import BlockType, Reading, ReadingSource
from models.text import scripts
from tasks.work.checks.case import Sighting, clipped
from tasks.work.checks.languages import language_of, main_script

_NUMBER = re.compile(r"[0-9]+")
_WORD = re.compile(r"[^\W\d_]+")
_MARGINS = frozenset({BlockType.HEADER, BlockType.FOOTER})
_LINE_CHARS = 120
# Letters that make a running line: page numbers alone are lost too often to tell anything.
_LINE_LETTERS = 8
_SAME_LINE = 80.0
_SCRIPT_LETTERS = 60
# From this share of its letters in the neighbours' script on, a page is mixed, not in another one.
_MIXED_SHARE = 0.3
_AGREEING = 2
# A page is in the language of the pages around it if these hold half of its words: of another language they
# hold up to a quarter. The language itself need not be told then, for which a model of 70 MB is loaded.
_SAME_WORDS = 0.5
_WORDS_CHARS = 4_000


# With a __dict__, in which the language stays once it was asked for.
@dataclass(frozen=True)
class Leaf:
    """What is compared of a page; empty strings where it is not known."""

    script: str
    shares: Mapping[str, float]
    """Of the letters of each script."""
    running: tuple[str, ...]
    """Lines at its top and bottom, folded."""
    text: str
    """All of it, folded."""
    said: str
    """The text as it was read."""
    limits: CheckLimits

    @cached_property
    def language(self) -> str:
        """Told when asked for: of a page or two no neighbours agree, and no model is needed."""
        return language_of(self.said, self.limits)

    @cached_property
    def words(self) -> list[str]:
        """The first few hundred of its words, folded."""
        return _WORD.findall(self.text[:_WORDS_CHARS])


Leaves = Mapping[int, Leaf]


def leaves(pages: Mapping[int, Reading], limits: CheckLimits) -> dict[int, Leaf]:
    """The pages of a document that hold text, by number."""
    return {
        number: _leaf(reading, limits)
        for number, reading in sorted(pages.items())
        if reading.source is not ReadingSource.NONE and reading.text.strip()
    }


def script_jump(number: int, known: Leaves, limits: CheckLimits) -> Sighting | None:
    """The page is in another script than all pages around it."""
    here = known[number]
    there = _agreed([leaf.script for leaf in _around(number, known, limits)])
    if not here.script or not there or here.script == there or here.shares.get(there, 0) > _MIXED_SHARE:
        return None
    message = f"The page is in {here.script} letters, the pages around it are in {there}."
    return Sighting(message, {"script": here.script, "around": there})


def language_jump(number: int, known: Leaves, limits: CheckLimits) -> Sighting | None:
    """The page is in the script of the pages around it and in another language."""
    here, around = known[number], _around(number, known, limits)
    if len(around) < _AGREEING or any(leaf.script != here.script for leaf in around):
        return None
    if _shares_words(here, around) or not here.language:
        return None
    there = _agreed([leaf.language for leaf in around])
    if not there or here.language == there:
        return None
    message = f"The page is in another language ({here.language}) than the pages around it ({there})."
    return Sighting(message, {"language": here.language, "around": there})


def running_line_lost(number: int, known: Leaves, limits: CheckLimits) -> Sighting | None:
    """A header or footer that the pages before and after have, and this one has not."""
    here = known[number]
    if len(here.text) < limits.lost_line_chars:
        return None
    expected = list(_expected(number, known))
    lost = [line for line in expected if not _stands_in(line, here)]
    if not lost or len(lost) < len(expected):
        return None
    message = "A header or footer of the pages around it is missing on this page."
    return Sighting(message, {"lines": len(lost), "chars": len(lost[0])})


def _leaf(reading: Reading, limits: CheckLimits) -> Leaf:
    text = clipped(reading.text, limits.scan_chars)
    letters = scripts(text)
    total = letters.total()
    return Leaf(
        script=main_script(text, limits) if total >= _SCRIPT_LETTERS else "",
        shares={script: count / total for script, count in letters.items()},
        running=tuple(_running(reading)),
        text=_folded(text),
        said=text,
        limits=limits,
    )


def _running(reading: Reading) -> Iterator[str]:
    """Headers and footers, or the first and the last line where the engine tells no types."""
    lines = [block.text for block in reading.blocks if block.type in _MARGINS]
    if not lines:
        lines = [*reading.text[:_LINE_CHARS].splitlines()[:1], *reading.text[-_LINE_CHARS:].splitlines()[-1:]]
    for line in lines:
        folded = _folded(line[:_LINE_CHARS])
        if sum(map(str.isalpha, folded)) >= _LINE_LETTERS:
            yield folded


def _expected(number: int, known: Leaves) -> Iterator[str]:
    """Running lines that the page should have: on both sides of it, twice on one side at least.

    Books have one on left pages and another on right ones: the second page before and after counts too.
    """
    for step in (1, 2):
        before, after = known.get(number - step), known.get(number + step)
        beyond = [known[n] for n in (number - 2 * step, number + 2 * step) if n in known]
        for line in before.running if before and after else ():
            is_running = after is not None and _runs(line, after)
            if is_running and any(_runs(line, leaf) for leaf in beyond):
                yield line


def _runs(line: str, leaf: Leaf) -> bool:
    return any(fuzz.ratio(line, other) >= _SAME_LINE for other in leaf.running)


def _stands_in(line: str, leaf: Leaf) -> bool:
    return line in leaf.text or fuzz.partial_ratio(line, leaf.text, score_cutoff=_SAME_LINE) > 0


def _around(number: int, known: Leaves, limits: CheckLimits) -> list[Leaf]:
    steps = range(1, limits.neighbours + 1)
    return [known[n] for step in steps for n in (number - step, number + step) if n in known]


def _shares_words(here: Leaf, around: Sequence[Leaf]) -> bool:
    known = {word for leaf in around for word in leaf.words}
    return sum(word in known for word in here.words) >= max(1, _SAME_WORDS * len(here.words))


def _agreed(values: list[str]) -> str:
    """What all of two or more known values say; empty where they differ."""
    said = [value for value in values if value]
    return said[0] if len(said) >= _AGREEING and len(set(said)) == 1 else ""


def _folded(text: str) -> str:
    return " ".join(_NUMBER.sub("0", text).split()).casefold()
