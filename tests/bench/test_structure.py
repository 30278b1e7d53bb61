"""Tables and formulas: how near two of them are, on ones whose distance can be told by hand."""

import pytest

from bench.structure import (
    MOST_NODES,
    NO_STRUCTURE,
    Table,
    TableScore,
    _cut,
    as_html,
    formula_match,
    formula_scores,
    paired,
    signs,
    structure_of,
    structures_of,
    table_scores,
    teds,
)
from models.reading import Block, BlockType


def table(*rows: str) -> Table:
    """Rows of cells split by bars."""
    return tuple(tuple((cell, 1, 1) for cell in row.split("|")) for row in rows)


PRICES = table("Tea|2.50", "Milk|1.20")


def test_equal_tables_are_fully_alike_whatever_their_tags() -> None:
    (page,) = structures_of(
        [
            "<table><thead><tr><th>Tea</th><th>2.50</th></tr></thead><tr><td>Milk</td><td>1.20</td></tr></table>"
        ],
        "chandra",
    )
    assert page.tables == (PRICES,)
    assert teds(PRICES, page.tables[0]) == 1.0


def test_a_row_missing_costs_its_nodes() -> None:
    # The tree of two rows of two cells has 7 nodes; a row with its cells is 3 of them.
    assert teds(PRICES, PRICES[:1]) == pytest.approx(1 - 3 / 7)


def test_a_cell_misread_costs_the_share_of_its_letters_and_nothing_in_the_structure() -> None:
    misread = table("Tea|2.50", "Milk|1.80")
    assert teds(PRICES, misread) == pytest.approx(1 - 0.25 / 7)
    assert teds(PRICES, misread, structure_only=True) == 1.0


def test_a_cell_that_spans_two_columns_is_another_cell() -> None:
    spanned: Table = ((("Prices", 2, 1),), *PRICES)
    assert 'colspan="2"' in as_html(spanned)
    assert teds(spanned, table("Prices", "Tea|2.50", "Milk|1.20")) == pytest.approx(1 - 1 / 9)


def test_each_table_is_compared_with_the_one_that_was_found_for_it() -> None:
    other = table("Monday|closed", "Tuesday|open")
    assert table_scores([PRICES, other], [other, PRICES]) == [TableScore(1.0, 1.0)] * 2
    assert table_scores([PRICES, other], [other])[0] == TableScore(0.0, 0.0)
    assert table_scores([], [PRICES]) == []


def test_of_a_large_table_the_first_rows_count() -> None:
    row = "|".join("abcdefghi")
    assert len(_cut(table(*[row] * 100))) == MOST_NODES // 10
    assert len(_cut(table("|".join("a" * 2_000), row))) == 1
    assert _cut(PRICES) == PRICES


def test_cells_are_written_as_they_are_and_not_as_tags() -> None:
    assert "<td>a &lt; b &amp; c</td>" in as_html(table("a < b &  c"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x^2", "x^{2}"),
        (r"\frac{a+b}{2} \ge 0", r"\dfrac {a + b} 2 \geq 0"),
        (r"\left( x \right)", "(x)"),
        (r"a \, b \quad c", "abc"),
        (r"\sqrt a", r"\sqrt{a}"),
    ],
)
def test_two_ways_to_write_a_formula_are_one_formula(one: str, other: str) -> None:
    assert formula_match(one, other) == 1.0


def test_a_wrong_sign_costs_its_share() -> None:
    # Of 2 × 5 signs eight are the same.
    assert formula_match("a+b=c", "a+b=d") == pytest.approx(0.8)
    assert formula_match("x^{10}", "x^{10}y") == pytest.approx(12 / 13)


def test_signs_keep_braces_around_more_than_one_sign() -> None:
    assert signs(r"\frac{1}{x+1}") == ["\\frac", "1", "{", "x", "+", "1", "}"]
    assert signs(r"\begin{cases} a & b \end{cases}") == ["\\begin{cases}", "a", "&", "b", "\\end"]
    assert signs("{" * 3_000)


def test_formulas_stand_on_lines_of_their_own_and_within_text() -> None:
    (page,) = structures_of(["Where $x > 0$ holds:\n\n$$x^2 = 4$$\n"], "markdown")
    assert page.formulas == ("x > 0", "x^2 = 4")
    assert formula_scores(page.formulas, ["x^2=4"]) == [0.0, 1.0]
    assert formula_scores(page.formulas, []) == [0.0, 0.0]


def test_code_and_prose_hold_neither_tables_nor_formulas() -> None:
    blocks = [Block(BlockType.CODE, "echo $HOME$"), Block(BlockType.PARAGRAPH, "plain words")]
    assert structure_of(blocks) == NO_STRUCTURE


def test_rows_do_where_an_engine_gives_no_html() -> None:
    found = structure_of([Block(BlockType.TABLE, "Tea\t2.50", rows=(("Tea", "2.50"),))])
    assert found.tables == (table("Tea|2.50"),)


def test_the_nearest_are_paired_first_and_the_unlike_not_at_all() -> None:
    assert paired([1, 5], [5, 2], lambda a, b: 1 / (1 + abs(a - b))) == [(0, 1), (1, 0)]
    assert paired([1], [2], lambda a, b: 0.0) == []
