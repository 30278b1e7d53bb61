"""Pages of signs instead of letters, and honest pages that are full of signs."""

import pytest

from models.limits import CheckLimits
from models.reading import Block, BlockType, Reading, ReadingSource
from models.verdict import Severity
from tasks.work.checks import check
from tests.unit.readings import CHINESE, PAGE, PROSE, found, page_of, table_of

# What a small served model made of a page that lay on its side.
SIDEWAYS = "- s s " + "$ " * 90 + "s # # # # s s " * 4 + "@ $ 8 § ê " * 10


def test_hardly_a_letter_among_signs_is_doubtful() -> None:
    finding = found(page_of(SIDEWAYS), "mostly-signs")
    assert finding is not None
    assert finding.severity is Severity.WARNING
    letters, chars = finding.evidence["letters"], finding.evidence["chars"]
    assert isinstance(letters, int)
    assert isinstance(chars, int)
    assert letters < chars / 2


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        CHINESE,
        "\n".join(f"Chapter {n} {'.' * 90} {n}" for n in range(30)),
        "☐ Yes ☐ No\n" * 60,
        "|---|---|\n| 1 | 2 |\n" * 40,
        "x = $x$, $y$ and $\\frac{a_{1}}{b^{2}}$ with $z$\n" * 20,
        "€ 12.50\n$ 3.99\n£ 100.00\n" * 30,
        "क्षेत्रीय किताबें " * 20,
        "__________________ ( ) / ____ \n" * 40,
    ],
    ids=["prose", "chinese", "contents", "boxes", "table", "formulas", "prices", "hindi", "form"],
)
def test_pages_that_are_full_of_signs_pass(text: str) -> None:
    assert found(page_of(text), "mostly-signs") is None


def test_listings_and_formulas_may_be_of_signs() -> None:
    for kind in (BlockType.CODE, BlockType.FORMULA):
        reading = Reading(ReadingSource.OCR, SIDEWAYS, (Block(kind, SIDEWAYS),))
        assert found(reading, "mostly-signs") is None


def test_a_table_of_dashes_and_zeros_passes() -> None:
    assert found(table_of([["-", "0.00 %", "—", "*"]] * 60), "mostly-signs") is None


def test_the_border_lies_where_the_limits_say() -> None:
    half = page_of("a $ " * 60)
    assert found(half, "mostly-signs") is None
    stricter = CheckLimits(letters_share=0.51)
    assert "mostly-signs" in {finding.code for finding in check(half, PAGE, stricter)}
    assert found(page_of("$ " * 99), "mostly-signs") is None
    assert found(page_of("$ " * 100), "mostly-signs") is not None


def test_line_readers_and_text_layers_are_not_counted_through() -> None:
    layer = Reading(ReadingSource.TEXT_LAYER, SIDEWAYS, (Block(BlockType.PARAGRAPH, SIDEWAYS),))
    assert found(layer, "mostly-signs") is None
