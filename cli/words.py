"""Statuses and verdicts as people see them."""

from collections.abc import Sequence

from rich.text import Text

from models.document import DocumentStatus
from models.verdict import Severity, Verdict

_STATUS_STYLES = {
    DocumentStatus.PENDING: "dim",
    DocumentStatus.COMPLETE: "green",
    DocumentStatus.PARTIAL: "yellow",
    DocumentStatus.NEEDS_REVIEW: "yellow",
    DocumentStatus.REJECTED: "red",
    DocumentStatus.FAILED: "red",
}
_VERDICT_STYLES = {
    Verdict.GOOD: "green",
    Verdict.REPAIRED: "green",
    Verdict.SUSPECT: "yellow",
    Verdict.BAD: "red",
    Verdict.BLANK: "dim",
    Verdict.SKIPPED: "dim",
}
_SEVERITY_STYLES = {Severity.INFO: "dim", Severity.WARNING: "yellow", Severity.ERROR: "red"}


def status_text(status: DocumentStatus) -> Text:
    """A status in its colour."""
    return Text(status.value.replace("_", " "), style=_STATUS_STYLES[status])


def verdict_text(verdict: Verdict | None) -> Text:
    """A verdict in its colour."""
    return (
        Text("not read yet", style="dim")
        if verdict is None
        else Text(verdict.value, _VERDICT_STYLES[verdict])
    )


def severity_text(severity: Severity) -> Text:
    """A severity in its colour."""
    return Text(severity.value, style=_SEVERITY_STYLES[severity])


def by_status(statuses: Sequence[DocumentStatus]) -> str:
    """`2 complete, 1 rejected`, in the order of DocumentStatus."""
    return ", ".join(
        f"{statuses.count(status)} {status.value.replace('_', ' ')}"
        for status in DocumentStatus
        if status in statuses
    )


def plural(number: int, word: str) -> str:
    """`1 page`, `2 pages`, `1,000 pages`."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """Seconds as a person says them: 0.4 s, 12 s, 3 min 05 s, 2 h 10 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"
