"""A document as it is shown and exported: facts and pages in order, bad ones in their place."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath

import sqlalchemy as sa

from db import documents, reports, runs
from models.document import Document
from models.reading import BlockType
from models.report import PageReport
from models.settings import Settings
from models.text import printable
from models.verdict import UNREADABLE, Severity, Verdict
from tasks.work.layout import text_of
from tasks.work.store import Store

_MARGINS = frozenset({BlockType.HEADER, BlockType.FOOTER})


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A document with its pages in order. `profile` is None where nothing was ever read."""

    document: Document
    profile: str | None
    pages: tuple[PageReport, ...]
    pictures: Mapping[int, str] = field(default_factory=dict)
    """Paths of the page images of pages without text, by page number, where these are still there."""

    @property
    def name(self) -> str:
        """What a person calls the document; printable."""
        return called(self.document)

    @property
    def excuse(self) -> str:
        """Why there are no pages; empty where there are."""
        if self.pages:
            return ""
        code = f" ({self.document.code})" if self.document.code else ""
        because = self.document.message or "it has not been read yet."
        return f"This document has no pages{code}: {because}"


def view_of(connection: sa.Connection, ref: str) -> DocumentView:
    """The document that `ref` names, with all its pages. Raises ConfigurationError (not-found)."""
    document = documents.get(connection, ref)
    recipe_id = reports.recipe_of(connection, document.id)
    if recipe_id is None:
        return DocumentView(document, None, ())
    profile = runs.recipe(connection, recipe_id).profile
    return DocumentView(document, profile, reports.pages(connection, document.id, recipe_id))


def with_pictures(view: DocumentView, settings: Settings) -> DocumentView:
    """The view with the pictures of its pages without text, so that a person can look at these."""
    paths = {
        page.page_no: picture_path(settings, page.image_sha256, page.image_suffix)
        for page in view.pages
        if is_missing(page)
    }
    return replace(view, pictures={number: path for number, path in paths.items() if path})


def without_margins(view: DocumentView) -> DocumentView:
    """The view without the headers and footers of its pages, where the model told them apart."""
    return replace(view, pages=tuple(map(_without_margins, view.pages)))


def _without_margins(page: PageReport) -> PageReport:
    kept = tuple(block for block in page.blocks if block.type not in _MARGINS)
    if len(kept) == len(page.blocks):
        return page
    return replace(page, blocks=kept, text=text_of(kept))


def picture_path(settings: Settings, sha256: str | None, suffix: str | None) -> str:
    """Where a page image lies; empty where there is none, or none any more."""
    store = Store(settings.store)
    if sha256 is None or not store.exists(sha256, suffix or ""):
        return ""
    return str(store.path(sha256, suffix or ""))


def called(document: Document) -> str:
    """The title where the file has one, else its name."""
    return printable(document.title.strip()) or file_name(document)


def file_name(document: Document) -> str:
    """The name of the first source without its folder, else the start of the hash; printable."""
    name = PurePath(document.sources[0]).name if document.sources else ""
    return printable(name) or document.sha256[:12]


def is_missing(page: PageReport) -> bool:
    """There is no text to rely on for this page, only a reason."""
    return page.verdict is None or page.verdict in UNREADABLE


def excuse(page: PageReport) -> str:
    """The sentence that stands in the place of a page without text; empty for a page that has one."""
    if page.verdict is Verdict.BLANK:
        return f"Page {page.page_no} is blank."
    if page.verdict is None and page.code is None:
        return f"Page {page.page_no} has not been read yet."
    if not is_missing(page):
        return ""
    code = f" ({page.code})" if page.code else ""
    return f"Page {page.page_no} could not be read{code}: {_reason(page)}"


def _reason(page: PageReport) -> str:
    errors = (finding.message for finding in page.findings if finding.severity is Severity.ERROR)
    return page.message or next(errors, "no reason is known.")
