"""pagemill show: a document's facts and pages, or one page with its text."""

from rich.text import Text

from cli.output import console, print_json, table
from cli.session import connected
from cli.views import DocumentView, excuse, view_of, with_pictures
from cli.words import plural, severity_text, status_text, verdict_text
from models.errors import Code, ConfigurationError
from models.report import PageReport
from models.settings import Settings
from models.text import printable


def show_document(settings: Settings, ref: str, page_no: int | None, *, as_json: bool) -> None:
    """Print a document, or its page `page_no`. Raises ConfigurationError (not-found)."""
    with connected(settings) as connection:
        view = with_pictures(view_of(connection, ref), settings)
    if page_no is None:
        if as_json:
            print_json(view)
        else:
            print_facts(view)
            print_pages(view)
        return
    page = page_of(view, page_no)
    if as_json:
        print_json(page)
    else:
        print_page(view, page)


def page_of(view: DocumentView, page_no: int) -> PageReport:
    """Page `page_no`. Raises ConfigurationError (not-found)."""
    for page in view.pages:
        if page.page_no == page_no:
            return page
    raise ConfigurationError(
        f"Document {view.document.id} has no page {page_no}; it has {plural(len(view.pages), 'page')}.",
        Code.NOT_FOUND,
    )


def print_facts(view: DocumentView) -> None:
    """What is known of the document as a whole."""
    document = view.document
    shown = table("", "")
    shown.show_header = False
    facts: list[tuple[str, str | Text]] = [
        ("document", f"{document.id}  {view.name}"),
        ("status", status_text(document.status)),
        ("reason", f"{document.message} ({document.code})" if document.code else ""),
        ("type", f"{document.media_type or 'unknown'}, {document.size:,} bytes"),
        ("sha256", document.sha256),
        ("profile", view.profile or ""),
        ("note", "the file was damaged and has been repaired" if document.is_repaired else ""),
        *(
            ("gone" if source in document.gone else "source", printable(source))
            for source in document.sources
        ),
    ]
    for name, fact in facts:
        if fact:
            shown.add_row(name, fact)
    console().print(shown)


def print_pages(view: DocumentView) -> None:
    """A line for each page."""
    if not view.pages:
        # The facts above tell the reason of a document that has one.
        console().print("This document has no pages." if view.document.code else view.excuse)
        return
    shown = table("page", "verdict", "read from", "seconds", "characters", "remarks", numbers=_NUMBERS)
    for page in view.pages:
        shown.add_row(
            str(page.page_no),
            verdict_text(page.verdict),
            page.source.value if page.source else "",
            f"{page.seconds:.2f}" if page.source else "",
            str(len(page.text)) if page.source else "",
            _remarks(page),
        )
    console().print()
    console().print(shown)


_NUMBERS = frozenset({"page", "seconds", "characters"})


def _remarks(page: PageReport) -> str:
    if page.message:
        return f"{page.message} ({page.code})"
    reviews = (f"{review.action} by {review.person}" for review in page.reviews)
    return ", ".join([*(finding.code for finding in page.findings), *reviews])


def print_page(view: DocumentView, page: PageReport) -> None:
    """Verdict, findings and text of one page."""
    out = console()
    size = f"{page.width_pt:.0f} × {page.height_pt:.0f} pt"
    out.print(
        Text.assemble(
            f"{view.name}, page {page.page_no} of {len(view.pages)}, {size}: ", verdict_text(page.verdict)
        )
    )
    if page.source:
        confidence = "" if page.confidence is None else f", confidence {page.confidence:.2f}"
        out.print(
            f"{page.source.value} by {page.engine or 'the file itself'} in {page.seconds:.2f} s{confidence}"
        )
    if page.image_reason:
        out.print(_picture(page), soft_wrap=True)
    for finding in page.findings:
        out.print(Text.assemble(severity_text(finding.severity), f" {finding.code}: {finding.message}"))
    for review in page.reviews:
        note = f": {review.note}" if review.note else ""
        out.print(f"{review.action} by {review.person}, {review.at:%Y-%m-%d %H:%M:%S}Z{note}")
    out.print()
    # Not wrapped: the text's own lines are what was read.
    out.print(excuse(page) or page.text, soft_wrap=True)
    if page.page_no in view.pictures:
        out.print(f"Its picture: {view.pictures[page.page_no]}", soft_wrap=True)
    if excuse(page) and page.text:
        out.print("\nWhat was read all the same:\n")
        out.print(page.text, soft_wrap=True)


def _picture(page: PageReport) -> str:
    size, trial = (page.image_width_px, page.image_height_px), page.trial
    if trial and trial.width_px and (trial.width_px, trial.height_px) != size:
        return f"picture {_pixels(trial.width_px, trial.height_px)} ({trial.rung}); at first {_pixels(*size)}"
    saved = f", {page.tokens_saved:,} image tokens fewer than at the most" if page.tokens_saved else ""
    return f"picture {_pixels(*size)} ({page.image_reason}){saved}"


def _pixels(width: int, height: int) -> str:
    return f"{width:,} × {height:,} px"
