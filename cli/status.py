"""pagemill status: where documents stand."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table

from cli.output import console, print_json, table
from cli.session import connected
from cli.showing import print_facts, print_pages
from cli.views import called, view_of
from cli.words import by_status, plural, status_text
from db import documents, runs
from models.document import Document
from models.report import PageReport
from models.settings import Settings
from models.stage import Outcome
from models.verdict import Verdict

_BROKEN_OFF = {
    Outcome.CANCELLED: "was cancelled; what it left waits for the next one",
    Outcome.FAILED: "failed",
}


@dataclass(frozen=True, slots=True)
class PageStatus:
    """Where a page stands; its text is for `show`."""

    page_no: int
    verdict: Verdict | None
    code: str | None
    message: str | None
    findings: tuple[str, ...]
    """Codes."""
    seconds: float


@dataclass(frozen=True, slots=True)
class StatusReport:
    """Where a document and its pages stand."""

    document: Document
    profile: str | None
    pages: tuple[PageStatus, ...]


def show_status(settings: Settings, ref: str | None, *, as_json: bool) -> None:
    """Print all documents, or one with its pages. Raises ConfigurationError (not-found)."""
    if ref is not None:
        _show_one(settings, ref, as_json=as_json)
        return
    with connected(settings) as connection:
        found, last = documents.listing(connection), runs.last_ended(connection)
    if as_json:
        print_json(found)
    elif found:
        console().print(listing(found))
        console().print(f"\n{counted(found)}")
        if last and last.outcome in _BROKEN_OFF:
            console().print(f"The last run, {last.kind} {last.id}, {_BROKEN_OFF[last.outcome]}.")
    else:
        console().print("The knowledge base is empty. Try: pagemill ingest FOLDER")


def listing(found: Sequence[Document]) -> Table:
    """A line for each document, those with a reason followed by it."""
    shown = table("id", "document", "pages", "status", "reason", numbers=frozenset({"id", "pages"}))
    for document in found:
        shown.add_row(
            str(document.id),
            called(document),
            "" if document.page_count is None else str(document.page_count),
            status_text(document.status),
            _reason(document),
        )
    return shown


def _reason(document: Document) -> str:
    if document.code:
        return f"{document.message} ({document.code})"
    return "file gone or replaced" if document.is_gone else ""


def counted(found: Sequence[Document]) -> str:
    """How many documents there are of each status."""
    return f"{plural(len(found), 'document')}: {by_status([document.status for document in found])}"


def _show_one(settings: Settings, ref: str, *, as_json: bool) -> None:
    with connected(settings) as connection:
        view = view_of(connection, ref)
    if as_json:
        pages = tuple(_page_status(page) for page in view.pages)
        print_json(StatusReport(view.document, view.profile, pages))
    else:
        print_facts(view)
        print_pages(view)


def _page_status(page: PageReport) -> PageStatus:
    codes = tuple(finding.code for finding in page.findings)
    return PageStatus(page.page_no, page.verdict, page.code, page.message, codes, page.seconds)
