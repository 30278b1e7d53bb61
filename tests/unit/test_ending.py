"""The end of a drain: asked about once for all lanes, and heard by all of them."""

import pytest

from models.errors import DatabaseBusy
from models.stage import Stage
from tasks.bells import Bells
from tasks.drain import Ending


class Asked:
    """A question that is answered by a script and counts how often it was asked."""

    def __init__(self, *answers: bool | Exception) -> None:
        self._answers = iter(answers)
        self.times = 0

    def __call__(self) -> bool:
        self.times += 1
        answer = next(self._answers)
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_lanes_that_are_idle_at_once_ask_the_ledger_once() -> None:
    asked = Asked(False)
    ending = Ending(Bells(), asked)
    assert [ending() for _ in range(5)] == [False] * 5
    assert asked.times == 1


def test_work_of_this_process_makes_the_question_new() -> None:
    bells, asked = Bells(), Asked(False, True)
    ending = Ending(bells, asked)
    assert not ending()
    bells.worked(Stage.LOAD)
    assert ending()
    assert asked.times == 2


def test_the_question_is_asked_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.drain._ASK_S", 0.0)
    ending = Ending(Bells(), Asked(False, True))
    assert [ending(), ending()] == [False, True]


def test_the_end_wakes_every_lane_once_and_is_not_asked_about_again() -> None:
    bells, asked, woken = Bells(), Asked(True), list[Stage]()
    ending = Ending(bells, asked)
    with (
        bells.listening(Stage.SPLIT, lambda: woken.append(Stage.SPLIT)),
        bells.listening(Stage.LOAD, lambda: woken.append(Stage.LOAD)),
    ):
        assert [ending() for _ in range(3)] == [True] * 3
    assert sorted(woken) == [Stage.LOAD, Stage.SPLIT]
    assert asked.times == 1


def test_a_database_that_is_busy_is_asked_again_at_once() -> None:
    ending = Ending(Bells(), Asked(DatabaseBusy("one moment"), True))
    with pytest.raises(DatabaseBusy):
        ending()
    assert ending()
