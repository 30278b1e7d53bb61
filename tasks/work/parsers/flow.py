"""HTML as models write it becomes blocks: headings, paragraphs, lists, tables, formulas, code, pictures."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lxml import etree, html

from models.geometry import Box
from models.notes import HTML_REPAIRED, UNPARSABLE
from models.reading import Block, BlockType
from tasks.work.parsers import latex
from tasks.work.parsers.grid import table_block
from tasks.work.parsers.inline import BLOCKS, Words, pictures_in, text_of
from tasks.work.parsers.tags import tidied

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_NUMBER = re.compile(r"\(?\s*((?:[A-Za-z]\.?)?\d[\w.]{0,8})\s*\)?")


@dataclass(frozen=True, slots=True)
class Place:
    """What a part of a page is said to be. `is_whole`: all of it is one block of that type."""

    type: BlockType = BlockType.PARAGRAPH
    box: Box | None = None
    level: int = 0
    is_whole: bool = False


PlaceOf = Callable[[Any], Place | None]
"""What an element says of its place on the page; None: nothing."""


def parse_html(markup: str, place_of: PlaceOf = lambda _: None) -> tuple[list[Block], list[str]]:
    """Blocks and notes of an HTML fragment. Never raises; text that cannot be parsed is one paragraph."""
    tidy = tidied(markup)
    notes = [HTML_REPAIRED] if tidy.is_repaired else []
    try:
        root = html.document_fromstring(f"<html><body>{tidy.html}</body></html>", parser=_parser())
    except (etree.LxmlError, ValueError):
        return [Block(BlockType.PARAGRAPH, markup.strip())], [*notes, UNPARSABLE]
    flow = _Flow(place_of)
    flow.run(root)
    return flow.blocks, [*notes, *flow.notes]


def _parser() -> Any:
    """A parser that fetches nothing and knows no entity but HTML's own."""
    return html.HTMLParser(huge_tree=True, no_network=True, remove_comments=True, remove_pis=True)


@dataclass(slots=True)
class _Flow:
    place_of: PlaceOf
    blocks: list[Block] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    words: Words = field(default_factory=Words)
    places: list[tuple[Any, Place]] = field(default_factory=list)
    """Open elements that said what they are, innermost last."""

    @property
    def place(self) -> Place:
        return self.places[-1][1] if self.places else Place()

    def run(self, root: Any) -> None:
        walk = etree.iterwalk(root, events=("start", "end"))
        for event, node in walk:
            if event == "end":
                self._end(node)
            elif self._take(node):
                walk.skip_subtree()
            else:
                self._start(node)
        self._flush()

    def _take(self, node: Any) -> bool:
        """Whether an element became blocks as a whole."""
        place = self.place_of(node)
        if place is not None:
            self._flush()
            self.places.append((node, place))
            if place.is_whole and not any(map(self.place_of, node.iterdescendants())):
                self._whole(node, place)
                return True
        taker = _TAKERS.get(node.tag)
        if taker is None or (node.tag == "math" and not _is_display(node)):
            return False
        self._flush()
        taker(self, node)
        return True

    def _start(self, node: Any) -> None:
        if node.tag in BLOCKS:
            self._flush()
            self.words.text(node.text)
        else:
            self.words.start(node)

    def _end(self, node: Any) -> None:
        if node.tag in BLOCKS:
            self._flush()
        elif node.tag not in _TAKERS or node.tag == "math":
            self.words.end(node)
        if self.places and self.places[-1][0] is node:
            self._flush()
            self.places.pop()
        self.words.text(node.tail)

    def _flush(self) -> None:
        """What stands between blocks is a passage of its own."""
        text = self.words.done()
        if text:
            place = self.place
            self.blocks.append(Block(place.type, text, place.box, level=place.level))

    def _add(self, type_: BlockType, text: str, node: Any, level: int = 0) -> None:
        self.blocks.append(Block(type_, text, self.place.box, level=level))
        self._pictures(node)

    def _pictures(self, node: Any) -> None:
        for told in pictures_in(node):
            self.blocks.append(Block(BlockType.PICTURE, told, self.place.box))

    def _whole(self, node: Any, place: Place) -> None:
        if place.type is BlockType.FORMULA:
            self._add(place.type, formula_of(node), node)
        elif place.type is BlockType.PICTURE:
            parts = dict.fromkeys([*pictures_in(node), text_of(node)])
            self.blocks.append(Block(place.type, "\n".join(part for part in parts if part), place.box))
        else:
            keeps_space = place.type is BlockType.CODE
            self._add(place.type, text_of(node, keeps_space=keeps_space), node, place.level)

    def take_heading(self, node: Any) -> None:
        """h1 to h6."""
        text = " ".join(text_of(node).split())
        self._add(BlockType.HEADING, text, node, _HEADINGS[node.tag])

    def take_list(self, node: Any) -> None:
        """A list with all that is nested in it."""
        self._add(BlockType.LIST, text_of(node), node)

    def take_table(self, node: Any) -> None:
        """A table; its caption stands before it."""
        for caption in node.iterchildren("caption"):
            self._add(BlockType.CAPTION, text_of(caption), caption)
        block, notes = table_block(node, self.place.box)
        self.blocks.append(block)
        self.notes += notes
        self._pictures(node)

    def take_code(self, node: Any) -> None:
        """pre: spaces and lines as they are."""
        self._add(BlockType.CODE, text_of(node, keeps_space=True), node)

    def take_formula(self, node: Any) -> None:
        """A formula on lines of its own, without delimiters."""
        self._add(BlockType.FORMULA, latex.bare(raw_text(node)), node)

    def take_picture(self, node: Any) -> None:
        """img: what the model says it shows."""
        self._pictures(node)


def formula_of(node: Any) -> str:
    """LaTeX of an element with one formula and, maybe, its number; else text and formulas as they come."""
    formulas = list(node.iter("math"))
    if not formulas:
        return latex.bare(text_of(node))
    if len(formulas) > 1:
        return text_of(node)
    source = latex.bare(raw_text(formulas[0]))
    shown = latex.inline(raw_text(formulas[0]))
    rest = text_of(node).replace(shown, "", 1).strip() if shown else text_of(node)
    number = _NUMBER.fullmatch(rest)
    if number:
        return f"{source} \\tag{{{number[1]}}}"
    return text_of(node) if rest else source


def raw_text(node: Any) -> str:
    """The text in an element as it is written."""
    return "".join(node.itertext()).strip()


def _is_display(node: Any) -> bool:
    return (node.get("display") or "").lower() in {"block", "true", "display", "1"}


_TAKERS: dict[str, Callable[[_Flow, Any], None]] = {
    **dict.fromkeys(_HEADINGS, _Flow.take_heading),
    "ul": _Flow.take_list,
    "ol": _Flow.take_list,
    "table": _Flow.take_table,
    "pre": _Flow.take_code,
    "math": _Flow.take_formula,
    "img": _Flow.take_picture,
}
