"""One standalone HTML file: everything escaped, no script, nothing loaded from elsewhere."""

from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path

from cli.report.thumbnails import data_url
from cli.views import DocumentView, excuse, is_missing
from models.reading import Block, BlockType
from models.report import PageReport

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50em; margin: 2em auto; padding: 0 1em; }
section { border-top: 1px solid #bbb; margin-top: 2em; padding-top: 0.5em; }
.number { color: #666; font-size: 0.8em; }
.excuse { color: #900; font-style: italic; }
.blank { color: #666; font-style: italic; }
.small { color: #666; font-size: 0.85em; }
p, li, td, th { white-space: pre-line; }
ul { list-style: none; padding-left: 1em; }
table { border-collapse: collapse; }
td, th { border: 1px solid #bbb; padding: 0.2em 0.5em; text-align: left; vertical-align: top; }
pre { background: #f4f4f4; padding: 0.5em; overflow-x: auto; }
"""


def render(view: DocumentView) -> str:
    """The whole document; every page is a section `page-N`, pages without text give their reason."""
    title = escape(view.name)
    head = f'<meta charset="utf-8">\n<title>{title}</title>\n<style>{_STYLE}</style>'
    body = "\n".join([f"<h1>{title}</h1>", *_body(view)])
    return f"<!DOCTYPE html>\n<html>\n<head>\n{head}\n</head>\n<body>\n{body}\n</body>\n</html>\n"


def _body(view: DocumentView) -> list[str]:
    if not view.pages:
        return [f'<p class="excuse">{escape(view.excuse)}</p>']
    return [_page(view, page) for page in view.pages]


def _page(view: DocumentView, page: PageReport) -> str:
    if excuse(page):
        kind = "excuse" if is_missing(page) else "blank"
        content = [f'<p class="{kind}">{escape(excuse(page))}</p>', *_thumbnail(view, page)]
    else:
        content = [_block(block) for block in page.blocks] or [f"<p>{escape(page.text)}</p>"]
    number = f'<p class="number">Page {page.page_no}</p>'
    return "\n".join([f'<section id="page-{page.page_no}">', number, *content, "</section>"])


def _thumbnail(view: DocumentView, page: PageReport) -> Iterator[str]:
    """The page's picture, small and in the file itself."""
    url = data_url(Path(view.pictures[page.page_no])) if page.page_no in view.pictures else ""
    if url:
        yield f'<img src="{url}" alt="Page {page.page_no}">'


def _block(block: Block) -> str:
    return _RENDERERS.get(block.type, _paragraph)(block)


def _paragraph(block: Block) -> str:
    return f"<p>{escape(block.text)}</p>"


def _heading(block: Block) -> str:
    level = min(max(block.level, 1) + 1, 6)
    return f"<h{level}>{escape(block.text)}</h{level}>"


def _list(block: Block) -> str:
    """Lines with the bullets and numbers that stand on the page, set in as far as there."""
    items = (_entry(line) for line in block.text.splitlines() if line.strip())
    return f"<ul>{''.join(items)}</ul>"


def _entry(line: str) -> str:
    text = line.strip()
    depth = (len(line) - len(line.lstrip())) // 2
    return f'<li style="margin-left: {depth}em">{escape(text)}</li>' if depth else f"<li>{escape(text)}</li>"


def _table(block: Block) -> str:
    if not block.rows:
        return _paragraph(block)
    rows = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in block.rows)
    return "<table>\n" + "\n".join(f"<tr>{row}</tr>" for row in rows) + "\n</table>"


def _code(block: Block) -> str:
    return f"<pre>{escape(block.text)}</pre>"


def _small(block: Block) -> str:
    return f'<p class="small">{escape(block.text)}</p>'


def _picture(block: Block) -> str:
    return f'<p class="small">[Picture{": " + escape(block.text) if block.text else ""}]</p>'


_RENDERERS: dict[BlockType, Callable[[Block], str]] = {
    BlockType.HEADING: _heading,
    BlockType.LIST: _list,
    BlockType.TABLE: _table,
    BlockType.CODE: _code,
    BlockType.FORMULA: _code,
    BlockType.CAPTION: _small,
    BlockType.FOOTNOTE: _small,
    BlockType.HEADER: _small,
    BlockType.FOOTER: _small,
    BlockType.PICTURE: _picture,
}
