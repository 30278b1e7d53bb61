"""HTML of models: labels, spans, lists, controls, and tags that are missing or none."""

import pytest

from models.profiles.chandra_prompts import LABELS_1, LABELS_2
from models.reading import BlockType
from tasks.work.parsers.chandra import LABELS
from tasks.work.parsers.tags import tidied
from tests.unit.parsing import only, page, read, shown, types


@pytest.mark.parametrize("label", LABELS_2)
def test_every_label_of_the_prompts_has_its_type(label: str) -> None:
    found = read("chandra-2", page((label, "<p>words</p>")))
    assert set(LABELS) == set(LABELS_2) >= set(LABELS_1)
    assert "words" in "".join(block.text for block in found.blocks)
    if label not in {"Table", "Blank-Page"}:
        assert found.blocks[0].type is LABELS[label]


@pytest.mark.parametrize("label", ["Image", "Figure", "Diagram"])
def test_pictures_are_described_apart_from_the_text(label: str) -> None:
    found = read("chandra-2", page(("Text", "Dear Ada"), (label, '<img alt="a signature"/> in blue ink')))
    assert found.text == "Dear Ada"
    assert (found.blocks[1].type, found.blocks[1].text) == (BlockType.PICTURE, "a signature\nin blue ink")


def test_a_picture_within_a_text_is_a_block_of_its_own() -> None:
    answer = page(
        ("Text", '<p>Signed: <img alt="scribble"/> today</p>'), ("Table", _cell('<img alt="logo"/>'))
    )
    pictures = [text for kind, text in shown("chandra-2", answer) if kind == "picture"]
    assert pictures == ["scribble", "logo"]
    assert "scribble" not in read("chandra-2", answer).text


def _cell(inner: str) -> str:
    return f"<table><tr><td>{inner}</td></tr></table>"


def test_headers_and_footers_are_kept_and_told_apart() -> None:
    answer = page(("Page-Header", "Invoice 4711"), ("Text", "Body"), ("Page-Footer", "1"))
    assert types("chandra", answer) == [BlockType.HEADER, BlockType.PARAGRAPH, BlockType.FOOTER]
    assert read("chandra", answer).text == "Invoice 4711\n\nBody\n\n1"


@pytest.mark.parametrize(
    ("box", "wanted"),
    [
        ("[1, 2, 3, 4]", (1, 2, 3, 4)),
        ("1 2 3 4", (1, 2, 3, 4)),
        ("1,2,3,4", (1, 2, 3, 4)),
        ("3 4 1 2", (1, 2, 3, 4)),
        ("-5 0 2000 10.5", (0, 0, 1000, 10.5)),
        ("1 2 3", None),
        ("1 1 1 1", None),
        ("", None),
        ("top", None),
    ],
)
def test_boxes_are_read_in_any_notation_and_stay_on_the_picture(
    box: str, wanted: tuple[float, ...] | None
) -> None:
    block = only("chandra", f'<div data-bbox="{box}" data-label="Text">x</div>')
    assert block.box == wanted


def test_a_box_that_cannot_be_read_is_noted() -> None:
    assert read("chandra", '<div data-bbox="?" data-label="Text">x</div>').notes == ("box-unreadable",)


def test_nested_blocks_have_their_own_boxes_and_no_text_is_lost_or_doubled() -> None:
    inner = page(("Text", "in")) + "loose"
    outer = f'<div data-bbox="1 1 99 99" data-label="Complex-Block">{inner}</div>'
    found = read("chandra-2", outer).blocks
    assert [(block.text, block.box) for block in found] == [("in", (0, 0, 9, 9)), ("loose", (1, 1, 99, 99))]


def test_a_table_fills_up_spans_and_keeps_them_in_its_html() -> None:
    block = only("chandra", '<table><tr><th rowspan="2">a</th><td colspan="2">b</td></tr><tr><td>c</table>')
    assert block.rows == (("a", "b", ""), ("", "c"))
    assert block.html == (
        '<table><tr><th rowspan="2">a</th><td colspan="2">b</td></tr><tr><td>c</td></tr></table>'
    )


@pytest.mark.parametrize("span", ["0", "-1", "x", "", "99999999999", "2.5"])
def test_a_span_that_is_none_counts_as_one(span: str) -> None:
    assert only("chandra", f'<table><tr><td colspan="{span}">a</td></tr></table>').rows == (("a",),)


def test_rows_that_differ_in_length_stay_as_they_are_and_are_noted() -> None:
    found = read("chandra", "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>")
    assert found.blocks[0].rows == (("a", "b"), ("c",))
    assert found.notes == ("table-ragged",)


def test_a_caption_stands_before_its_table_and_text_between_cells_stays() -> None:
    answer = "<table><caption>Prices</caption><tr>lost<td>1</td></tr></table>"
    assert shown("chandra", answer) == [("caption", "Prices"), ("table", "lost\t1")]


def test_the_html_of_a_table_holds_nothing_but_the_table() -> None:
    block = only("chandra", '<table onclick="x()"><tr><td style="a"><b>1</b> &lt;s&gt;</td></tr></table>')
    assert block.html == "<table><tr><td>1 &lt;s&gt;</td></tr></table>"


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        ('<input type="checkbox" checked> yes', "[x] yes"),
        ('<input type="checkbox"/>no', "[ ] no"),
        ('<input type="radio" checked/> on', "(x) on"),
        ('Name: <input value="Ada"/>', "Name: Ada"),
        ("a<br/>b", "a\nb"),
        ("  many \n  spaces ", "many spaces"),
        ("x<sub>i</sub> and y<sup>2</sup>", "x_{i} and y²"),
        ("<math>x&lt;y</math>", "$x<y$"),
        ("<math>a<b</math> on", "$a<b$ on"),
    ],
)
def test_what_stands_in_a_paragraph(inner: str, text: str) -> None:
    assert only("chandra", page(("Text", f"<p>{inner}</p>"))).text == text


@pytest.mark.parametrize(
    ("inner", "latex"),
    [
        ('<math display="block">a=b</math>', "a=b"),
        ("<math>a=b</math> (2.1)", "a=b \\tag{2.1}"),
        ("\\[a=b\\]", "a=b"),
        ("<math>a</math> or <math>b</math>", "$a$ or $b$"),
        ("<math>a</math> where a is long", "$a$ where a is long"),
    ],
)
def test_an_equation_is_latex_with_its_number(inner: str, latex: str) -> None:
    block = only("chandra", page(("Equation-Block", inner)))
    assert (block.type, block.text) == (BlockType.FORMULA, latex)


@pytest.mark.parametrize(
    "broken",
    [
        "<table><tr><td>a<td>b</tr></table>",
        "<table><tr><td>a</td><td>b",
        "<div><p>a</div></p>b",
        "a</td></div>b",
        "<b>a b",
    ],
)
def test_missing_and_stray_tags_are_mended_and_noted(broken: str) -> None:
    found = read("chandra", broken)
    assert found.notes[0] == "html-repaired"
    assert "a" in found.text
    assert "b" in found.text


@pytest.mark.parametrize("fine", ["<p>a<p>b", "<ul><li>a<li>b</ul>", "<br><hr><img alt='x'>", "<P>a</P>"])
def test_tags_that_may_stay_open_are_no_fault(fine: str) -> None:
    assert not tidied(fine).is_repaired


@pytest.mark.parametrize("print_", ["a<b", "<file>", "</end", "x <= y", "<1>", "<!-- -", "5 <", "<td"])
def test_what_is_no_tag_stays_on_the_page(print_: str) -> None:
    assert only("chandra", print_).text == print_


def test_comments_are_no_text() -> None:
    assert shown("chandra", "<!-- page 1 -->a") == [("paragraph", "a")]


def test_the_prompt_without_layout_gives_blocks_without_boxes() -> None:
    found = read("chandra", "<h1>A</h1><p>b</p>").blocks
    assert [(block.type, block.box) for block in found] == [
        (BlockType.HEADING, None),
        (BlockType.PARAGRAPH, None),
    ]
