"""Export: every page in its place in every format, nothing in a text becomes markup."""

import json
import re
from html.parser import HTMLParser

import pytest

from cli.choices import Format
from cli.export import markdown
from cli.export.formats import RENDERERS
from cli.views import without_margins
from models.reading import BlockType
from tests.unit import shown
from tests.unit.shown import block


class Tags(HTMLParser):
    """Tags and texts in order; fails on a tag that is closed out of turn."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(html: str) -> Tags:
    tags = Tags()
    tags.feed(html)
    tags.close()
    assert tags.open == []
    return tags


def rendered(kind: Format, *pages: object, **facts: object) -> str:
    return RENDERERS[kind](shown.view(*pages, **facts))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", list(Format))
def test_headers_and_footers_are_there_unless_they_are_left_out(kind: Format) -> None:
    said = ("Invoice 4711", "Two pumps.", "Page 1 of 2")
    types = (BlockType.HEADER, BlockType.PARAGRAPH, BlockType.FOOTER)
    page = shown.page(1, "\n\n".join(said), *map(block, types, said))
    view = shown.view(page, shown.page(2, "Plain"))
    assert all(line in RENDERERS[kind](view) for line in said)
    bare = RENDERERS[kind](without_margins(view))
    assert [line in bare for line in (*said, "Plain")] == [False, True, False, True]


@pytest.mark.parametrize("kind", list(Format))
def test_a_bad_page_keeps_its_place_with_number_and_reason(kind: Format) -> None:
    text = rendered(kind, shown.page(1, "first"), shown.bad_page(2), shown.page(3, "third"))
    assert text.index("first") < text.index("It took too long.") < text.index("third")
    assert "render-timeout" in text
    if kind is not Format.JSON:
        assert "Page 2 could not be read" in text


@pytest.mark.parametrize("kind", [Format.MD, Format.HTML, Format.TXT])
def test_a_blank_and_an_unread_page_say_so(kind: Format) -> None:
    text = rendered(kind, shown.blank_page(1), shown.unread_page(2))
    assert "Page 1 is blank." in text
    assert "Page 2 has not been read yet." in text


@pytest.mark.parametrize("kind", [Format.MD, Format.HTML, Format.TXT])
def test_a_refused_document_gives_its_reason(kind: Format) -> None:
    text = rendered(kind, code="needs-password", message="It needs a password.")
    assert "needs-password" in text
    assert "It needs a password." in text


def test_markdown_marks_pages_and_keeps_headings_lists_and_tables() -> None:
    blocks = (
        block(BlockType.HEADING, "Trim  tabs", level=1),
        block(BlockType.LIST, "• first\n2. second"),
        block(BlockType.TABLE, "a\tb|c\n1", rows=(("a", "b|c"), ("1",))),
        block(BlockType.CODE, "x = *y"),
    )
    assert rendered(Format.MD, shown.page(4, "", *blocks), title="Manual") == (
        "# Manual\n\n<!-- page 4 -->\n\n## Trim tabs\n\n- first\n<!-- -->\n2. second\n\n"
        "| a | b\\|c |\n| --- | --- |\n| 1 |  |\n\n```\nx = *y\n```\n"
    )


def test_a_page_without_blocks_is_exported_with_its_text() -> None:
    assert "only text" in rendered(Format.MD, shown.page(1, "only text"))
    assert "<p>only text</p>" in rendered(Format.HTML, shown.page(1, "only text"))


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("# no heading", r"\# no heading"),
        ("a *star* and `tick`", r"a \*star\* and \`tick\`"),
        ("<script>", r"\<script>"),
        ("1. no list", r"1\. no list"),
        ("- no list", r"\- no list"),
        ("> no quote", r"\> no quote"),
        ("[no](link)", r"[no\](link)"),
        ("[1] is [2]", "[1] is [2]"),
        ("[x] done", r"\[x] done"),
        ("[no]: definition", r"[no\]: definition"),
        ("snake_case stays", "snake_case stays"),
        ("_no emphasis_", r"\_no emphasis\_"),
        ("&amp; is five characters", r"\&amp; is five characters"),
        ("R&D and 3.14 - 2 > 1", "R&D and 3.14 - 2 > 1"),
        ("title\n=====", "title\n\\====="),
        (r"C:\new", r"C:\\new"),
    ],
)
def test_markdown_shows_texts_as_they_are(text: str, escaped: str) -> None:
    assert markdown.escape(text) == escaped


def test_a_code_block_that_holds_a_fence_gets_a_longer_one() -> None:
    text = rendered(Format.MD, shown.page(1, "", block(BlockType.CODE, "```\ninner\n```")))
    assert "````\n```\ninner\n```\n````" in text


def test_pictures_are_marked_as_descriptions() -> None:
    text = rendered(Format.MD, shown.page(1, "", block(BlockType.PICTURE, "a pump")))
    assert "*[Picture: a pump]*" in text


def test_html_is_whole_and_escapes_everything() -> None:
    attack = "<script>alert('x')</script> & \"quotes\""
    blocks = [block(kind, attack, rows=((attack,),) if kind is BlockType.TABLE else ()) for kind in BlockType]
    html = rendered(Format.HTML, shown.page(1, "", *blocks), title=attack)
    tags = parsed(html)
    assert "script" not in tags.seen
    assert tags.text.count(attack) == len(BlockType) + 2
    assert html.startswith("<!DOCTYPE html>")


def test_html_loads_nothing_from_elsewhere() -> None:
    html = rendered(Format.HTML, shown.page(1, "x"))
    assert not re.search(r"(src|href)=|@import|url\(", html)


def test_an_engines_own_html_is_not_trusted() -> None:
    table = block(BlockType.TABLE, "a", rows=(("a",),), html="<table><img src=x onerror=alert(1)></table>")
    assert "onerror" not in rendered(Format.HTML, shown.page(1, "", table))


def test_html_sections_can_be_linked_by_page() -> None:
    html = rendered(Format.HTML, shown.page(1), shown.bad_page(2))
    assert re.findall(r'<section id="(page-\d+)">', html) == ["page-1", "page-2"]


def test_text_has_a_form_feed_between_pages() -> None:
    text = rendered(Format.TXT, shown.page(1, "one"), shown.bad_page(2), shown.page(3, "three"))
    parts = text.split("\f")
    assert parts[0] == "one\n"
    assert parts[1].startswith("[Page 2 could not be read (render-timeout)")
    assert parts[2] == "three\n"


def test_json_has_every_block_with_its_box() -> None:
    page = shown.page(1, "Hi", block(BlockType.HEADING, "Hi", level=2))
    exported = json.loads(rendered(Format.JSON, page, shown.bad_page(2)))
    assert exported["document"]["sha256"] == shown.SHA
    assert exported["profile"] == "ppocr"
    first, second = exported["pages"]
    assert first["blocks"][0]["box"] == [72, 96, 200, 110]
    assert first["blocks"][0] | {"type": "heading", "level": 2} == first["blocks"][0]
    assert (second["page_no"], second["verdict"], second["code"]) == (2, "bad", "render-timeout")


def test_a_bad_pages_text_is_not_passed_off_as_read() -> None:
    page = shown.bad_page(1, "loop", "The text repeats itself.")
    looping = shown.page(1, "la la la", verdict=page.verdict, code=page.code, message=page.message)
    for kind in (Format.MD, Format.HTML, Format.TXT):
        assert "la la la" not in rendered(kind, looping)
