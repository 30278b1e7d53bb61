import pytest

from models.geometry import Box
from tasks.work.lines import Line, Placed, frame_of, is_wide, join, rows_of, typical_height, width_of


def _placed(text: str, x: float, y: float, width: float = 100, height: float = 20) -> Placed:
    box = Box(x, y, x + width, y + height)
    return Placed(Line(text, box), box)


def _texts(items: list[Placed]) -> list[list[str]]:
    return [[item.text for item in row] for row in rows_of(items)]


def test_pieces_on_one_level_are_a_row_from_left_to_right() -> None:
    assert _texts([_placed("b", 200, 12), _placed("a", 50, 10), _placed("c", 350, 8)]) == [["a", "b", "c"]]


def test_rows_come_from_top_to_bottom() -> None:
    assert _texts([_placed("second", 50, 40), _placed("first", 50, 10)]) == [["first"], ["second"]]


def test_pieces_over_one_another_are_never_one_row() -> None:
    assert _texts([_placed("over", 50, 10), _placed("under", 60, 17)]) == [["over"], ["under"]]


def test_a_tall_sign_does_not_swallow_the_rows_beside_it() -> None:
    bracket = _placed("{", 20, 10, width=10, height=90)
    rows = _texts([bracket, _placed("one", 50, 10), _placed("two", 50, 40), _placed("three", 50, 70)])
    assert ["one"] in rows
    assert ["three"] in rows


def test_rows_slightly_askew_stay_together() -> None:
    assert _texts([_placed("a", 0, 10), _placed("b", 150, 14), _placed("c", 300, 17)]) == [["a", "b", "c"]]


def test_no_pieces_are_no_rows() -> None:
    assert rows_of([]) == []
    assert typical_height([]) == 1.0


def test_the_typical_height_is_the_median_and_at_least_a_pixel() -> None:
    assert typical_height([_placed("a", 0, 0, height=h) for h in (10, 20, 90)]) == 20
    assert typical_height([_placed("a", 0, 0, height=0)]) == 1.0


def test_the_frame_of_pieces_is_around_all_of_them() -> None:
    assert frame_of([_placed("a", 0, 0), _placed("b", 200, 50)]) == Box(0, 0, 300, 70)


@pytest.mark.parametrize(
    ("pieces", "joined"),
    [
        (["two", "words"], "two words"),
        (["安装", "介质"], "安装介质"),
        (["安装", "Debian", "系统"], "安装 Debian 系统"),
        (["结束。", "开始"], "结束。开始"),
        (["カタ", "カナ"], "カタカナ"),
        (["한국어", "문장"], "한국어 문장"),
        (["", "word", ""], "word"),
        ([], ""),
    ],
)
def test_a_separator_stands_between_all_but_signs_of_chinese_and_japanese(
    pieces: list[str], joined: str
) -> None:
    assert join(pieces, " ") == joined


def test_wide_signs_count_as_two_letters() -> None:
    assert width_of("ab安装。") == 8
    assert [char for char in "a安あ。（한1" if is_wide(char)] == ["安", "あ", "。", "（", "한"]
