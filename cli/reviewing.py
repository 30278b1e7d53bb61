"""pagemill review: pages that wait for a person, and what was decided."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from rich.console import Console
from rich.text import Text

from cli.output import console, print_json, table
from cli.session import connected
from cli.views import picture_path
from cli.words import plural, verdict_text
from db import documents, review
from models.review import PageRef, PageToReview, ReviewAction, ReviewQuery, Try
from models.settings import Settings


@dataclass(frozen=True, slots=True)
class WaitingReport:
    """What `pagemill review --json` prints."""

    pages: tuple[PageToReview, ...]
    total: int
    """Pages that wait, listed or not."""


def waiting(settings: Settings, query: ReviewQuery) -> WaitingReport:
    """Pages that wait for a person, with the paths of their pictures where these are still there."""
    with connected(settings) as connection:
        pages, total = review.waiting(connection, query)
    return WaitingReport(tuple(_with_picture(page, settings) for page in pages), total)


def show_waiting(settings: Settings, refs: Sequence[str], limit: int, *, as_json: bool) -> None:
    """Print the pages that wait. Raises ConfigurationError (not-found)."""
    query = ReviewQuery(documents=_ids(settings, refs), limit=limit)
    report = waiting(settings, query)
    if as_json:
        print_json(report)
    else:
        print_waiting(console(), report)


def print_waiting(out: Console, report: WaitingReport) -> None:
    """Page, verdict and reason on one line; picture and tries under it."""
    if not report.pages:
        out.print("No page waits for a person.")
        return
    for page in report.pages:
        name = PurePath(page.name).name
        out.print(
            Text.assemble((page.page, "bold"), "  ", verdict_text(page.verdict), f"  {name}: {_why(page)}")
        )
        if page.picture:
            out.print(f"    {page.picture}", soft_wrap=True)
        if page.tries:
            out.print(f"    tried: {'; '.join(map(_told, page.tries))}", soft_wrap=True)
    more = report.total - len(report.pages)
    out.print(f"\n{plural(report.total, 'page')} to look at{f', {more:,} more than shown' if more else ''}.")
    out.print("Next: pagemill review accept PAGE   retry PAGE   edit PAGE FILE   ignore PAGE")


def show_history(settings: Settings, refs: Sequence[str], limit: int, *, as_json: bool) -> None:
    """Print what was decided. Raises ConfigurationError (not-found)."""
    ids = _ids(settings, refs)
    with connected(settings) as connection:
        actions = review.history(connection, ids, limit)
    if as_json:
        print_json(actions)
    elif not actions:
        console().print("Nothing was decided yet.")
    else:
        print_history(console(), actions)


def print_history(out: Console, actions: Sequence[ReviewAction]) -> None:
    """A line for each decision."""
    shown = table("at", "page", "action", "person", "note")
    for one in actions:
        page = str(PageRef(one.document_id, one.page_no))
        shown.add_row(f"{one.at:%Y-%m-%d %H:%M:%S}Z", page, one.action.value, one.person, one.note)
    out.print(shown)


def _with_picture(page: PageToReview, settings: Settings) -> PageToReview:
    return replace(page, picture=picture_path(settings, page.image_sha256, page.image_suffix))


def _why(page: PageToReview) -> str:
    also = [finding.code for finding in page.findings if finding.severity == page.severity]
    more = ", ".join(code for code in dict.fromkeys(also) if code != page.code)
    return f"{page.message} ({page.code}{f', {more}' if more else ''})"


def _told(one: Try) -> str:
    codes = f" ({', '.join(one.codes)})" if one.codes else ""
    return f"{one.number} {one.profile} {one.rung or 'first'}: {one.verdict}{codes}"


def _ids(settings: Settings, refs: Sequence[str]) -> tuple[int, ...]:
    if not refs:
        return ()
    with connected(settings) as connection:
        return tuple(sorted({documents.get(connection, ref).id for ref in refs}))
