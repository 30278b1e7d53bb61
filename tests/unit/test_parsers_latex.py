"""LaTeX of models: delimiters off, marks and numbers as characters, leftovers gone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.work.parsers.latex import (
    bare,
    inline,
    sections_as_headings,
    subscript,
    superscript,
    without_commands,
)

_MATH = st.text("abcxyz0123456789+-=^_{}\\ ()", max_size=40)


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        ("$x$", "x"),
        ("$$x$$", "x"),
        ("\\(x\\)", "x"),
        ("\\[ x \\]", "x"),
        ("  x  ", "x"),
        ("$x$ and $y$", "$x$ and $y$"),
        ("$$x$$ $$y$$", "$$x$$ $$y$$"),
        ("$", "$"),
        ("$$", ""),
        ("", ""),
        ("x$", "x$"),
    ],
)
def test_only_delimiters_around_the_whole_formula_come_off(latex: str, wanted: str) -> None:
    assert bare(latex) == wanted


@pytest.mark.parametrize(
    ("raised", "wanted"),
    [
        ("2", "²"),
        ("-1", "⁻¹"),
        ("(n+1)", "⁽ⁿ⁺¹⁾"),
        ("1,2", "¹,²"),
        ("[12]", "[12]"),
        ("th", "th"),
        ("*", "*"),
        ("TM", "TM"),
        ("x", "^{x}"),
        ("2x", "^{2x}"),
        ("", ""),
        (" 3 ", "³"),
    ],
)
def test_raised_text_is_characters_where_there_are_some(raised: str, wanted: str) -> None:
    assert superscript(raised) == wanted


@pytest.mark.parametrize(("lowered", "wanted"), [("2", "₂"), ("10", "₁₀"), ("i", "_{i}"), ("n+1", "_{n+1}")])
def test_lowered_text_is_characters_where_there_are_some(lowered: str, wanted: str) -> None:
    assert subscript(lowered) == wanted


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        ("^1", "¹"),
        ("^{12}", "¹²"),
        ("{}^{3}", "³"),
        ("_{2}", "₂"),
        ("^\\circ", "°"),
        ("37^{\\circ}", "37°"),
        ("50\\%", "50%"),
        ("12/7", "12/7"),
        ("x", "$x$"),
        ("\\alpha", "$\\alpha$"),
        ("10^{3}", "$10^{3}$"),
        ("a\n  b", "$a b$"),
        ("  ", ""),
    ],
)
def test_a_formula_in_text_is_plain_where_it_is_no_formula(latex: str, wanted: str) -> None:
    assert inline(latex) == wanted


@pytest.mark.parametrize("latex", ["x^2", "\\frac{a}{b}", "a < b", "\\text{if } x", "x_{1}^{2}"])
def test_a_formula_stays_as_it_was_written(latex: str) -> None:
    assert inline(f"${latex}$") == inline(f"\\({latex}\\)") == f"${latex}$"


@given(_MATH)
def test_making_a_formula_plain_twice_changes_nothing_more(latex: str) -> None:
    once = inline(latex)
    assert inline(once) == once or not once.startswith("$")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("\\textbf{a} b", "a b"),
        ("\\emph{\\textit{a}}", "a"),
        ("\\underline{\\text{Name}}: Ada", "Name: Ada"),
        ("note\\textsuperscript{2}", "note²"),
        ("H\\textsubscript{2}O", "H₂O"),
        ("$\\textbf{v}$", "$\\textbf{v}$"),
        ("\\textbf{a} $\\text{b}$ \\textbf{c}", "a $\\text{b}$ c"),
        ("\\unknown{a}", "\\unknown{a}"),
        ("\\textbf{open", "\\textbf{open"),
        ("C:\\text\\new", "C:\\text\\new"),
    ],
)
def test_commands_around_words_leave_the_words(text: str, wanted: str) -> None:
    assert without_commands(text) == wanted


def test_commands_nested_deeper_than_any_page_s_are_left() -> None:
    deep = "\\textbf{" * 10 + "a" + "}" * 10
    assert "a" in without_commands(deep)


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("\\section{One}", "# One"),
        ("\\subsection{Two}", "## Two"),
        ("  \\subsubsection*{Three}  ", "### Three"),
        ("see \\section{One}", "see \\section{One}"),
        ("section one", "section one"),
    ],
)
def test_a_section_on_its_own_line_is_a_heading(line: str, heading: str) -> None:
    assert sections_as_headings(f"a\n{line}\nb") == f"a\n{heading}\nb"
