"""The parts of parsers by themselves: boxes, running words, formulas with numbers, blocks of HTML."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from models.geometry import Box, Transform
from models.reading import Block, BlockType
from tasks.work.parsers.boxes import box_of
from tasks.work.parsers.flow import Place, formula_of, parse_html, raw_text
from tasks.work.parsers.inline import pictures_in, text_of
from tasks.work.parsers.plain import parse_text
from tasks.work.parsers.shapes import Sent, parsed

SENT = Sent(2000, 1000, Transform.scale(0.5, 0.5), 1000)
_SIDE = st.integers(-2_000, 2_000)


def element(markup: str) -> object:
    return html.fragment_fromstring(markup, create_parent="div")


@pytest.mark.parametrize(
    ("written", "box"),
    [
        ("[0, 0, 500, 500]", Box(0, 0, 500, 250)),
        ("0 0 500 500", Box(0, 0, 500, 250)),
        ("<loc>500,500,0,0</loc>", Box(0, 0, 500, 250)),
        ("(0.0, 0.5, 500.0, 500.5)", Box(0, 0.25, 500, 250.25)),
        ("-20 -20 1200 1200", Box(0, 0, 1000, 500)),
        ("1 2 3", None),
        ("1 2 3 4 5", None),
        ("10 10 10 20", None),
        ("10 20 30 20", None),
        ("1100 0 1200 10", None),
        ("none", None),
        ("", None),
    ],
)
def test_four_numbers_in_any_notation_are_a_box(written: str, box: Box | None) -> None:
    assert box_of(written, SENT) == box


def test_a_model_without_a_scale_has_no_boxes() -> None:
    assert box_of("0 0 5 5", Sent(10, 10, Transform.scale(1, 1), 0)) is None


@given(_SIDE, _SIDE, _SIDE, _SIDE)
def test_any_box_lies_on_the_picture_and_holds_something(x0: int, y0: int, x1: int, y1: int) -> None:
    box = box_of(f"[{x0}, {y0}, {x1}, {y1}]", SENT)
    if box is not None:
        assert 0 <= box.x0 < box.x1 <= 1000
        assert 0 <= box.y0 < box.y1 <= 500
        assert box == box_of(f"{x1} {y1} {x0} {y0}", SENT)


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("a<b>b</b>c", "abc"),
        ("a <b> b </b> c", "a b c"),
        ("a<br>b", "a\nb"),
        ("  a\n\t b  ", "a b"),
        ("<p>a</p><p>b</p>", "a\nb"),
        ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
        ("<ol start='3'><li>a</li><li>b</li></ol>", "3. a\n4. b"),
        ("<ol start='x'><li>a</li></ol>", "1. a"),
        ("<ol start='9999999'><li>a</li></ol>", "1. a"),
        ("<ul><li>a<ol><li>b</li></ol></li></ul>", "- a\n  1. b"),
        ("<ul><li>1) a</li><li>• b</li></ul>", "1) a\n• b"),
        ("x<sup>2</sup>", "x²"),
        ("x<sup></sup>y", "xy"),
        ("H<sub>2</sub>O", "H₂O"),
        ("<math>x^2</math>", "$x^2$"),
        ("<input type='checkbox' checked> yes", "[x] yes"),
        ("<input type='checkbox'> no", "[ ] no"),
        ("<input type='radio' checked> one", "(x) one"),
        ("<input type='text' value='Ada'>", "Ada"),
        ("a<img alt='a cat'>b", "ab"),
    ],
)
def test_words_of_an_element_look_as_on_paper(markup: str, text: str) -> None:
    assert text_of(element(markup)) == text


def test_descriptions_of_pictures_are_told_in_order_and_on_one_line() -> None:
    markup = "<img alt=' a\n cat '><img alt=''><p><img alt='a dog'></p><img>"
    assert pictures_in(element(markup)) == ["a cat", "a dog"]


def test_the_tail_of_an_element_is_none_of_its_words() -> None:
    inner = html.fragment_fromstring("<div><b>in</b> out</div>")[0]
    assert text_of(inner) == raw_text(inner) == "in"


@pytest.mark.parametrize(
    ("markup", "latex"),
    [
        ("<math>x^2</math>", "x^2"),
        ("<math>x^2</math> (3)", "x^2 \\tag{3}"),
        ("(A.1) <math>x^2</math>", "x^2 \\tag{A.1}"),
        ("<math>x^2</math> for all x", "$x^2$ for all x"),
        ("<math>x</math> and <math>y</math>", "$x$ and $y$"),
        ("$$x^2$$", "x^2"),
        ("plain", "plain"),
    ],
)
def test_a_number_beside_one_formula_is_its_tag(markup: str, latex: str) -> None:
    assert formula_of(element(markup)) == latex


@pytest.mark.parametrize(
    ("markup", "shown"),
    [
        ("", []),
        ("text", [("paragraph", "text")]),
        ("<h1>a</h1>text", [("heading", "a"), ("paragraph", "text")]),
        ("a<table><tr><td>b</td></tr></table>c", [("paragraph", "a"), ("table", "b"), ("paragraph", "c")]),
        ("<pre> a\n  b</pre>", [("code", " a\n  b")]),
        ("a<ul><li>b</li></ul>", [("paragraph", "a"), ("list", "- b")]),
        ("<math display='block'>x</math>", [("formula", "x")]),
        ("a <math>x^2</math> b", [("paragraph", "a $x^2$ b")]),
        ("<img alt='a cat'>", [("picture", "a cat")]),
        ("<img>", []),
    ],
)
def test_html_of_any_kind_is_a_flow_of_blocks(markup: str, shown: list[tuple[str, str]]) -> None:
    blocks, notes = parse_html(markup)
    assert [(str(block.type), block.text) for block in blocks] == shown
    assert notes == []


def test_what_says_that_it_is_whole_is_one_block_and_what_does_not_is_split() -> None:
    markup = "<div>a<h2>b</h2></div>"
    whole = Place(BlockType.FOOTNOTE, Box(0, 0, 1, 1), is_whole=True)
    parts = Place(BlockType.FOOTNOTE, Box(0, 0, 1, 1))
    one, _ = parse_html(markup, lambda node: whole if node.tag == "div" else None)
    two, _ = parse_html(markup, lambda node: parts if node.tag == "div" else None)
    assert [(block.type, block.text) for block in one] == [(BlockType.FOOTNOTE, "a\nb")]
    assert [block.type for block in two] == [BlockType.FOOTNOTE, BlockType.HEADING]
    assert {block.box for block in (*one, *two)} == {Box(0, 0, 1, 1)}


@given(st.lists(st.text("abc \t", max_size=8), max_size=6))
def test_plain_paragraphs_are_what_stands_between_empty_lines(parts: list[str]) -> None:
    found = parse_text("\n \t\n\n".join(parts), SENT)
    assert [block.text for block in found.blocks] == [part.strip() for part in parts if part.strip()]


def test_a_page_s_text_has_no_pictures_no_gaps_and_each_note_once() -> None:
    blocks = [
        Block(BlockType.PARAGRAPH, "a"),
        Block(BlockType.PARAGRAPH, "  "),
        Block(BlockType.PICTURE, "a cat"),
        Block(BlockType.TABLE, "", rows=(("",),)),
        Block(BlockType.PARAGRAPH, "b"),
    ]
    found = parsed(blocks, ["x", "y", "x"])
    assert (found.text, found.notes) == ("a\n\nb", ("x", "y"))
    assert [block.text for block in found.blocks] == ["a", "a cat", "", "b"]
