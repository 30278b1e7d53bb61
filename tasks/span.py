"""Lanes whose task runs go on from batch to batch: few task runs, however few claims come at once."""

from dataclasses import dataclass

from models.claim import Claim
from models.stage import Stage
from tasks.drain import IsOver, Line, Shift
from tasks.mill import Mill
from tasks.policies import StageTask, perform, stage_task


@dataclass(frozen=True, slots=True)
class Span:
    """A line of which a task run works about `limit` claims, in the batches that they come in.

    For stages whose work trickles in, as documents do whose last page has just been read: with a task run for
    each batch, most of these would hold a single document.
    """

    line: Line
    limit: int

    @property
    def stage(self) -> Stage:
        """The line's."""
        return self.line.stage

    @property
    def lanes(self) -> int:
        """The line's."""
        return self.line.lanes

    def run(self, mill: Mill, is_over: IsOver, deadline: float) -> None:
        """As tasks.drain.Lane says."""
        shift = Shift(self.line, mill, is_over, deadline)

        def begin(mill: Mill, claims: list[Claim]) -> None:
            perform(_TASKS[self.stage], mill, claims, shift, self)

        with mill.bells.listening(self.stage, shift.wake):
            while shift.goes_on:
                shift.turn(begin)


def work_on(mill: Mill, claims: list[Claim], shift: Shift, span: Span) -> int:
    """Work `claims` off, and what comes after them, until it is much or nothing is left; says how many."""
    before = shift.count
    span.line.work(mill, claims)
    while shift.goes_on and shift.count - before < span.limit - len(claims):
        shift.turn(span.line.work)
    return len(claims) + shift.count - before


_TASKS: dict[Stage, StageTask[[Mill, list[Claim], Shift, Span], int]] = {
    stage: stage_task(stage)(work_on) for stage in (Stage.VALIDATE, Stage.LOAD)
}
