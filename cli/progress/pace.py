"""How fast stages go and how long they need, from what they had done at times."""

from collections import deque
from dataclasses import dataclass, field

from models.progress import Progress, StageProgress
from models.stage import Stage

_WINDOW_S = 60.0
_LEAST_S = 1.0


@dataclass
class Pace:
    """The last minute of a run. Times are seconds of any steady clock."""

    _seen: deque[tuple[float, dict[Stage, int]]] = field(default_factory=deque)

    def note(self, now: float, progress: Progress) -> None:
        """Remember where the stages stand at `now`."""
        self._seen.append((now, {stage.stage: stage.done + stage.failed for stage in progress.stages}))
        while now - self._seen[0][0] > _WINDOW_S and len(self._seen) > 2:
            self._seen.popleft()

    def rate(self, stage: Stage) -> float:
        """Documents or pages a second over the last minute; 0 while nothing can be said."""
        if len(self._seen) < 2:
            return 0.0
        (start, before), (end, after) = self._seen[0], self._seen[-1]
        if end - start < _LEAST_S:
            return 0.0
        return (after.get(stage, 0) - before.get(stage, 0)) / (end - start)

    def seconds_left(self, progress: StageProgress) -> float | None:
        """Until the stage has done what is known so far; None while nothing can be said."""
        if progress.left == 0:
            return 0.0
        rate = self.rate(progress.stage)
        return progress.left / rate if rate > 0 else None
