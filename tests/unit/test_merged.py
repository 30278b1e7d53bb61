from collections.abc import Sequence

from PIL import Image

from models.geometry import Box
from tasks.work.layerink import Grey, grey_of
from tasks.work.lines import Line
from tasks.work.merged import take_apart
from tests.unit.boxes import PITCH, column, line, turned, words_of

LEFT = [f"L{n} is a line of the left column" for n in range(12)]
RIGHT = [f"R{n} is a line of the right column" for n in range(12)]
X = (100.0, 444.0)


def _page(merged: Sequence[int]) -> list[Line]:
    """Two columns 14 pixels apart; the rows named are read as one line."""
    lines = column(LEFT, X[0], 100, width=330) + column(RIGHT, X[1], 100, width=330)
    for row in merged:
        pair = [each for each in lines if each.box.y0 == 100 + row * PITCH]
        lines = [each for each in lines if each not in pair]
        box = Box.around(one.box for one in pair)
        lines.append(Line(f"{pair[0].text} {pair[1].text}", box, 0.9))
    return lines


def ragged(name: str, row: int, x: float) -> list[Line]:
    """One line of a column, of a length of its own."""
    return [line(name, x, 100 + row * PITCH, width=330 - 12 * (row % 6))]


def _printed(*, gutter: bool = True) -> Grey:
    """The picture: black strokes where letters are, white in the gutter."""
    picture = Image.new("L", (900, 600), 255)
    for x in range(100, 774, 5):
        if not gutter or not 428 <= x <= 444:
            picture.paste(0, (x, 90, x + 3, 500))
    return grey_of(picture)


def test_a_line_over_a_white_gutter_is_cut_into_its_two_columns() -> None:
    pieces = take_apart(_page(merged=[4, 5, 6]), _printed())
    assert sorted(each.text for each in pieces) == sorted(LEFT + RIGHT)


def test_after_the_cut_columns_are_read_one_after_the_other() -> None:
    words = words_of(take_apart(_page(merged=[4, 5, 6]), _printed()))
    marks = [word for word in words if word[1:].isdigit()]
    assert marks == [f"L{n}" for n in range(12)] + [f"R{n}" for n in range(12)]


def test_pieces_end_where_the_white_begins() -> None:
    left, right = [
        each for each in take_apart(_page(merged=[4]), _printed()) if each.box.y0 == 100 + 4 * PITCH
    ]
    assert left.box.x1 <= 444 <= right.box.x0 + 3
    assert (left.box.x0, right.box.x1) == (100.0, 774.0)


def test_a_heading_with_ink_over_the_gutter_stays_whole() -> None:
    page = _page(merged=[4])
    assert take_apart(page, _printed(gutter=False)) == page


def test_without_a_gutter_shown_by_other_lines_nothing_is_cut() -> None:
    page = column(["one column of text over the whole width of it"] * 8, 100, 100, width=674)
    assert take_apart(page, _printed()) == page


def test_a_skewed_page_is_not_cut() -> None:
    page = [each for row in range(12) for each in (*ragged("L", row, X[0]), *ragged("R", row, X[1]))]
    straight = [*page, line("x" * 32 + " " + "y" * 32, X[0], 100 + 12 * PITCH, width=674)]
    assert len(take_apart(straight, _printed())) == len(straight) + 1
    skewed = turned(straight, 0.6)
    assert take_apart(skewed, _printed()) == skewed


def test_a_line_without_a_space_near_the_gutter_stays_whole() -> None:
    page = [*_page(merged=[]), line("x" * 60, 100, 420, width=674)]
    assert take_apart(page, _printed())[-1].text == "x" * 60


def test_no_line_is_lost_at_the_edge_of_the_picture() -> None:
    page = [*_page(merged=[3]), Line("beyond the picture and more", Box(100, 590, 774, 640))]
    texts = " ".join(each.text for each in take_apart(page, _printed()))
    assert sorted(texts.split()) == sorted(" ".join(each.text for each in page).split())
