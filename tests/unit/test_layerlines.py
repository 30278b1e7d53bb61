from models.geometry import Box, Transform
from models.page import Word
from tasks.work.layerlines import lines_of, printed

HALF = Transform.scale(0.5, 0.5)


def _words(text: str, x: float = 10, y: float = 10, *, gap: float = 3, line: int = 0) -> list[Word]:
    words = []
    for part in text.split():
        words.append(Word(part, Box(x, y, x + 6 * len(part), y + 12), 0, line))
        x += 6 * len(part) + gap
    return words


def test_words_of_a_line_are_joined_and_their_box_is_in_pixels() -> None:
    (line,) = lines_of(_words("two words"), HALF)
    assert line.text == "two words"
    assert line.box == Box(20, 20, 20 + 2 * 51, 44)


def test_cells_that_the_file_calls_one_line_are_kept_apart() -> None:
    cells = lines_of([*_words("Long Gun", 10), *_words("22,650", 90)], HALF)
    assert [cell.text for cell in cells] == ["Long Gun", "22,650"]


def test_lines_of_the_file_are_kept_apart_even_when_near() -> None:
    lines = lines_of([*_words("above"), *_words("below", y=23, line=1)], HALF)
    assert len(lines) == 2


def test_chinese_words_are_joined_without_a_space() -> None:
    assert lines_of(_words("安装 介质", gap=0), HALF)[0].text == "安装介质"


def test_arabic_words_follow_one_another_to_the_left() -> None:
    words = [
        Word("كان", Box(100, 10, 118, 22)),
        Word(".", Box(95, 10, 98, 22)),
        Word("أبو", Box(70, 10, 90, 22)),
    ]
    assert lines_of(words, HALF)[0].text == "كان . أبو"


def test_upright_signs_become_one_line_per_column() -> None:
    signs = [
        Word(sign, Box(x, 10 + 10 * row, x + 10, 20 + 10 * row), block, row)
        for block, (x, text) in enumerate([(50, "春は曙"), (30, "白く、")])
        for row, sign in enumerate(text)
    ]
    assert [line.text for line in lines_of(signs, HALF)] == ["春は曙", "白く、"]


def test_words_without_a_sign_off_the_page_or_drawn_twice_are_not_printed() -> None:
    word = Word("bold", Box(10, 10, 40, 22))
    again = Word("bold", Box(10.2, 10, 40.2, 22))
    words = [word, again, Word("\u3000", Box(50, 10, 60, 22)), Word("gone", Box(10, 900, 40, 912))]
    assert [each.text for each in printed(words, 595, 842)] == ["bold"]


def test_a_sign_of_a_symbol_font_is_a_bullet() -> None:
    assert printed([Word("\uf0b7", Box(10, 10, 16, 22))], 595, 842)[0].text == "•"


def test_control_characters_are_cleaned_away() -> None:
    assert printed([Word("a\x00b", Box(10, 10, 16, 22))], 595, 842)[0].text == "ab"
