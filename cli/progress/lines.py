"""Progress in words: what both displays say."""

from cli.progress.pace import Pace
from cli.words import duration, plural
from models.progress import Progress, RecentFailure, StageProgress
from models.stage import Stage
from models.text import printable

UNITS = {Stage.SPLIT: "document", Stage.PREPROCESS: "page", Stage.OCR: "page", Stage.LOAD: "document"}


def head(progress: Progress) -> str:
    """What the run has met so far."""
    parts = [plural(progress.documents, "document")]
    if progress.refused:
        parts.append(f"{progress.refused} refused")
    if progress.problems:
        parts.append(f"{plural(progress.problems, 'path')} passed over")
    return ", ".join(parts)


def line(progress: Progress, pace: Pace) -> str:
    """Everything in one line."""
    stages = ", ".join(_stage(stage) for stage in progress.stages if stage.total)
    rate = pace.rate(Stage.OCR)
    speed = f"; {rate:.2f} pages/s" if rate else ""
    left = left_over(progress, pace)
    return f"{head(progress)}: {stages or 'nothing to do yet'}{speed}{f', {left} left' if left else ''}"


def left_over(progress: Progress, pace: Pace) -> str:
    """Time left for what is known so far; empty while unknown.

    While pages are to be read, reading them decides: all other stages overlap with it.
    """
    left = {stage.stage: stage for stage in progress.stages if stage.left}
    decides = left.get(Stage.OCR) or left.get(Stage.LOAD) or left.get(Stage.SPLIT)
    seconds = pace.seconds_left(decides) if decides else None
    return duration(seconds) if seconds else ""


def failure_line(failure: RecentFailure) -> str:
    """One failure."""
    page = f", page {failure.page_no}" if failure.page_no else ""
    return f"failed: {short_name(failure.name)}{page}: {printable(failure.message)} ({failure.code})"


def short_name(uri: str) -> str:
    """A source's name without its folder."""
    return printable(uri.rstrip("/").rpartition("/")[2] or uri)


def _stage(stage: StageProgress) -> str:
    failed = f" ({stage.failed} failed)" if stage.failed else ""
    unit = UNITS[stage.stage]
    return f"{stage.stage} {stage.done}/{plural(stage.total, unit)}{failed}"
