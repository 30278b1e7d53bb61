"""The words of HTML elements: one line of text a printed line, marks of lists, formulas, raised figures."""

import re
from dataclasses import dataclass, field
from typing import Any

from lxml import etree

from tasks.work.parsers import latex

BLOCKS = frozenset(
    {
        "address",
        "blockquote",
        "body",
        "caption",
        "center",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "html",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
    }
)
_SPACE = re.compile(r"[ \t\r\n\f]+")
_BULLET = re.compile(r"(?:[-*+•◦▪·–]|\(?\d{1,3}[.)]|\[[ xX]\])(?:\s|$)")
_CELLS = frozenset({"td", "th"})
_WRAPPED = {"sup": latex.superscript, "sub": latex.subscript, "math": latex.inline, "latex": latex.inline}


@dataclass(slots=True)
class Words:
    """Takes the start and end events of a tree and makes text of them; knows no recursion."""

    keeps_space: bool = False
    pieces: list[str] = field(default_factory=list)
    is_fresh: bool = True
    """Nothing stands on the line yet but, maybe, the mark of a list item."""
    pending: str = ""
    """The mark of a list item that has no text yet."""
    wrapped: list[tuple[str, int]] = field(default_factory=list)
    """Open sup, sub and math elements and where their text begins."""
    lists: list[int | None] = field(default_factory=list)
    """Next number of every open list; None for bullets."""

    def start(self, node: Any) -> None:
        """A tag and the text behind it."""
        tag = node.tag
        if tag == "br":
            self._break()
        elif tag in BLOCKS:
            self._start_block(node)
        elif tag in _WRAPPED:
            self.wrapped.append((tag, len(self.pieces)))
        elif tag == "input":
            self.text(_control(node))
        if tag != "img":
            self.text(node.text)

    def end(self, node: Any) -> None:
        """An end tag; the text behind it is the caller's to give."""
        if node.tag in BLOCKS:
            self._end_block(node.tag)
        elif self.wrapped and self.wrapped[-1][0] == node.tag:
            tag, begin = self.wrapped.pop()
            inner = "".join(self.pieces[begin:])
            self.pieces[begin:] = [_WRAPPED[tag](inner)] if inner.strip() else []

    def text(self, text: str | None) -> None:
        """Text between tags."""
        if not text:
            return
        if not self.keeps_space:
            text = _SPACE.sub(" ", text)
            is_apart = self.is_fresh or (bool(self.pieces) and self.pieces[-1].endswith(" "))
            text = text.lstrip(" ") if is_apart else text
        if not text:
            return
        if self.pending:
            self.pieces.append("" if _BULLET.match(text) else self.pending)
            self.pending = ""
        self.pieces.append(text)
        self.is_fresh = False

    def done(self) -> str:
        """All the text so far, and begin anew. Marks of lists in hand stay."""
        lines = "".join(self.pieces).split("\n")
        self.pieces, self.wrapped, self.is_fresh, self.pending = [], [], True, ""
        text = "\n".join(line.rstrip() for line in lines)
        return text.strip("\n") if self.keeps_space else latex.without_commands(text.strip())

    def _start_block(self, node: Any) -> None:
        if node.tag in _CELLS and not self.is_fresh:
            self.text(" ")
            return
        self._line()
        if node.tag in {"ul", "ol"}:
            self.lists.append(_first_number(node) if node.tag == "ol" else None)
        elif node.tag == "li":
            self.pending = self._mark()

    def _end_block(self, tag: str) -> None:
        if tag in {"ul", "ol"} and self.lists:
            self.lists.pop()
        if tag not in _CELLS:
            self._line()

    def _mark(self) -> str:
        indent = "  " * (len(self.lists) - 1)
        if not self.lists or self.lists[-1] is None:
            return f"{indent}- "
        number = self.lists[-1]
        self.lists[-1] = number + 1
        return f"{indent}{number}. "

    def _line(self) -> None:
        """A new line, unless one has just begun."""
        if not self.is_fresh:
            self._break()

    def _break(self) -> None:
        self.pieces.append("\n")
        self.is_fresh = not self.keeps_space


def text_of(element: Any, *, keeps_space: bool = False) -> str:
    """The words of an element and all in it, without its tail; descriptions of pictures are left out."""
    words = Words(keeps_space)
    for event, node in etree.iterwalk(element, events=("start", "end")):
        if event == "start":
            words.start(node)
            continue
        words.end(node)
        if node is not element:
            words.text(node.tail)
    return words.done()


def pictures_in(element: Any) -> list[str]:
    """Descriptions of the pictures in an element."""
    told = (_SPACE.sub(" ", image.get("alt") or "").strip() for image in element.iter("img"))
    return [text for text in told if text]


def _control(node: Any) -> str:
    """A form's control as it looks on paper."""
    kind = (node.get("type") or "").lower()
    is_set = node.get("checked") is not None
    if kind == "checkbox":
        return "[x] " if is_set else "[ ] "
    if kind == "radio":
        return "(x) " if is_set else "( ) "
    return node.get("value") or ""


def _first_number(node: Any) -> int:
    start = node.get("start") or "1"
    return int(start) if start.isdecimal() and len(start) < 7 else 1
