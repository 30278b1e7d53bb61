"""What holds for any page, however odd its boxes."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models.geometry import Box, Transform
from models.reading import BlockType
from tasks.work.layout import blocks_of, text_of
from tasks.work.lines import Line, Placed, rows_of
from tests.unit.boxes import SAME

_words = st.text(st.sampled_from("abcXYZ019.•-安装あアم"), min_size=1, max_size=12)


@st.composite
def _lines(draw: st.DrawFn) -> Line:
    x, y = draw(st.integers(0, 1000)), draw(st.integers(0, 1400))
    width, height = draw(st.integers(1, 900)), draw(st.integers(1, 60))
    return Line(draw(_words), Box(x, y, x + width, y + height), draw(st.sampled_from([None, 0.5, 1.0])))


_pages = st.lists(_lines(), max_size=40)
_few = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


def _chars(text: str) -> Counter[str]:
    return Counter("".join(text.split()))


@pytest.mark.slow
@given(_pages)
@_few
def test_no_character_is_lost_or_doubled(page: list[Line]) -> None:
    assert _chars(text_of(blocks_of(page, SAME))) == _chars("".join(line.text for line in page))


@pytest.mark.slow
@given(_pages, st.randoms(use_true_random=False))
@_few
def test_the_order_of_the_lines_does_not_matter(page: list[Line], random: "st.Random") -> None:  # type: ignore[name-defined]
    shuffled = random.sample(page, len(page))
    assert text_of(blocks_of(shuffled, SAME)) == text_of(blocks_of(page, SAME))


@pytest.mark.slow
@given(_pages)
@_few
def test_tables_are_rectangular_and_their_text_is_their_cells(page: list[Line]) -> None:
    for block in blocks_of(page, SAME):
        if block.type is BlockType.TABLE:
            assert len({len(row) for row in block.rows}) == 1
            assert block.text == "\n".join("\t".join(row) for row in block.rows)
        else:
            assert block.rows == ()


@pytest.mark.slow
@given(_pages)
@_few
def test_blocks_lie_within_the_page_s_lines_and_headings_alone_have_levels(page: list[Line]) -> None:
    for block in blocks_of(page, Transform.scale(0.5, 0.5)):
        assert block.box is not None
        assert block.box.x0 >= min(line.box.x0 for line in page) / 2
        assert block.box.y1 <= max(line.box.y1 for line in page) / 2
        assert (block.level in {1, 2, 3}) == (block.type is BlockType.HEADING)
        assert block.confidence is None or 0.5 <= block.confidence <= 1.0


@pytest.mark.slow
@given(_pages)
@_few
def test_rows_hold_every_piece_once_and_none_over_another(page: list[Line]) -> None:
    rows = rows_of([Placed(line, line.box) for line in page])
    assert Counter(item.line for row in rows for item in row) == Counter(page)
    for row in rows:
        assert [item.frame.x0 for item in row] == sorted(item.frame.x0 for item in row)
