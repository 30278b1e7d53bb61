"""Markdown: a comment before every page, headings, lists and tables as such."""

import re
from collections.abc import Callable, Sequence
from urllib.parse import quote

from cli.views import DocumentView, excuse
from models.reading import Block, BlockType
from models.report import PageReport

_INLINE = re.compile(r"([\\`*<\[\]])|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
_INDENT = re.compile(r"^[^\S\n]+", re.MULTILINE)
_AT_START = re.compile(r"^(#{1,6}(?=\s|$)|[-+](?=\s|$)|>|[-=]+\s*$|~{3,})", re.MULTILINE)
_NUMBERED = re.compile(r"^(\d{1,9})([.)])(?=\s|$)", re.MULTILINE)
_BULLET = re.compile(r"^\s*(?:[-*+•◦▪·–]|\(?\d{1,3}[.)])\s+")
_FENCE = re.compile("`{3,}")
_DEEPEST_HEADING = 6


def render(view: DocumentView) -> str:
    """The whole document; pages without text keep their place with their reason."""
    pages = [_page(view, page) for page in view.pages] or [f"*{escape(view.excuse)}*"]
    parts = [f"# {escape(view.name)}", *pages]
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    """`text` so that Markdown shows it as it is, lines without their indentation, which would mean code."""
    text = _INDENT.sub("", text)
    text = _INLINE.sub(lambda match: "\\" + match.group(), text)
    text = _NUMBERED.sub(r"\1\\\2", text)
    return _AT_START.sub(r"\\\1", text)


def _page(view: DocumentView, page: PageReport) -> str:
    parts = [f"<!-- page {page.page_no} -->"]
    if excuse(page):
        parts.append(f"*{escape(excuse(page))}*")
        if page.page_no in view.pictures:
            parts.append(f"![Page {page.page_no}]({quote(view.pictures[page.page_no])})")
    else:
        parts += [_block(block) for block in page.blocks] or [escape(page.text)]
    return "\n\n".join(part for part in parts if part)


def _block(block: Block) -> str:
    return _RENDERERS.get(block.type, _paragraph)(block)


def _paragraph(block: Block) -> str:
    return escape(block.text)


def _heading(block: Block) -> str:
    level = min(max(block.level, 1) + 1, _DEEPEST_HEADING)
    return f"{'#' * level} {escape(' '.join(block.text.split()))}"


def _list(block: Block) -> str:
    lines = [line for line in block.text.splitlines() if line.strip()]
    return "\n".join(f"- {escape(_BULLET.sub('', line, count=1))}" for line in lines)


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
    return f"$$\n{block.text}\n$$"


def _picture(block: Block) -> str:
    return f"*[Picture: {escape(' '.join(block.text.split()))}]*" if block.text else "*[Picture]*"


_RENDERERS: dict[BlockType, Callable[[Block], str]] = {
    BlockType.HEADING: _heading,
    BlockType.LIST: _list,
    BlockType.TABLE: _table,
    BlockType.CODE: _code,
    BlockType.FORMULA: _formula,
    BlockType.PICTURE: _picture,
}
