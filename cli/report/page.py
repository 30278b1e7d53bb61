"""A run's report as HTML: everything escaped, no script, nothing loaded from elsewhere."""

from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from cli.words import duration, plural
from models.document import DocumentStatus
from models.notes import REPAIRS
from models.review import PageToReview
from models.run_report import RunReport
from models.text import printable
from tasks.work.checks import CHECKS, DOCUMENT_CHECKS

_ABOUT = {check.code: check.about for check in (*CHECKS, *DOCUMENT_CHECKS)}
_REMEDIES = {check.code: check.remedy for check in (*CHECKS, *DOCUMENT_CHECKS)} | {
    "file-repaired": "copy the file again from where it came; accept the page if it is really blank"
}
_READ_AGAIN = "read it again, or write its text yourself"


@dataclass(frozen=True, slots=True)
class Bar:
    """A row of a bar chart."""

    label: str
    about: str
    share: float
    """Of the longest, 0 to 1."""
    cells: tuple[str, ...]
    kind: str = "time"
    """Decides the colour: time, error, warning, info."""


@dataclass(frozen=True, slots=True)
class Card:
    """A page with its picture beside its text."""

    page: PageToReview
    name: str
    picture: str
    """A data URL; empty: there is none any more."""
    remedies: tuple[str, ...]


def render(report: RunReport, pictures: dict[str, str]) -> str:
    """The whole file. `pictures` are data URLs by the page's name, `12:3`."""
    summary = report.summary
    return _template().render(
        report=report,
        run=summary.run,
        statuses=_statuses(report),
        took=_took(report),
        stages=_stage_bars(report),
        findings=_finding_bars(report),
        cards=[_card(page, pictures.get(page.page, "")) for page in report.worst],
        plural=plural,
        printable=printable,
    )


@cache
def _template() -> Template:
    folder = FileSystemLoader(Path(__file__).parent)
    made = Environment(loader=folder, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    made.lstrip_blocks = True
    return made.get_template("report.html.j2")


def _statuses(report: RunReport) -> list[tuple[str, str, int]]:
    """Word, class and number of documents, in the order of the statuses."""
    counts = Counter(document.status for document in report.summary.documents)
    return [
        (status.value.replace("_", " "), status.value, counts[status])
        for status in DocumentStatus
        if counts[status]
    ]


def _took(report: RunReport) -> str:
    run = report.summary.run
    return duration((run.ended_at - run.started_at).total_seconds()) if run.ended_at else "not ended"


def _stage_bars(report: RunReport) -> list[Bar]:
    longest = max((stage.seconds for stage in report.stages), default=0.0) or 1.0
    return [
        Bar(
            label=stage.stage.value,
            about="",
            share=stage.seconds / longest,
            cells=(
                duration(stage.seconds),
                duration(stage.wall_s),
                f"{stage.documents:,}",
                f"{stage.pages:,}",
                f"{stage.cached:,}",
                _a_page(stage.seconds, stage.pages - stage.cached),
                f"{stage.retries:,}",
            ),
        )
        for stage in report.stages
    ]


def _a_page(seconds: float, pages: int) -> str:
    return f"{seconds / pages:.2f} s" if pages > 0 else ""


def _finding_bars(report: RunReport) -> list[Bar]:
    most = max((found.pages for found in report.findings), default=1)
    return [
        Bar(
            label=found.code,
            about=_ABOUT.get(found.code, "an answer that was mended" if found.code in REPAIRS else ""),
            share=found.pages / most,
            cells=(found.severity.value, f"{found.pages:,}", f"{found.documents:,}"),
            kind=found.severity.value,
        )
        for found in report.findings
    ]


def _card(page: PageToReview, picture: str) -> Card:
    codes = dict.fromkeys((page.code, *(finding.code for finding in page.findings)))
    remedies = dict.fromkeys(_REMEDIES[code] for code in codes if code in _REMEDIES)
    name = printable(page.name.rsplit("/", 1)[-1]) or f"document {page.document_id}"
    return Card(page, name, picture, tuple(remedies) or (_READ_AGAIN,))
