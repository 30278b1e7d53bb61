"""What an ingest came to, and what to do next."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli.exits import Exit, exit_of_documents
from cli.output import table
from cli.progress.lines import short_name
from cli.words import by_status, duration, plural, status_text
from models.document import DocumentStatus, ScanProblem
from models.run import Run
from models.summary import DocumentSummary, RunSummary
from models.text import printable
from models.verdict import Verdict

_MOST_ROWS = 60
_WIDTH_FOR_ALL = 110
_SHOWN_ELSEWHERE = frozenset({"verdicts", "seconds"})
"""By 'pagemill show' and 'pagemill timings'."""
_NUMBERS = frozenset({"id", "pages", "seconds"})
_WELL = frozenset({DocumentStatus.COMPLETE, DocumentStatus.NEEDS_REVIEW})
_IGNORED = "ignored-"


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What `pagemill ingest --json` prints."""

    run: Run
    seconds: float
    """From start to end of the run."""
    pages_read: int
    documents: tuple[DocumentSummary, ...]
    problems: tuple[ScanProblem, ...]
    exit_code: int


def report_of(summary: RunSummary, code: Exit) -> IngestReport:
    """The summary as a program gets it."""
    return IngestReport(
        summary.run, _seconds(summary), summary.pages_read, summary.documents, summary.problems, code.value
    )


def exit_of(summary: RunSummary) -> Exit:
    """3 where a document is not in the knowledge base as a whole or a path could not be read, else 0."""
    if unread(summary):
        return Exit.INCOMPLETE
    return exit_of_documents(document.status for document in summary.documents)


def unread(summary: RunSummary) -> list[ScanProblem]:
    """Paths that should have been read; those left out on purpose are none of them."""
    return [problem for problem in summary.problems if not problem.code.startswith(_IGNORED)]


def print_summary(out: Console, summary: RunSummary) -> None:
    """Table, paths that could not be read, counts."""
    shown = _shown(summary.documents)
    if shown:
        out.print(documents_table(shown, out.width))
    if len(shown) < len(summary.documents):
        out.print(f"… and {plural(len(summary.documents) - len(shown), 'more document')}: pagemill status")
    for problem in unread(summary):
        out.print(f"not read: {printable(problem.uri)}: {problem.message} ({problem.code})", soft_wrap=True)
    out.print()
    out.print(counts(summary), soft_wrap=True)


def print_hints(out: Console, summary: RunSummary) -> None:
    """What to type next."""
    for hint in hints(summary):
        out.print(hint, soft_wrap=True)


def documents_table(documents: Sequence[DocumentSummary], width: int) -> Table:
    """A line for each document; what others show as well makes room for names and reasons."""
    rows = list(map(_row, documents))
    names = [name for name in rows[0] if width >= _WIDTH_FOR_ALL or name not in _SHOWN_ELSEWHERE]
    shown = table(*names, numbers=_NUMBERS)
    for row in rows:
        shown.add_row(*(row[name] for name in names))
    return shown


def _row(document: DocumentSummary) -> dict[str, str | Text]:
    """What is known of a document, by column."""
    return {
        "id": str(document.id),
        "document": short_name(document.name),
        "pages": "" if document.page_count is None else str(document.page_count),
        "verdicts": verdicts(document),
        "status": status_text(document.status),
        "seconds": f"{document.seconds:.1f}" if document.seconds else "",
        "reason": f"{document.message} ({document.code})" if document.code else _seen(document),
    }


def verdicts(document: DocumentSummary) -> str:
    """`12 good, 1 blank`, in the order of Verdict."""
    found = document.verdicts
    return ", ".join(f"{found[verdict]} {verdict}" for verdict in Verdict if found.get(verdict))


def counts(summary: RunSummary) -> str:
    """Documents by status, paths left out on purpose, pages read, time."""
    statuses = by_status([document.status for document in summary.documents])
    told = [plural(len(summary.documents), "document") + (f": {statuses}" if statuses else "")]
    passed = len(summary.problems) - len(unread(summary))
    if passed:
        told.append(f"{plural(passed, 'path')} passed over")
    return f"{'; '.join(told)}. {plural(summary.pages_read, 'page')} read in {duration(_seconds(summary))}."


def hints(summary: RunSummary) -> list[str]:
    """What to type next."""
    if not summary.documents:
        return ["No documents were found there."]
    doubtful = [d for d in summary.documents if d.status is DocumentStatus.NEEDS_REVIEW]
    incomplete = [d for d in summary.documents if d.status not in _WELL]
    lines = ["Next: pagemill search 'words to find'   pagemill timings"]
    lines += [f"Not whole, see why: pagemill show {incomplete[0].id}"] if incomplete else []
    lines += [f"Worth a look: pagemill show {doubtful[0].id}"] if doubtful else []
    return lines


def print_interrupted(out: Console, summary: RunSummary, arguments: Sequence[str]) -> None:
    """What is left and how to go on."""
    left = sum(document.status is DocumentStatus.PENDING for document in summary.documents)
    out.print(
        f"Interrupted; {plural(left, 'document')} not finished. Nothing that was read is lost. Go on with:"
    )
    out.print(f"  pagemill {shlex.join(printable(argument) for argument in arguments)}", soft_wrap=True)


def _shown(documents: Sequence[DocumentSummary]) -> list[DocumentSummary]:
    """All of them, or of many only those that want attention."""
    if len(documents) <= _MOST_ROWS:
        return list(documents)
    return [document for document in documents if document.status not in _WELL][:_MOST_ROWS]


def _seen(document: DocumentSummary) -> str:
    is_old = document.seen_as == "known" and not document.seconds
    return "read before" if is_old and document.status is not DocumentStatus.PENDING else ""


def _seconds(summary: RunSummary) -> float:
    ended = summary.run.ended_at
    return (ended - summary.run.started_at).total_seconds() if ended else 0.0
