"""Bells: who is woken by whose work, and who is not any more."""

import threading
from contextlib import ExitStack
from functools import partial

import pytest

from models.stage import Stage
from tasks.bells import Bells


@pytest.mark.parametrize(
    ("worked", "woken"),
    [
        (Stage.REGISTER, Stage.SPLIT),
        (Stage.SPLIT, Stage.PREPROCESS),
        (Stage.PREPROCESS, Stage.OCR),
        (Stage.OCR, Stage.LOAD),
        (Stage.LOAD, None),
    ],
)
def test_work_of_a_stage_wakes_the_stage_after_it_and_no_other(worked: Stage, woken: Stage | None) -> None:
    bells, rung = Bells(), list[Stage]()
    with ExitStack() as listening:
        for stage in Stage:
            listening.enter_context(bells.listening(stage, partial(rung.append, stage)))
        bells.worked(worked)
    assert rung == ([] if woken is None else [woken])


def test_every_lane_of_a_stage_is_woken_once() -> None:
    bells, rung = Bells(), list[str]()
    with (
        bells.listening(Stage.OCR, lambda: rung.append("first")),
        bells.listening(Stage.OCR, lambda: rung.append("second")),
    ):
        bells.worked(Stage.PREPROCESS)
    assert sorted(rung) == ["first", "second"]


def test_who_listens_no_more_is_not_woken_and_the_others_still_are() -> None:
    bells, rung = Bells(), list[str]()
    with bells.listening(Stage.OCR, lambda: rung.append("stays")):
        with bells.listening(Stage.OCR, lambda: rung.append("leaves")):
            pass
        bells.worked(Stage.PREPROCESS)
    assert rung == ["stays"]


def test_a_lane_that_breaks_down_listens_no_more() -> None:
    bells, rung = Bells(), list[str]()
    with pytest.raises(ValueError, match="broken"), bells.listening(Stage.OCR, lambda: rung.append("heard")):
        raise ValueError("broken")
    bells.worked(Stage.PREPROCESS)
    assert rung == []


def test_who_is_woken_may_begin_to_listen_anew_without_a_deadlock() -> None:
    bells, done = Bells(), threading.Event()

    def wake() -> None:
        with bells.listening(Stage.OCR, done.set):
            done.set()

    def ring() -> None:
        with bells.listening(Stage.OCR, wake):
            bells.worked(Stage.PREPROCESS)

    thread = threading.Thread(target=ring, daemon=True)
    thread.start()
    thread.join(120)
    assert done.is_set()
    assert not thread.is_alive()
