"""Markdown of models: headings, lists, tables, formulas, and what is print and no markup."""

import pytest

from models.reading import BlockType
from tests.unit.parsing import only, read, shown, types


@pytest.mark.parametrize(("mark", "level"), [("#", 1), ("##", 2), ("######", 6)])
def test_headings_have_levels_and_no_marks(mark: str, level: int) -> None:
    block = only("markdown", f"{mark} Results **of** 2025")
    assert (block.type, block.text, block.level) == (BlockType.HEADING, "Results of 2025", level)


def test_lines_stay_lines() -> None:
    assert shown("markdown", "Ada Lovelace\n12 Main Street\nLondon") == [
        ("paragraph", "Ada Lovelace\n12 Main Street\nLondon")
    ]


def test_an_empty_line_begins_a_paragraph() -> None:
    assert shown("markdown", "one\n\ntwo") == [("paragraph", "one"), ("paragraph", "two")]


@pytest.mark.parametrize(
    "print_",
    [
        "Total\n-----",
        "    indented by four",
        "[1]: Smith, 2020, p. 7",
        "[see](here)",
        "snake_case_name and 5 * 3 * 2",
        "usage: cp <file> <target>",
        "if a < b and c > d",
        "AT&T and R&D; x &foo; y",
        "- - - - - - - - - - - - - - - - - - - - - - 7",
        "> > > > > > > > > > > > > > > > > > > > > > > 7",
        "1. 2. 3. 4. 5. 6. 7. 8. 9. 10. 11. 12. 13. 14. 15. 16. 17. 18. 19. 20. 21. 22. 23.",
    ],
)
def test_what_is_print_stays_print(print_: str) -> None:
    def words(text: str) -> list[str]:
        return [word for word in text.split() if any(char.isalnum() for char in word)]

    assert words(read("markdown", print_).text) == words(print_)


@pytest.mark.parametrize(
    "money", ["$5 and $6", "from $4,100 to $5,200", "US$ 5 or $7", "a $20 bill. $3", "cost $5 for members$"]
)
def test_prices_are_no_formulas(money: str) -> None:
    assert read("markdown", money).text == money


@pytest.mark.parametrize("formula", ["$x_1 * y * z$", "\\(x_1 * y * z\\)", "$ x_1 * y * z^{ } $"])
def test_formulas_in_text_have_one_form(formula: str) -> None:
    text = read("markdown", f"so {formula} holds").text
    assert text.startswith("so $x_1 * y * z")
    assert text.endswith("$ holds")


@pytest.mark.parametrize("formula", ["$$a=b$$", "$$\na=b\n$$", "\\[a=b\\]", "\\[\n a=b \n\\]"])
def test_formulas_on_their_own_lines_are_blocks_without_delimiters(formula: str) -> None:
    assert shown("markdown", f"before\n\n{formula}\n\nafter") == [
        ("paragraph", "before"),
        ("formula", "a=b"),
        ("paragraph", "after"),
    ]


def test_a_formula_may_hold_what_looks_like_markdown() -> None:
    assert shown("markdown", "$$\n# a\n\n- b\n= c\n$$") == [("formula", "# a\n\n- b\n= c")]


def test_a_formula_that_never_ends_is_text() -> None:
    assert "x = 1" in read("markdown", "$$ x = 1\n\nand so on").text


@pytest.mark.parametrize(
    ("raised", "plain"),
    [
        ("note$^{1}$", "note¹"),
        ("note<sup>12</sup>", "note¹²"),
        ("m$^2$", "m²"),
        ("H$_{2}$O", "H₂O"),
        ("1<sup>st</sup>", "1st"),
        ("20$^{\\circ}$C", "20°C"),
        ("seen$^{[3]}$", "seen[3]"),
        ("e$^{ab}$", "e^{ab}"),
        ("a\\textsuperscript{3}", "a³"),
        ("$12\\%$", "12%"),
    ],
)
def test_raised_and_lowered_print_has_one_form(raised: str, plain: str) -> None:
    assert read("markdown", raised).text == plain


@pytest.mark.parametrize(
    ("left", "plain"),
    [
        ("\\textbf{Bold \\emph{and} more}", "Bold and more"),
        ("keep $\\text{max}_{\\mathbf{x}}$", "keep $\\text{max}_{\\mathbf{x}}$"),
        ("**strong** *soft* ~~old~~", "strong soft ~~old~~"),
    ],
)
def test_leftovers_of_latex_and_stars_go_but_not_out_of_formulas(left: str, plain: str) -> None:
    assert read("markdown", left).text == plain


def test_sections_of_latex_are_headings() -> None:
    found = read("markdown", "\\section{One}\n\n\\subsubsection*{Deep}").blocks
    assert [(block.text, block.level) for block in found] == [("One", 1), ("Deep", 3)]


def test_tables_of_pipes_and_of_html_are_the_same() -> None:
    pipes = only("markdown", "| a | b |\n|---|---|\n| 1 | 2 |")
    html = only("markdown", "<table><tr><td>a</td><td>b</td></tr>\n\n<tr><td>1</td><td>2</td></tr></table>")
    assert pipes.rows == html.rows == (("a", "b"), ("1", "2"))
    assert pipes.text == "a\tb\n1\t2"


def test_lists_keep_numbers_and_depth() -> None:
    assert shown("markdown", "3. three\n4. four\n   - inner") == [("list", "3. three\n4. four\n  - inner")]


def test_a_mark_that_was_printed_is_not_doubled() -> None:
    assert only("markdown", "- • point").text == "• point"


def test_code_keeps_its_spaces() -> None:
    assert only("markdown", "```c\nint a;\n  b\n```").text == "int a;\n  b"


def test_a_picture_is_described_apart() -> None:
    found = read("markdown", "![A dog](imgs/1.jpg)\n\ntext")
    assert found.text == "text"
    assert types("markdown", "![A dog](imgs/1.jpg)") == [BlockType.PICTURE]
    assert types("markdown", "![](imgs/1.jpg)") == []


def test_a_fence_around_the_whole_page_is_taken_off_and_noted() -> None:
    found = read("markdown", "```markdown\n# Title\n```")
    assert found.blocks[0].type is BlockType.HEADING
    assert found.notes == ("fence-stripped",)


def test_an_answer_without_a_table_to_a_question_for_one_is_noted() -> None:
    assert read("glm-table", "There is no table.").notes == ("table-missing",)
    assert read("glm-table", "<table><tr><td>1</td></tr></table>").notes == ()


@pytest.mark.parametrize("answer", ["x^2", "$x^2$", "$$x^2$$", "\\[x^2\\]", " \\(x^2\\) "])
def test_a_formula_comes_bare_whatever_is_around_it(answer: str) -> None:
    assert shown("glm-formula", answer) == [("formula", "x^2")]


def test_several_formulas_are_several_blocks() -> None:
    assert shown("glm-formula", "$$a$$\n\n$$b$$") == [("formula", "a"), ("formula", "b")]


def test_plain_text_is_left_as_it_is() -> None:
    found = read("text", "# no heading\nline\n\n\n next <b>\n")
    assert found.text == "# no heading\nline\n\n\n next <b>"
    assert [block.text for block in found.blocks] == ["# no heading\nline", "next <b>"]
