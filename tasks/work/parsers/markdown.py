"""Markdown with formulas and HTML tables, as GLM-OCR and most vision-language models write it."""

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from models.notes import TABLE_MISSING
from models.reading import Block, BlockType
from tasks.work.parsers import latex
from tasks.work.parsers.flow import parse_html
from tasks.work.parsers.shapes import Parsed, Sent, parsed

# Of what Markdown knows, these lose or change print: a line of dashes under text makes no heading, an
# indented line is no code, [1]: is a source in a bibliography and [x](y) is what stands on the page.
_OFF = ("code", "lheading", "reference", "link", "image", "autolink")
_IMAGE = re.compile(r"!\[([^\]\n]*)\]\([^()\n]*\)")
# Rows of marks are ornaments, not eight lists within each other, which the parser would drop.
_ORNAMENT = re.compile(r"^[ \t]*(?:(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)|>[ \t]*){8,}", re.MULTILINE)
_MARK = re.compile(r"[-*+>.)]")
_NESTED = 60
_PROSE = re.compile(r"[A-Za-z]{3,}\s+[A-Za-z]{3,}")
_LONGEST = 4_000
"""Of a formula within text, in characters."""
_MARKS = (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$"))


def parse_markdown(answer: str, sent: Sent) -> Parsed:  # noqa: ARG001 (as every parser)
    """Blocks of a page of Markdown; lines stay lines. There are no boxes in it."""
    return parsed(*blocks_of(answer))


def parse_table(answer: str, sent: Sent) -> Parsed:
    """As Markdown, noted where there is no table in the answer to a question for one."""
    found = parse_markdown(answer, sent)
    has_table = any(block.type is BlockType.TABLE for block in found.blocks)
    return found if has_table else Parsed(found.text, found.blocks, (*found.notes, TABLE_MISSING))


def parse_formula(answer: str, sent: Sent) -> Parsed:
    """A formula with delimiters or without; several ones with delimiters, and words between them."""
    source = latex.bare(answer)
    if any(mark in source for mark in ("$$", "\\[", "\\(")):
        return parse_markdown(source, sent)
    return parsed([Block(BlockType.FORMULA, source)])


def blocks_of(markdown: str) -> tuple[list[Block], list[str]]:
    """Blocks and notes of Markdown."""
    plain = _ORNAMENT.sub(lambda found: _MARK.sub(r"\\\g<0>", found[0]), markdown)
    html = _renderer().render(latex.sections_as_headings(plain))
    blocks, notes = parse_html(html)
    return [made for block in blocks for made in _with_pictures(block)], notes


def _with_pictures(block: Block) -> list[Block]:
    """A paragraph that is but a Markdown image is a picture; its words are a description."""
    image = _IMAGE.fullmatch(block.text) if block.type is BlockType.PARAGRAPH else None
    if image is None:
        return [block]
    return [Block(BlockType.PICTURE, image[1], block.box)] if image[1].strip() else []


@cache
def _renderer() -> MarkdownIt:
    options = {"html": True, "breaks": True, "maxNesting": _NESTED}
    renderer = MarkdownIt("commonmark", options).enable("table").disable(list(_OFF))
    renderer.inline.ruler.before("escape", "formula", _inline_formula)
    renderer.block.ruler.before("fence", "formula", _block_formula, {"alt": ["paragraph", "blockquote"]})
    renderer.add_render_rule("formula", _render)
    # It puts its rules in order at first use, which two threads must not do at once.
    renderer.render("a")
    return renderer


def _render(_: Any, tokens: Sequence[Token], index: int, *__: Any) -> str:
    display = ' display="block"' if tokens[index].block else ""
    return f"<math{display}>{escape(tokens[index].content)}</math>"


def _inline_formula(state: StateInline, silent: bool) -> bool:
    """A formula between delimiters within a line of text."""
    for start, end in _MARKS:
        if not state.src.startswith(start, state.pos):
            continue
        begin = state.pos + len(start)
        close = state.src.find(end, begin, min(begin + _LONGEST, state.posMax))
        content = state.src[begin:close] if close >= 0 else ""
        if not content.strip() or (
            start == "$" and not is_formula(content, state.src[close + 1 : close + 2])
        ):
            continue
        if not silent:
            token = state.push("formula", "math", 0)
            token.content, token.block = content, start in {"$$", "\\["}
        state.pos = close + len(end)
        return True
    return False


def is_formula(content: str, after: str) -> bool:
    """Whether $…$ is one: $5 and $6 are prices, and so is the first of $5 for members.$^1$."""
    if after.isdigit() or "\n\n" in content:
        return False
    has_signs = "\\" in content or "^" in content
    return has_signs or (content == content.strip() and not _PROSE.search(content))


def _block_formula(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A formula on lines of its own, empty lines and all."""
    first = state.bMarks[start] + state.tShift[start]
    mark = next((marks for marks in _MARKS[:2] if state.src.startswith(marks[0], first)), None)
    if mark is None:
        return False
    for line in range(start, end):
        begin = first + 2 if line == start else state.bMarks[line]
        text = state.src[begin : state.eMarks[line]].rstrip()
        if not text.endswith(mark[1]):
            if mark[1] in text:
                return False
            continue
        if not silent:
            source = state.src[first + 2 : state.eMarks[line]].rstrip()[: -len(mark[1])]
            state.push("formula", "math", 0).content = source
            state.tokens[-1].block = True
            state.line = line + 1
        return True
    return False
