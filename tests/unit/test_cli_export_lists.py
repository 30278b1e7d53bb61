"""Lists and formulas in Markdown: numbers stay numbers, formulas stay formulas."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from cli.choices import Format
from cli.export import markdown
from cli.export.formats import RENDERERS
from cli.export.lists import Item, items_of
from models.geometry import Transform
from models.reading import BlockType
from tasks.work.parsers import Sent, parse
from tests.unit import shown
from tests.unit.shown import block

PLAIN = MarkdownIt("commonmark").enable("table")
SENT = Sent(1, 1, Transform.scale(1, 1))


def exported(*blocks: tuple[BlockType, str]) -> str:
    """The Markdown of a page, without title and mark of the page."""
    text = RENDERERS[Format.MD](shown.view(shown.page(1, "", *(block(kind, text) for kind, text in blocks))))
    return text.split("-->\n\n", 1)[1]


def numbers(markup: str) -> list[int]:
    """The numbers that a reader of the list sees."""
    seen = []
    for start, items in re.findall(r'<ol(?: start="(\d+)")?>(.*?)</ol>', markup, re.DOTALL):
        seen += range(int(start or 1), int(start or 1) + items.count("<li>"))
    return seen


def test_numbered_entries_keep_their_numbers() -> None:
    text = exported((BlockType.LIST, "1. pump\n2. valve\n3. hose"))
    assert text == "1. pump\n2. valve\n3. hose\n"


@pytest.mark.parametrize(
    "counted", [[1, 2, 3], [4, 5, 6], [0, 1], [1, 2, 4, 7], [3, 2, 1], [1, 1, 1], [1986], [9, 10, 11]]
)
def test_a_reader_sees_the_numbers_of_the_page_whatever_they_are(counted: list[int]) -> None:
    text = exported((BlockType.LIST, "\n".join(f"{number}. thing" for number in counted)))
    assert numbers(PLAIN.render(text)) == counted


def test_lists_that_are_one_on_the_page_go_on_counting_from_block_to_block() -> None:
    text = exported((BlockType.LIST, "1. a"), (BlockType.LIST, "2. b"), (BlockType.LIST, "7. c"))
    assert numbers(PLAIN.render(text)) == [1, 2, 7]
    assert text.startswith("1. a\n2. b\n")


def test_numbers_as_entries_are_entries_and_not_marks() -> None:
    assert exported((BlockType.LIST, "3.14\n2.71\n-5")) == "- 3.14\n- 2.71\n- -5\n"
    assert exported((BlockType.LIST, "• 12. March\n• 1. April")) == "- 12\\. March\n- 1\\. April\n"


def test_letters_and_numbers_in_brackets_stay_in_the_text() -> None:
    assert exported((BlockType.LIST, "a) one\nb) two\n(iv) three")) == "- a) one\n- b) two\n- (iv) three\n"


def test_a_line_without_a_mark_goes_on_with_the_entry_above() -> None:
    assert items_of("- one\nand more\n- two") == [Item("one\nand more"), Item("two")]
    assert exported((BlockType.LIST, "10. one\nand more")) == "10. one\n    and more\n"
    assert items_of("one\ntwo") == [Item("one"), Item("two")]


def test_nested_lists_stay_nested_under_bullets_and_under_numbers() -> None:
    markup = PLAIN.render(exported((BlockType.LIST, "1. a\n  - b\n    - c\n2. d\n  5. e")))
    assert re.sub(r"\s", "", markup) == (
        '<ol><li>a<ul><li>b<ul><li>c</li></ul></li></ul></li><li>d<!----><olstart="5"><li>e</li></ol></li></ol>'
    )


def test_marks_within_an_entry_are_no_list_of_their_own() -> None:
    markup = PLAIN.render(exported((BlockType.LIST, "1. - foo\n2. # bar\n3. 2. x")))
    assert re.findall(r"<li>(.*)</li>", markup) == ["- foo", "# bar", "2. x"]


def test_html_shows_the_marks_of_the_page_and_no_others() -> None:
    html = RENDERERS[Format.HTML](shown.view(shown.page(1, "", block(BlockType.LIST, "4. a\n  • b"))))
    assert '<ul><li>4. a</li><li style="margin-left: 1em">• b</li></ul>' in html
    assert "ul { list-style: none;" in html


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("where $x_1 + y^2$ holds", "where $x_1 + y^2$ holds"),
        (r"a *star* and $\frac{a}{b}$", r"a \*star\* and $\frac{a}{b}$"),
        ("$5 and $6", r"\$5 and \$6"),
        ("it costs $5", "it costs $5"),
        ("$5 where $x^2$ is", r"\$5 where $x^2$ is"),
        ("$a < b$", r"$a \lt b$"),
        ("$<script>$", r"$\lt script>$"),
        ("$a`b$ `c", r"\$a\`b\$ \`c"),
        ("1. of $n$", r"1\. of $n$"),
    ],
)
def test_formulas_stay_as_they_are_and_prices_are_none(text: str, escaped: str) -> None:
    assert markdown.escape(text) == escaped


def test_formulas_stay_formulas_in_headings_lists_and_cells() -> None:
    assert exported((BlockType.HEADING, r"On $\alpha_1$")) == "## On $\\alpha_1$\n"
    assert exported((BlockType.LIST, r"1. $x_i$")) == "1. $x_i$\n"
    cells = block(BlockType.TABLE, "x", rows=((r"$\left|x\right|$",),))
    assert r"| $\left\|x\right\|$ |" in RENDERERS[Format.MD](shown.view(shown.page(1, "", cells)))


def test_a_formula_by_itself_has_no_empty_line_and_no_tag() -> None:
    assert exported((BlockType.FORMULA, "a <b>\n\n= c")) == "$$\na \\lt b>\n= c\n$$\n"
    assert exported((BlockType.FORMULA, "Area $x$ and *$y$*")) == "Area $x$ and \\*$y$\\*\n"


LATEX = st.text(st.sampled_from(r"\abx_^{}+-=*[]<|# 12"), min_size=1, max_size=12).map(str.strip)
WORDS = st.text(st.sampled_from("ab*_[]<>`#$1. \n"), max_size=12)


@pytest.mark.slow
@settings(deadline=None)
@given(WORDS, LATEX.filter(lambda latex: latex and not latex.endswith("\\")), WORDS)
def test_whatever_stands_around_a_formula_markdown_gives_it_back(before: str, latex: str, after: str) -> None:
    formula = f"{latex} \\alpha"
    told = parse("markdown", markdown.escape(f"{before.replace('$', '')} ${formula}$ {after}"), SENT)
    assert re.sub(r"\s|\\lt|<", "", f"${formula}$") in re.sub(r"\s|\\lt|<", "", told.text)
