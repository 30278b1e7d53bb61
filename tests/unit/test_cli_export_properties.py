"""Whatever a page says, a reader of the export sees it, and nothing else."""

import html
import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from cli.choices import Format
from cli.export import markdown
from cli.export.formats import RENDERERS
from cli.output import to_json
from models.reading import BlockType
from models.text import clean
from tests.unit import shown

pytestmark = pytest.mark.slow

# Text as readings hold it, made of what Markdown and HTML take for more than it is.
TEXT = st.text(
    st.one_of(st.sampled_from("#*_`~<>&[]()|\\!-+=.:1\n\t aé硬"), st.characters()), max_size=60
).map(clean)
CELLS = st.lists(st.lists(TEXT, min_size=1, max_size=4), min_size=1, max_size=4)
PLAIN = MarkdownIt("commonmark").enable("table")


class Visible(HTMLParser):
    """The text between tags."""

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def visible(source: str) -> Visible:
    reader = Visible()
    reader.feed(source)
    reader.close()
    return reader


def squeezed(text: str) -> str:
    return "".join(text.split())


@given(TEXT.filter(lambda text: text.count("$") < 2))
def test_markdown_shows_every_character_of_a_text_as_it_is(text: str) -> None:
    page = visible(PLAIN.render(markdown.escape(text)))
    assert squeezed("".join(page.text)) == squeezed(text)
    assert set(page.tags) <= {"p", "br"}


@given(CELLS)
def test_markdown_tables_keep_their_rows_and_columns(rows: list[list[str]]) -> None:
    block = shown.block(BlockType.TABLE, "x", rows=tuple(map(tuple, rows)))
    text = RENDERERS[Format.MD](shown.view(shown.page(1, "", block)))
    page = visible(PLAIN.render(text))
    assert page.tags.count("tr") == len(rows)
    assert page.tags.count("th") == max(map(len, rows))
    assert "script" not in page.tags


@given(TEXT, st.sampled_from(list(BlockType)))
def test_html_shows_every_text_and_makes_no_tag_of_it(text: str, kind: BlockType) -> None:
    export = RENDERERS[Format.HTML](shown.view(shown.page(1, "", shown.block(kind, text))))
    plain = RENDERERS[Format.HTML](shown.view(shown.page(1, "", shown.block(kind, "x"))))
    assert squeezed(text) in squeezed("".join(visible(export).text))
    if kind is not BlockType.LIST:
        assert visible(export).tags == visible(plain).tags


@given(TEXT)
def test_titles_cannot_leave_their_tag(title: str) -> None:
    export = RENDERERS[Format.HTML](shown.view(shown.page(1), title=f"x{title}</title><script>"))
    assert "script" not in visible(export).tags
    assert html.escape("</title><script>") in export


@given(st.lists(TEXT, min_size=1, max_size=5))
def test_text_has_as_many_parts_as_pages_whatever_they_say(texts: list[str]) -> None:
    export = RENDERERS[Format.TXT](
        shown.view(*(shown.page(n, text) for n, text in enumerate(texts, start=1)))
    )
    parts = export.split("\f")
    assert len(parts) == len(texts)
    assert [part.rstrip("\n") for part in parts] == [text.rstrip("\n") for text in texts]


@given(st.lists(TEXT, min_size=1, max_size=5))
def test_markdown_marks_each_page_once_and_in_order(texts: list[str]) -> None:
    export = RENDERERS[Format.MD](shown.view(*(shown.page(n, text) for n, text in enumerate(texts, start=1))))
    numbers = re.findall(r"^<!-- page (\d+) -->$", export, re.MULTILINE)
    assert numbers == [str(number) for number in range(1, len(texts) + 1)]


@given(TEXT)
def test_json_gives_every_text_back(text: str) -> None:
    export = RENDERERS[Format.JSON](shown.view(shown.page(1, text)))
    assert json.loads(export)["pages"][0]["text"] == text


@given(st.binary(max_size=30))
def test_json_gives_every_file_name_back(name: bytes) -> None:
    decoded = name.decode("utf-8", "surrogateescape")
    text = to_json([decoded])
    assert json.loads(text.encode()) == [decoded]
