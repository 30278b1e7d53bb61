"""Layout of real pages, from their text layers: exact words, real boxes, no engine."""

from pathlib import Path

import pytest

from models.geometry import Transform
from models.reading import Block, BlockType
from tasks.work.layerlines import lines_of, printed
from tasks.work.layout import blocks_of, text_of
from tasks.work.media import sniff
from tasks.work.split import split_pages
from tests.unit import pages

pytestmark = pytest.mark.slow

SAMPLES = Path(__file__).parents[2] / "samples" / "documents"
# A page image of 1,540 px for a page of 842 pt, about.
PIXELS = Transform.scale(0.55, 0.55)


def _blocks(path: Path, page_no: int = 1) -> tuple[Block, ...]:
    (facts,) = split_pages(path, sniff(path), page_no, page_no)
    words = printed(facts.words, facts.width_pt, facts.height_pt)
    return blocks_of(lines_of(words, PIXELS), PIXELS)


def _in_order(text: str, *passages: str) -> bool:
    flat = " ".join(text.split())
    places = [flat.find(passage) for passage in passages]
    return -1 not in places and places == sorted(places)


def test_three_columns_of_a_gazette_are_read_one_after_the_other() -> None:
    text = text_of(_blocks(SAMPLES / "gazette-15-pages.pdf"))
    assert _in_order(
        text,
        "This section of the FEDERAL REGISTER",
        "FAA is proposing this AD to address",
        "Federal eRulemaking Portal",
        "Comments Invited",
        "proposal, explain the reason for any",
        "On October 29, 2018, a Boeing Model",
    )


def test_a_dense_table_keeps_its_rows_and_its_cells() -> None:
    (table,) = [block for block in _blocks(SAMPLES / "table-landscape.pdf") if block.type is BlockType.TABLE]
    rows = {row[0]: row for row in table.rows}
    assert len(table.rows) > 55
    assert rows["Alabama"][2:4] == ("23,022", "22,650")
    assert rows["Texas"][-1] == "146,982"
    assert rows["Alabama"].index("71,137") == rows["Texas"].index("146,982")


def test_the_title_of_a_table_is_a_heading_before_it() -> None:
    blocks = _blocks(SAMPLES / "table-landscape.pdf")
    assert (blocks[0].type, blocks[0].text) == (BlockType.HEADING, "NICS Firearm Background Checks")


def test_labels_and_values_of_an_invoice_stand_in_one_row() -> None:
    rows = [row for block in _blocks(SAMPLES / "invoice-german.pdf") for row in block.rows]
    assert ("Name:", "Lieferant GmbH") in rows
    assert ("Steuernummer:", "201/113/40209") in rows


def test_sections_of_a_chinese_manual_are_headings_and_its_lines_run_on() -> None:
    blocks = _blocks(SAMPLES / "manual-chinese.pdf", 4)
    headings = [block.text for block in blocks if block.type is BlockType.HEADING]
    assert any("安装介质" in heading for heading in headings)
    longest = max((block for block in blocks if block.type is BlockType.PARAGRAPH), key=lambda b: len(b.text))
    assert longest.text.count("\n") <= 3
    assert len(longest.text) > 80


def test_blocks_of_a_page_lie_on_it() -> None:
    path = SAMPLES / "gazette-15-pages.pdf"
    (facts,) = split_pages(path, sniff(path), 2, 2)
    for block in _blocks(path, 2):
        assert block.box is not None
        assert -1 <= block.box.x0 < block.box.x1 <= facts.width_pt + 1
        assert -1 <= block.box.y0 < block.box.y1 <= facts.height_pt + 1


def test_two_columns_of_a_paper_with_a_heading_over_both() -> None:
    text = text_of(_blocks(pages.corpus("digital-en-latex-two-column.pdf")))
    assert _in_order(
        text,
        "Two-Column Document with Lorem Ipsum",
        "January 3, 2024",
        "This is a sample document with two columns",
        "Nulla malesuada porttitor diam",
        "pellentesque ante. Phasellus adipiscing",
        "Fusce mauris. Vestibulum luctus",
    )


def test_a_japanese_poem_is_read_downwards_from_the_right() -> None:
    text = text_of(_blocks(pages.corpus("digital-ja-vertical-poem.pdf")))
    assert _in_order(text, "序", "わたくしといふ現象は", "これらは二十二箇月の", "大正十三年一月廿日")


def test_arabic_words_are_read_from_the_right() -> None:
    text = text_of(_blocks(pages.corpus("digital-ar-al-jahiz.pdf")))
    assert _in_order(text, "كَانَ أَبُو", "أَهْدَى", "دَجَاجَةً")


@pytest.mark.parametrize("page_no", [1, 2])
def test_a_form_loses_no_word(page_no: int) -> None:
    path = pages.corpus("form-va-21-0966.pdf")
    (facts,) = split_pages(path, sniff(path), page_no, page_no)
    words = printed(facts.words, facts.width_pt, facts.height_pt)
    text = text_of(blocks_of(lines_of(words, PIXELS), PIXELS))
    assert sorted(text.split()) == sorted(" ".join(word.text for word in words).split())
