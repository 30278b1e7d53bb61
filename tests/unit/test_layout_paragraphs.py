from models.geometry import Box, Transform
from models.reading import BlockType
from tasks.work.layout import blocks_of, text_of
from tasks.work.lines import Line
from tests.unit.boxes import PITCH, SAME, column, line, texts_of

PROSE = "words of running text that fill the line to its end here"
SHORT = "the last words."


def test_lines_below_one_another_are_one_paragraph() -> None:
    assert texts_of(column([PROSE] * 3, 100, 100)) == ["\n".join([PROSE] * 3)]


def test_white_between_lines_parts_paragraphs() -> None:
    page = column([PROSE, PROSE], 100, 100) + column([PROSE, PROSE], 100, 100 + 3 * PITCH)
    assert len(texts_of(page)) == 2


def test_an_indented_line_opens_a_paragraph() -> None:
    page = [
        *column([PROSE, PROSE], 100, 100),
        line(PROSE, 130, 100 + 2 * PITCH),
        line(PROSE, 100, 100 + 3 * PITCH),
    ]
    assert [len(text.splitlines()) for text in texts_of(page)] == [2, 2]


def test_a_sentence_that_ends_early_closes_its_paragraph() -> None:
    page = column([PROSE, SHORT, PROSE, PROSE], 100, 100)
    assert [len(text.splitlines()) for text in texts_of(page)] == [2, 2]


def test_hyphens_at_line_ends_stay_as_they_are() -> None:
    page = column(["consectetuer adip-", "iscing elit"], 100, 100, width=500)
    assert texts_of(page) == ["consectetuer adip-\niscing elit"]


def test_lines_of_chinese_run_on_without_a_break() -> None:
    page = column(["安装过程中可以使用网络", "来获取安装所需要的文件。"], 100, 100, width=400)
    assert texts_of(page) == ["安装过程中可以使用网络来获取安装所需要的文件。"]


def test_tall_short_lines_are_headings_by_their_height() -> None:
    page = [
        line("The Title", 100, 50, height=50),
        line("A chapter", 100, 130, height=34),
        line("A section", 100, 200, height=28),
        *column([PROSE] * 6, 100, 260),
    ]
    blocks = blocks_of(page, SAME)
    assert [(block.type, block.level) for block in blocks] == [
        (BlockType.HEADING, 1),
        (BlockType.HEADING, 2),
        (BlockType.HEADING, 3),
        (BlockType.PARAGRAPH, 0),
    ]


def test_a_word_written_up_the_margin_is_no_heading() -> None:
    lines = [*column(["running text of the page, line after line"] * 4, 100, 100)]
    margin = Line("DSKJLSW7X2PROD", Box(20, 90, 34, 220), 0.9)
    blocks = blocks_of([*lines, margin], SAME)
    assert "DSKJLSW7X2PROD" in text_of(blocks)
    assert not [block for block in blocks if block.type is BlockType.HEADING]


def test_a_heading_over_two_lines_is_one_block() -> None:
    title = [line("A Title over", 100, 50, height=44), line("two lines", 100, 100, height=44)]
    blocks = blocks_of(title + column([PROSE] * 6, 100, 200), SAME)
    assert (blocks[0].type, blocks[0].text) == (BlockType.HEADING, "A Title over\ntwo lines")


def test_a_tall_sentence_is_no_heading() -> None:
    page = [line("this goes on in the text below,", 100, 50, height=30), *column([PROSE] * 6, 100, 100)]
    assert blocks_of(page, SAME)[0].type is BlockType.PARAGRAPH


def test_list_items_are_blocks_of_their_own_and_keep_their_lines() -> None:
    page = [
        line("• the first item, which is long enough to need", 100, 100, width=600),
        line("a second line", 118, 126),
        line("• the second item", 100, 152),
        line("3. numbered", 100, 178),
    ]
    blocks = blocks_of(page, SAME)
    assert [block.type for block in blocks] == [BlockType.LIST] * 3
    assert blocks[0].text.endswith("\na second line")


def test_boxes_are_in_page_points() -> None:
    (block,) = blocks_of([Line("word", Box(100, 200, 300, 220), 0.5)], Transform.scale(0.5, 0.5))
    assert block.box == Box(50, 100, 150, 110)
    assert block.confidence == 0.5


def test_confidence_is_the_mean_over_characters() -> None:
    page = [Line("aaaaaaaa", Box(0, 0, 80, 20), 1.0), Line("bb", Box(0, 24, 20, 44), 0.5)]
    (block,) = blocks_of(page, SAME)
    assert block.confidence is not None
    assert abs(block.confidence - 0.9) < 1e-9


def test_the_text_of_a_page_parts_its_blocks_by_an_empty_line() -> None:
    page = column([PROSE], 100, 100) + column([PROSE], 100, 200)
    assert text_of(blocks_of(page, SAME)) == f"{PROSE}\n\n{PROSE}"


def test_lines_of_a_bent_page_are_read_one_by_one_though_their_boxes_overlap() -> None:
    lines = [Line(f"line {n} of the bent page", Box(100, 34 * n, 900, 34 * n + 90)) for n in range(10)]
    assert texts_of(lines)[0].splitlines()[:3] == [f"line {n} of the bent page" for n in range(3)]
