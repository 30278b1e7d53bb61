import random

from models.geometry import Box
from models.reading import BlockType
from tasks.work.layout import blocks_of, is_vertical
from tasks.work.lines import Line
from tests.unit.boxes import PITCH, SAME, column, line, texts_of, words_of

SENTENCE = "{} is a sentence of this column"
LEFT = [SENTENCE.format(f"L{number}") for number in range(1, 21)]
RIGHT = [SENTENCE.format(f"R{number}") for number in range(1, 21)]


def _marks(lines: list[Line], *letters: str) -> list[str]:
    return [word for word in words_of(lines) if word[0] in letters and word[1:].isdigit()]


def test_the_left_column_is_read_before_the_right_one() -> None:
    page = column(LEFT, 100, 100) + column(RIGHT, 600, 100)
    expected = [f"L{n}" for n in range(1, 21)] + [f"R{n}" for n in range(1, 21)]
    assert _marks(page, "L", "R") == expected


def test_the_order_in_which_lines_arrive_does_not_matter() -> None:
    page = column(LEFT, 100, 100) + column(RIGHT, 600, 113)
    shuffled = random.Random(7).sample(page, len(page))
    assert blocks_of(shuffled, SAME) == blocks_of(page, SAME)


def test_columns_with_lines_at_different_heights_are_still_columns() -> None:
    page = column(LEFT, 100, 100) + column(RIGHT, 600, 109)
    assert _marks(page, "L", "R")[:20] == [f"L{n}" for n in range(1, 21)]


def test_three_columns_are_read_one_after_the_other() -> None:
    thirds = [
        column([SENTENCE.format(f"{c}{n}") for n in range(12)], x, 100)
        for c, x in (("A", 50), ("B", 450), ("C", 850))
    ]
    page = [each for third in thirds for each in third]
    assert _marks(page, "A", "B", "C") == [f"{c}{n}" for c in "ABC" for n in range(12)]


def test_a_heading_over_both_columns_parts_them_where_it_stands() -> None:
    heading = line("A heading that runs over both of the columns below it", 200, 420, height=30)
    page = (
        column(LEFT[:10], 100, 100)
        + column(RIGHT[:10], 600, 100)
        + [heading]
        + column(LEFT[10:], 100, 500)
        + column(RIGHT[10:], 600, 500)
    )
    words = [word for word in words_of(page) if word == "heading" or word[1:].isdigit()]
    assert words.index("R10") < words.index("heading") < words.index("L11") < words.index("R11")


def test_one_column_is_read_from_top_to_bottom() -> None:
    page = column(LEFT, 100, 100)
    assert _marks(page, "L") == [f"L{n}" for n in range(1, 21)]


def test_two_words_in_one_row_are_no_columns() -> None:
    page = [line("Chapter 1", 100, 50), line("17", 900, 50), *column(LEFT, 100, 120, width=830)]
    assert texts_of(page)[0] == "Chapter 1 17"


def test_a_margin_note_is_a_column_of_its_own() -> None:
    notes = column(["see also", "the note", "on page"], 40, 200)
    page = column(LEFT, 300, 100) + notes
    assert "see also\nthe note\non page" in texts_of(page)


def _upright(text: str, x: float, y: float, size: float = 24) -> Line:
    return Line(text, Box(x, y, x + size, y + size * len(text)))


def test_upright_japanese_is_read_from_right_to_left() -> None:
    page = [
        _upright("春は曙やうやう", 500, 100),
        _upright("白くなりゆく山", 460, 100),
        _upright("際すこし明りて", 420, 100),
    ]
    assert is_vertical(page)
    assert texts_of(page) == ["春は曙やうやう白くなりゆく山際すこし明りて"]


def test_upright_text_in_two_tiers_is_read_tier_by_tier() -> None:
    upper = [_upright(f"上段第{n}行文章", 700 - 40 * i, 100) for i, n in enumerate("一二三四")]
    lower = [_upright(f"下段第{n}行文章", 700 - 40 * i, 400) for i, n in enumerate("一二三四")]
    text = "".join(texts_of(lower + upper))
    assert text.index("上段第四行") < text.index("下段第一行")


def test_level_chinese_with_an_upright_heading_is_level() -> None:
    level = [line("横着写的中文文字" * 2, 100, 100 + PITCH * n, width=320) for n in range(4)]
    assert not is_vertical(level)
    assert not is_vertical([*level, _upright("春は曙やうやう", 500, 100)])
    assert is_vertical([*level[:1], *(_upright("春は曙やうやう", 500 - 40 * n, 100) for n in range(3))])


def test_marks_and_page_numbers_do_not_say_how_a_page_is_written() -> None:
    upright = _upright("春は曙やうやう", 500, 100)
    assert is_vertical([upright, *(line("章一", 100, 100 + PITCH * n) for n in range(9))])


def test_latin_text_in_tall_boxes_is_not_taken_for_upright_writing() -> None:
    page = [Line("Spine of a book", Box(20, 100, 50, 700)), *column(LEFT, 100, 100)]
    assert not is_vertical(page)


def test_arabic_columns_are_read_from_the_right() -> None:
    first = column(["هذا نص في العمود الأول"] * 6, 600, 100)
    second = column(["وهذا نص في العمود الثاني"] * 6, 100, 100)
    assert "الأول" in texts_of(second + first)[0]


def test_a_page_without_lines_has_no_blocks() -> None:
    assert blocks_of([], SAME) == ()
    assert blocks_of([line("  ", 10, 10)], SAME) == ()


def test_a_table_in_one_of_two_columns_stays_in_its_column() -> None:
    rows = [
        piece
        for n in range(5)
        for piece in (line(f"item{n}", 100, 400 + n * PITCH), line(f"{n},50", 320, 400 + n * PITCH))
    ]
    page = column(LEFT[:10], 100, 100) + rows + column(RIGHT, 600, 105)
    blocks = blocks_of(page, SAME)
    kinds = [block.type for block in blocks]
    assert BlockType.TABLE in kinds
    assert "R1 " in "".join(block.text for block in blocks[kinds.index(BlockType.TABLE) + 1 :])
