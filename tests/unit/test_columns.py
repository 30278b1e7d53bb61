from models.geometry import Box
from tasks.work.columns import gutters, regions
from tasks.work.lines import Line, Placed
from tasks.work.tables import Grid


def _column(name: str, x: float, width: float, lines: int, top: float = 0) -> list[Placed]:
    boxes = [Box(x, top + 25 * n, x + width, top + 25 * n + 18) for n in range(lines)]
    return [Placed(Line(f"{name}{n} words", box), box) for n, box in enumerate(boxes)]


def _names(region: "Grid | tuple[Placed, ...]") -> set[str]:
    items = region.items if isinstance(region, Grid) else region
    return {item.text[0] for item in items}


def test_two_columns_have_one_gutter_in_the_middle_between_them() -> None:
    assert gutters(_column("L", 0, 300, 10) + _column("R", 340, 300, 10)) == [320.0]


def test_three_columns_have_two_gutters_from_left_to_right() -> None:
    page = _column("A", 0, 300, 10) + _column("B", 340, 300, 10) + _column("C", 680, 300, 10)
    assert gutters(page) == [320.0, 660.0]


def test_one_column_has_none() -> None:
    assert gutters(_column("A", 0, 600, 10)) == []
    assert gutters([]) == []


def test_regions_are_columns_in_reading_order() -> None:
    found = regions(_column("R", 340, 300, 10) + _column("L", 0, 300, 10))
    assert [_names(region) for region in found] == [{"L"}, {"R"}]


def test_full_width_text_between_columns_is_a_region_in_its_place() -> None:
    page = (
        _column("L", 0, 300, 6)
        + _column("R", 340, 300, 6)
        + _column("W", 0, 640, 3, top=170)
        + _column("l", 0, 300, 6, top=270)
        + _column("r", 340, 300, 6, top=270)
    )
    assert [_names(region) for region in regions(page)] == [{"L"}, {"R"}, {"W"}, {"l"}, {"r"}]


def test_a_short_column_beside_a_long_one_is_read_after_it() -> None:
    found = regions(_column("L", 0, 300, 20) + _column("R", 340, 300, 4, top=200))
    assert [_names(region) for region in found] == [{"L"}, {"R"}]


def test_boxes_drawn_a_little_too_wide_do_not_hide_a_narrow_gutter() -> None:
    left = [
        Placed(p.line, p.frame._replace(x1=p.frame.x1 + n % 3))
        for n, p in enumerate(_column("L", 0, 300, 12))
    ]
    found = regions(left + _column("R", 306, 300, 12))
    assert [_names(region) for region in found] == [{"L"}, {"R"}]


def test_every_line_is_in_one_region() -> None:
    page = _column("A", 0, 300, 10) + _column("B", 340, 90, 10) + _column("C", 500, 40, 7, top=60)
    items = [
        item for region in regions(page) for item in (region.items if isinstance(region, Grid) else region)
    ]
    assert sorted(item.text for item in items) == sorted(item.text for item in page)


def test_no_lines_are_no_regions() -> None:
    assert regions([]) == []
