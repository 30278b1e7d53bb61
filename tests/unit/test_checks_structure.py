"""Tables, formulas, layouts and extracted values: broken, borderline and sound."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.limits import CheckLimits
from models.reading import Block, BlockType, Reading, ReadingSource
from models.verdict import Severity
from tasks.work.checks.fields import amount
from tasks.work.checks.formulas import fault_of
from tests.unit.readings import PAGE, PROSE, codes, found, page_of, table_of

EVEN = [["Item", "Count", "Price"], ["Nail", "3", "0.30"], ["Screw", "4", "1.20"], ["Bolt", "1", "2.00"]]
SUMS = replace(PAGE, limits=CheckLimits(enabled=("sums-differ",)))


def test_an_even_table_passes() -> None:
    assert codes(table_of(EVEN)) == []


def test_a_row_that_is_too_short_or_too_long_is_found() -> None:
    for odd in (["Nut", "2"], ["Nut", "2", "3.00", "?"]):
        finding = found(table_of([*EVEN, odd]), "table-ragged")
        assert finding is not None
        assert finding.evidence == {"rows": 1, "columns": 3}


def test_rows_of_eight_and_ten_cells_are_ragged_and_no_jump() -> None:
    reading = table_of([["a"] * 8] * 4 + [["b"] * 10] * 2)
    assert codes(reading) == ["table-ragged"]


def test_a_row_twice_as_wide_is_a_jump() -> None:
    finding = found(table_of([*EVEN, ["x"] * 7]), "column-jump")
    assert finding is not None
    assert finding.evidence["widest"] == 7


def test_a_table_wider_than_a_page_is_a_jump() -> None:
    assert found(table_of([["a"] * 61]), "column-jump")
    assert not found(table_of([["a"] * 60] * 2), "column-jump")


def test_a_table_of_ten_thousand_cells_is_no_page() -> None:
    finding = found(table_of([[str(n * m) for n in range(50)] for m in range(200)]), "table-too-large")
    assert finding is not None
    assert finding.evidence == {"cells": 10_000, "rows": 200}


@pytest.mark.parametrize(
    ("notes", "severity"),
    [
        (("unparsable",), Severity.ERROR),
        (("schema-mismatch",), Severity.WARNING),
        (("table-missing",), Severity.WARNING),
        (("box-unreadable",), Severity.WARNING),
    ],
)
def test_what_the_parser_could_not_read_is_weighed(notes: tuple[str, ...], severity: Severity) -> None:
    finding = found(page_of(PROSE, notes=notes), "layout-invalid")
    assert finding is not None
    assert finding.severity is severity


@pytest.mark.parametrize(("depth", "is_found"), [(50, False), (190, False), (260, True), (5_000, True)])
def test_markup_nested_deeper_than_any_page_is_invalid(depth: int, is_found: bool) -> None:
    reading = page_of("x", raw="<div>" * depth + "x" + "</div>" * depth)
    assert bool(found(reading, "layout-invalid")) is is_found


def test_many_flat_tags_are_not_deep() -> None:
    assert codes(page_of(PROSE, raw="<table>" + "<tr><td>1</td></tr>" * 500 + "</table>")) == []
    assert codes(page_of(PROSE, raw="<p>line<br>" * 500)) == []


@pytest.mark.parametrize(
    "latex",
    [
        r"\frac{a}{b}",
        r"\frac12",
        r"x^{2}+y_{3}=\sqrt[3]{5}",
        r"\begin{cases} 1 & x>0 \\ 0 & \text{else}\end{cases}",
        r"\left. \frac{df}{dx} \right|_{x=0}",
        r"\left[0, 1\right)",
        r"[0, 1)",
        r"\{1, 2\}",
        r"5% of {x}",
        r"\begin{array}{c|c} a & b \\ \hline c & d\end{array}",
        r"\text{价格}=5",
        r"\leftarrow \rightarrow",
        "",
    ],
)
def test_sound_formulas_pass(latex: str) -> None:
    assert fault_of(latex) == ""


@pytest.mark.parametrize(
    ("latex", "fault"),
    [
        (r"\frac{a}{b", "braces"),
        (r"a}b{", "braces"),
        (r"\left( \frac{1}{2}", "delimiters"),
        (r"\right) x", "delimiters"),
        (r"\begin{pmatrix}1&2", "environments"),
        (r"\begin{a}\end{b}", "environments"),
        (r"\end{cases}", "environments"),
        (r"\frac{a}", "syntax"),
        (r"\sqrt", "syntax"),
        ("{" * 100 + "}" * 100, "depth"),
    ],
)
def test_broken_formulas_are_told_apart(latex: str, fault: str) -> None:
    assert fault_of(latex) == fault


def test_formulas_are_looked_for_in_blocks_and_in_text() -> None:
    block = Block(BlockType.FORMULA, r"\frac{a}{b")
    assert found(Reading(ReadingSource.OCR, block.text, (block,)), "formula-unbalanced")
    assert found(page_of(r"where $x^{2$ is"), "formula-unbalanced")
    assert not found(page_of(r"where $x^{2}$ is"), "formula-unbalanced")


@pytest.mark.parametrize(
    "text", ["It costs $5 {net} or $6 {gross", "US$ 12 and A$ 13", "100 {$} a {b$", PROSE]
)
def test_prices_are_no_formulas(text: str) -> None:
    assert codes(page_of(text)) == []


@settings(max_examples=60)
@given(st.text(alphabet="\\{}[]()$%&^_abfrcleighsqt 12", max_size=80))
def test_any_formula_ends_with_an_answer(latex: str) -> None:
    assert fault_of(latex) in {"", "braces", "delimiters", "environments", "depth", "syntax"}


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("12.50", 12.5),
        ("1,234.50", 1234.5),
        ("1.234,50 €", 1234.5),
        ("$ 7", 7.0),
        ("(3.00)", -3.0),
        ("-4", -4.0),
        ("1,234", 1234.0),
        ("0", 0.0),
        ("19 %", None),
        ("Nail", None),
        ("", None),
        ("12.5.2026 at noon", None),
    ],
)
def test_amounts_are_read_in_any_style(cell: str, value: float | None) -> None:
    assert amount(cell) == value


def test_amounts_that_do_not_add_up_are_found_where_that_is_asked_for() -> None:
    good, bad = ([*EVEN, ["Total", "8", total]] for total in ("3.50", "5.30"))
    assert codes(table_of(good), SUMS) == []
    assert found(table_of(bad), "sums-differ", SUMS)
    assert not found(table_of(bad), "sums-differ")


def test_cents_lost_in_rounding_and_subtotals_pass() -> None:
    rows = [["A", "0.33"], ["B", "0.33"], ["C", "0.33"], ["Subtotal", "1.00"], ["Total", "1.00"]]
    assert codes(table_of(rows), SUMS) == []


def test_values_that_the_page_does_not_hold_are_found() -> None:
    witness = "Invoice no. 2024-118 of 3 May 2024, Hansen & Søn, total 1.234,50 EUR"
    page = replace(PAGE, extracts=True, witness=witness)
    good = [
        ["number", "2024-118"],
        ["date", "2024-05-03"],
        ["total", "1234.5"],
        ["seller", "HANSEN & SØN"],
        ["paid", ""],
    ]
    assert found(table_of(good), "field-not-on-page", page) is None
    finding = found(table_of([*good, ["bank", "Nordea"]]), "field-not-on-page", page)
    assert finding is not None
    assert (finding.evidence["missing"], finding.evidence["field"]) == (1, "bank")


PRINTED = (
    "Bill 4711, 12 March 2024: 3 bolts at 20.00, 1 250,50 in all, 019 % VAT, tel. 030 / 123 456 78, (99.-)"
)


@pytest.mark.parametrize(
    "value", ["4711", "3", "20", "20.00", "1250.5", "1,250.50", "19", "03012345678", "-99"]
)
def test_a_number_on_the_page_is_known_in_any_style(value: str) -> None:
    page = replace(PAGE, extracts=True, witness=PRINTED)
    assert found(table_of([["total", value]]), "field-not-on-page", page) is None


@pytest.mark.parametrize("value", ["2000", "47", "12.50", "124", "200.00", "125050", "0.03"])
def test_digits_of_other_numbers_are_no_witness(value: str) -> None:
    page = replace(PAGE, extracts=True, witness=PRINTED)
    assert found(table_of([["total", value]]), "field-not-on-page", page)


def test_without_a_witness_no_value_is_doubted() -> None:
    reading = table_of([["bank", "Nordea"]])
    assert codes(reading, replace(PAGE, extracts=True)) == []
    assert codes(reading, replace(PAGE, witness="words of a page that say something else entirely")) == []
