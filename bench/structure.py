"""Tables and formulas of a page, and how near two of them are: TEDS, and LaTeX sign by sign.

TEDS is the tree-edit-distance similarity of two tables as HTML (Zhong et al. 2020), by the package
table-recognition-metric; `structure_only` leaves the words in the cells out.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import product
from typing import Any, TypeVar

from lxml import html as lxml_html
from pylatexenc.latexwalker import LatexWalker
from rapidfuzz.distance import Indel
from table_recognition_metric import TEDS

from models.geometry import Transform
from models.reading import Block, BlockType
from models.vlm import Parser
from tasks.work.metrics import agreement, normalise
from tasks.work.parsers import Sent, parse

Row = tuple[tuple[str, int, int], ...]
"""Cells of a row: text, columns and rows that the cell spans."""
Table = tuple[Row, ...]
_Thing = TypeVar("_Thing")

MOST_NODES = 500
"""Rows and cells of a table that are compared, its first ones: time grows with the cube, 5 s for so many."""
# What only looks different, and two names of one sign.
_LOOKS = frozenset(
    [
        "left",
        "right",
        "big",
        "Big",
        "bigg",
        "Bigg",
        "displaystyle",
        "textstyle",
        "limits",
        "quad",
        "qquad",
        *",;:!",
    ]
)
_SAME = {"dfrac": "frac", "tfrac": "frac", "leq": "le", "geq": "ge", "neq": "ne", "to": "rightarrow"}
_INLINE = re.compile(r"(?<!\\)\$([^$\n]{1,300})\$")


@dataclass(frozen=True, slots=True)
class Structure:
    """Tables and formulas (LaTeX without delimiters) in the order of the page."""

    tables: tuple[Table, ...]
    formulas: tuple[str, ...]


NO_STRUCTURE = Structure((), ())


@dataclass(frozen=True, slots=True)
class TableScore:
    """How near a table that is printed was read; 0 where none was."""

    teds: float
    structure: float
    """The same with the words left out."""


def structures_of(pages: Sequence[str], parser: Parser) -> tuple[Structure, ...]:
    """What stands on each page of a ground truth in HTML or Markdown."""
    sent = Sent(1, 1, Transform.scale(1, 1))
    return tuple(structure_of(parse(parser, page, sent).blocks) for page in pages)


def structure_of(blocks: Sequence[Block]) -> Structure:
    """Tables, and formulas on lines of their own and within text."""
    tables = tuple(_table(block) for block in blocks if block.type is BlockType.TABLE)
    return Structure(tuple(table for table in tables if table), tuple(_formulas(blocks)))


def _formulas(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        if block.type is BlockType.FORMULA:
            yield block.text.strip()
        elif block.type not in {BlockType.TABLE, BlockType.CODE}:
            yield from _INLINE.findall(block.text)


def _table(block: Block) -> Table:
    if not block.html:
        return tuple(tuple((cell, 1, 1) for cell in row) for row in block.rows)
    rows = lxml_html.fragment_fromstring(block.html, create_parent="div").iter("tr")
    return tuple(tuple(_cell(cell) for cell in row.iter("td", "th")) for row in rows)


def _cell(cell: Any) -> tuple[str, int, int]:
    return cell.text_content(), _span(cell.get("colspan")), _span(cell.get("rowspan"))


def _span(written: str | None) -> int:
    return int(written) if written and written.isdecimal() else 1


def table_scores(expected: Sequence[Table], found: Sequence[Table]) -> list[TableScore]:
    """For each table that is printed, how near the one comes that was found for it; each is used once."""
    scores = [TableScore(0.0, 0.0)] * len(expected)
    for here, there in paired(expected, found, lambda a, b: agreement(_words(a), _words(b))):
        pair = expected[here], found[there]
        scores[here] = TableScore(teds(*pair), teds(*pair, structure_only=True))
    return scores


def teds(expected: Table, found: Table, *, structure_only: bool = False) -> float:
    """1 for equal tables, 0 for nothing in common. Of large tables the first rows are compared."""
    left, right = as_html(_cut(expected)), as_html(_cut(found))
    return float(TEDS(structure_only=structure_only)(right, left))


def as_html(table: Table) -> str:
    """A table as TEDS takes it: no head, no header cells, words in one form, spans where there are any."""
    rows = ("".join(_as_cell(*cell) for cell in row) for row in table)
    return f"<html><body><table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table></body></html>"


def _as_cell(text: str, columns: int, rows: int) -> str:
    spans = f' colspan="{columns}"' * (columns > 1) + f' rowspan="{rows}"' * (rows > 1)
    return f"<td{spans}>{escape(normalise(text))}</td>"


def _cut(table: Table) -> Table:
    nodes = 0
    for number, row in enumerate(table):
        nodes += 1 + len(row)
        if nodes > MOST_NODES:
            return table[: max(1, number)]
    return table


def _words(table: Table) -> str:
    return " ".join(cell[0] for row in table for cell in row)


def formula_scores(expected: Sequence[str], found: Sequence[str]) -> list[float]:
    """For each formula that is printed, 0 to 1: how near the one comes that was found for it."""
    scores = [0.0] * len(expected)
    for here, there in paired(expected, found, formula_match):
        scores[here] = formula_match(expected[here], found[there])
    return scores


def formula_match(expected: str, found: str) -> float:
    """Share of the signs of two formulas that are the same in the same order: 1 for one formula."""
    return Indel.normalized_similarity(signs(expected), signs(found))


def signs(latex: str) -> list[str]:
    r"""A formula sign by sign: braces only around what is longer than a sign, no looks such as \left, \,."""
    try:
        nodes, _, _ = LatexWalker(latex, tolerant_parsing=True).get_latex_nodes()
    except RecursionError:
        return latex.split()
    return [sign for node in nodes for sign in _signs(node)]


def _signs(node: Any) -> list[str]:
    inner = [sign for child in _children(node) for sign in _signs(child)]
    if hasattr(node, "chars"):
        return [char for char in node.chars if not char.isspace()]
    if hasattr(node, "delimiters"):
        return inner if len(inner) == 1 else ["{", *inner, "}"]
    if hasattr(node, "macroname"):
        name = _SAME.get(node.macroname, node.macroname)
        return inner if name in _LOOKS else [f"\\{name}", *inner]
    if hasattr(node, "environmentname"):
        return [f"\\begin{{{node.environmentname}}}", *inner, "\\end"]
    return [node.specials_chars] if hasattr(node, "specials_chars") else inner


def _children(node: Any) -> list[Any]:
    given = getattr(node, "nodeargd", None)
    arguments = [each for each in (given.argnlist if given else None) or [] if each is not None]
    return [*arguments, *(getattr(node, "nodelist", None) or [])]


def paired(
    expected: Sequence[_Thing], found: Sequence[_Thing], near: Callable[[_Thing, _Thing], float]
) -> list[tuple[int, int]]:
    """Which of the found ones stands for which expected one: the nearest first, each once."""
    places = product(range(len(expected)), range(len(found)))
    nearest = sorted(((near(expected[a], found[b]), -a, -b) for a, b in places), reverse=True)
    pairs: dict[int, int] = {}
    for likeness, a, b in nearest:
        if likeness > 0 and -a not in pairs and -b not in pairs.values():
            pairs[-a] = -b
    return sorted(pairs.items())
