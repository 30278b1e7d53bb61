"""The two displays."""

import time
from collections.abc import Callable
from typing import Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.text import Text

from cli.output import table
from cli.progress.lines import failure_line, head, line
from cli.progress.pace import Pace
from cli.words import duration
from models.progress import Progress, StageProgress

_FAILURES_SHOWN = 5
_BAR_WIDTH = 30
_LINE_EVERY_S = 5.0
_NUMBERS = frozenset({"done", "failed", "per second", "left"})


class Display(Protocol):
    """Shows snapshots of a run, one after the other."""

    def show(self, progress: Progress) -> None:
        """The run stands like this now."""
        ...

    def say(self, text: str) -> None:
        """A line between the snapshots."""
        ...

    def close(self) -> None:
        """Leave the terminal as it should stay."""
        ...


def open_display(out: Console) -> Display:
    """A live table where `out` is a terminal, plain lines elsewhere."""
    return LiveDisplay(out) if out.is_terminal else PlainDisplay(out)


class PlainDisplay:
    """A line at most every five seconds, and one for each failure."""

    def __init__(self, out: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._out, self._clock = out, clock
        self._pace = Pace()
        self._told: set[int] = set()
        self._last, self._next_at = "", 0.0

    def show(self, progress: Progress) -> None:
        """Print what is new."""
        now = self._clock()
        self._pace.note(now, progress)
        for failure in reversed(progress.failures):
            if failure.claim_id not in self._told:
                self._told.add(failure.claim_id)
                self.say(failure_line(failure))
        text = line(progress, self._pace)
        if now >= self._next_at and text != self._last and progress.documents:
            self._last, self._next_at = text, now + _LINE_EVERY_S
            self.say(text)

    def say(self, text: str) -> None:
        """Print a line."""
        self._out.print(text, soft_wrap=True)

    def close(self) -> None:
        """Nothing to put back."""


class LiveDisplay:
    """A table that is drawn anew in its place, the last failures under it."""

    def __init__(self, out: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pace = Pace()
        self._live = Live(Text("Starting…"), console=out, auto_refresh=False, transient=True)
        self._live.start(refresh=True)

    def show(self, progress: Progress) -> None:
        """Draw the table."""
        self._pace.note(self._clock(), progress)
        self._live.update(drawn(progress, self._pace), refresh=True)

    def say(self, text: str) -> None:
        """Print a line above the table."""
        self._live.console.print(text)

    def close(self) -> None:
        """Take the table away: the summary follows."""
        self._live.stop()


def drawn(progress: Progress, pace: Pace) -> RenderableType:
    """Stages with bars, speed and time left; under them the last failures."""
    shown = table("stage", "", "done", "failed", "per second", "left", numbers=_NUMBERS)
    for stage in progress.stages:
        rate, left = pace.rate(stage.stage), pace.seconds_left(stage)
        shown.add_row(
            stage.stage.value,
            _bar(stage),
            f"{stage.done:,}/{stage.total:,}",
            Text(str(stage.failed), style="red") if stage.failed else "",
            f"{rate:.2f}" if rate else "",
            duration(left) if left else "",
        )
    failures = [Text(failure_line(one), style="red") for one in progress.failures[:_FAILURES_SHOWN]]
    return Group(Text(head(progress), style="bold"), shown, *reversed(failures))


def _bar(stage: StageProgress) -> ProgressBar:
    return ProgressBar(total=max(stage.total, 1), completed=stage.done + stage.failed, width=_BAR_WIDTH)
