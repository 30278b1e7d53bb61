import pytest

from models.geometry import Box, Transform

TURN = Transform(0, 1, -1, 0, 40, 0)
HALF = Transform.scale(0.5, 0.25)


def test_one_map_after_another_is_one_map() -> None:
    both = HALF.after(TURN)
    for x, y in ((0, 0), (3, 7), (40, 30)):
        assert both.point(x, y) == pytest.approx(HALF.point(*TURN.point(x, y)))


def test_the_order_of_maps_matters() -> None:
    assert HALF.after(TURN) != TURN.after(HALF)


def test_a_map_after_its_inverse_changes_nothing() -> None:
    assert HALF.after(HALF.inverse()).point(12, 34) == pytest.approx((12, 34))
    assert TURN.after(TURN.inverse()).box(Box(1, 2, 3, 4)) == pytest.approx(Box(1, 2, 3, 4))


def test_a_flat_map_has_no_inverse() -> None:
    with pytest.raises(ZeroDivisionError):
        Transform.scale(1, 0).inverse()


def test_a_turned_box_is_upright_again() -> None:
    assert TURN.box(Box(0, 0, 10, 20)) == Box(20, 0, 40, 10)


def test_the_box_around_two_is_the_smallest_that_holds_both() -> None:
    assert Box.around([Box(0, 5, 10, 20), Box(3, 0, 12, 9)]) == Box(0, 0, 12, 20)
