"""Formulas: what opens has to close, and a LaTeX parser has to take them."""

import re
from collections.abc import Iterator
from functools import cache

from models.reading import BlockType
from tasks.work.checks.case import Case, Sighting

_MARK = re.compile(
    r"\\(?:begin|end)\s{0,3}\{([A-Za-z*]{1,30})\}|\\(left|right)(?![A-Za-z])|\\.|[{}]", re.DOTALL
)
_INLINE = re.compile(r"\$\$(.{1,2000}?)\$\$|(?<!\\)\$([^$\n]{1,300})\$|\\\((.{1,300}?)\\\)", re.DOTALL)
_IS_LATEX = re.compile(r"\\[A-Za-z]|[\^_]")
# A % of a page is no comment; models rarely write the backslash before it.
_PERCENT = re.compile(r"(?<!\\)%")
# The parser recurses; no formula in print is nested so deep.
_DEEPEST = 60


def formula_unbalanced(case: Case) -> Sighting | None:
    """A formula that LaTeX refuses: braces, environments or delimiters left open, arguments missing."""
    if not case.is_written:
        return None
    broken = total = 0
    fault, room = "", case.limits.formula_chars
    for latex in _formulas(case):
        total += 1
        seen = fault_of(latex, parse=len(latex) <= room)
        room -= len(latex)
        broken += bool(seen)
        fault = fault or seen
    if not broken:
        return None
    message = f"{broken} of {total} formulas are no valid LaTeX."
    return Sighting(message, {"formulas": total, "broken": broken, "fault": fault})


def fault_of(latex: str, *, parse: bool = True) -> str:
    """What is wrong with a formula: braces, environments, delimiters, depth or syntax; empty for nothing.

    `parse`: with a LaTeX parser too, at some 10 µs a character.
    """
    fault = _counted(latex)
    if fault or not parse:
        return fault
    # For pages with formulas: it takes 40 ms to load.
    from pylatexenc.latexwalker import LatexWalker, LatexWalkerParseError  # noqa: PLC0415

    try:
        text = _PERCENT.sub(r"\\%", latex)
        LatexWalker(text, latex_context=_context(), tolerant_parsing=False).get_latex_nodes()
    except LatexWalkerParseError:
        return "syntax"
    except RecursionError:
        return "depth"
    return ""


def _counted(latex: str) -> str:
    """What one look from left to right finds."""
    braces = 0
    left = 0
    open_: list[str] = []
    for found in _MARK.finditer(latex):
        mark = found[0]
        if mark in "{}":
            braces += 1 if mark == "{" else -1
        elif found[1]:
            if mark.startswith(r"\begin"):
                open_.append(found[1])
            elif not open_ or open_.pop() != found[1]:
                return "environments"
        elif found[2]:
            left += 1 if found[2] == "left" else -1
        if braces < 0 or left < 0:
            break
        if braces + len(open_) > _DEEPEST:
            return "depth"
    return "braces" if braces else "delimiters" if left else "environments" if open_ else ""


def _formulas(case: Case) -> Iterator[str]:
    for block in case.reading.blocks:
        if block.type is BlockType.FORMULA:
            yield block.text.strip().removeprefix("$$").removesuffix("$$")
    words = case.words
    if "$" not in words and "\\(" not in words:
        return
    for found in _INLINE.finditer(words):
        latex = found[1] or found[2] or found[3]
        # Prices stand between dollar signs, too.
        if found[1] or found[3] or _IS_LATEX.search(latex):
            yield latex


@cache
def _context() -> object:
    from pylatexenc.latexwalker import get_default_latex_context_db  # noqa: PLC0415

    return get_default_latex_context_db()
