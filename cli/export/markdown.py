"""Markdown: a comment before every page, headings, lists and tables as such, formulas between dollar signs.

Formulas are for readers that know them (GitHub, pandoc, Obsidian); others show their LaTeX.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from urllib.parse import quote

from cli.export.lists import items_of, siblings
from cli.views import DocumentView, excuse
from models.reading import Block, BlockType
from models.report import PageReport
from tasks.work.parsers.markdown import is_formula

# Not every bracket: \[ begins a formula to some readers.
_INLINE = re.compile(r"([\\`*<])|\](?=[(\[:])|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
_INDENT = re.compile(r"^[^\S\n]+", re.MULTILINE)
_AT_START = re.compile(r"^(#{1,6}(?=\s|$)|[-+](?=\s|$)|>|[-=]+\s*$|~{3,}|\[(?=[ xX]\]\s))", re.MULTILINE)
_NUMBERED = re.compile(r"^(\d{1,9})([.)])(?=\s|$)", re.MULTILINE)
_FORMULA = re.compile(r"\$([^$\n`]*[^$\n`\\])\$")
_LESS = re.compile(r"<\s*")
_FENCE = re.compile("`{3,}")
_BLANK_LINES = re.compile(r"\n\s*\n")
_DEEPEST_HEADING = 6
# Ends a list, so that the next one counts for itself; nothing of it is seen.
_APART = "<!-- -->"


def render(view: DocumentView) -> str:
    """The whole document; pages without text keep their place with their reason."""
    pages = [_page(view, page) for page in view.pages] or [f"*{escape(view.excuse)}*"]
    parts = [f"# {escape(view.name)}", *pages]
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    """`text` so that Markdown shows it as it is, lines without their indentation, which would mean code.

    Formulas between dollar signs stay formulas; where other dollar signs could be taken for theirs, they are
    escaped.
    """
    has_pair = text.count("$") > 1
    parts = (part if is_math else _escape(part, has_pair) for part, is_math in _split(_INDENT.sub("", text)))
    return _AT_START.sub(r"\\\1", _NUMBERED.sub(r"\1\\\2", "".join(parts)))


def _escape(text: str, has_pair: bool) -> str:
    escaped = _INLINE.sub(lambda match: "\\" + match.group(), text)
    return escaped.replace("$", "\\$") if has_pair else escaped


def _split(text: str) -> Iterator[tuple[str, bool]]:
    """Words and formulas as they come; formulas are ready to be written."""
    done = start = 0
    while found := _FORMULA.search(text, start):
        if not is_formula(found[1], text[found.end() : found.end() + 1]):
            start = found.start() + 1
            continue
        yield text[done : found.start()], False
        yield f"${_math(found[1].strip())}$", True
        done = start = found.end()
    yield text[done:], False


def _math(latex: str) -> str:
    """LaTeX that no reader takes for a tag."""
    return _LESS.sub(r"\\lt ", latex)


def _page(view: DocumentView, page: PageReport) -> str:
    parts = [f"<!-- page {page.page_no} -->"]
    if excuse(page):
        parts.append(f"*{escape(excuse(page))}*")
        if page.page_no in view.pictures:
            parts.append(f"![Page {page.page_no}]({quote(view.pictures[page.page_no])})")
    else:
        parts += list(_blocks(page.blocks)) or [escape(page.text)]
    return "\n\n".join(part for part in parts if part)


def _blocks(blocks: Sequence[Block]) -> Iterator[str]:
    """Lists that follow each other are one to a reader of Markdown: they are written as one."""
    for is_list, group in groupby(blocks, lambda block: block.type is BlockType.LIST):
        if is_list:
            yield _list([block.text for block in group])
        else:
            yield from (_RENDERERS.get(block.type, _paragraph)(block) for block in group)


def _paragraph(block: Block) -> str:
    return escape(block.text)


def _heading(block: Block) -> str:
    level = min(max(block.level, 1) + 1, _DEEPEST_HEADING)
    return f"{'#' * level} {escape(' '.join(block.text.split()))}"


def _list(texts: Sequence[str]) -> str:
    lines: list[str] = []
    columns = [0]
    for item, before in siblings([item for text in texts for item in items_of(text)]):
        level = min(item.level, len(columns) - 1)
        mark = "- " if item.number is None else f"{item.number}{item.sign} "
        inner = columns[level] + len(mark)
        if not item.follows(before) and lines:
            lines.append(" " * columns[level] + _APART)
        first, *more = escape(item.text).splitlines() or [""]
        lines += [" " * columns[level] + mark + first, *(" " * inner + line for line in more)]
        columns = [*columns[: level + 1], inner]
    return "\n".join(lines)


def _table(block: Block) -> str:
    if not block.rows:
        return escape(block.text)
    width = max(len(row) for row in block.rows)
    head, *body = [_row(row, width) for row in block.rows]
    return "\n".join([head, "|" + " --- |" * width, *body])


def _row(cells: Sequence[str], width: int) -> str:
    padded = [*cells, *[""] * (width - len(cells))]
    return "| " + " | ".join(escape(" ".join(cell.split())).replace("|", "\\|") for cell in padded) + " |"


def _code(block: Block) -> str:
    ticks = max((len(run) for run in _FENCE.findall(block.text)), default=2) + 1
    return f"{'`' * ticks}\n{block.text}\n{'`' * ticks}"


def _formula(block: Block) -> str:
    """A formula by itself; one with words or other formulas around it is a paragraph."""
    if "$" in block.text:
        return escape(block.text)
    return f"$$\n{_BLANK_LINES.sub(chr(10), _math(block.text.strip()))}\n$$"


def _picture(block: Block) -> str:
    return f"*[Picture: {escape(' '.join(block.text.split()))}]*" if block.text else "*[Picture]*"


_RENDERERS: dict[BlockType, Callable[[Block], str]] = {
    BlockType.HEADING: _heading,
    BlockType.TABLE: _table,
    BlockType.CODE: _code,
    BlockType.FORMULA: _formula,
    BlockType.PICTURE: _picture,
}
