"""Review: what a person is shown of doubtful pages, and what a person decided."""

import datetime as dt
import re
from dataclasses import dataclass
from enum import StrEnum

from models.document import DocumentStatus
from models.errors import ConfigurationError
from models.recipe import Recipe
from models.verdict import Finding, Severity, Verdict

HUMAN_RECIPE = Recipe(profile="human", revision="1")
"""Names the readings that people wrote."""


class Action(StrEnum):
    """What a person does about a page."""

    ACCEPT = "accept"
    """What was read is right."""
    RETRY = "retry"
    """It shall be read again."""
    EDIT = "edit"
    """The person wrote the text."""
    IGNORE = "ignore"
    """It stays as it is and is asked about no more."""


@dataclass(frozen=True, slots=True, order=True)
class PageRef:
    """A page as people name it: `12:3` is page 3 of document 12."""

    document_id: int
    page_no: int

    @classmethod
    def parse(cls, text: str) -> "PageRef":
        """Raises ConfigurationError for what names no page."""
        found = re.fullmatch(r"([0-9]{1,18}):([0-9]{1,9})", text)
        if found is None or int(found[2]) == 0:
            raise ConfigurationError(f"'{text}' names no page. Write DOC:PAGE, e.g. 12:3.")
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.document_id}:{self.page_no}"


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person wants done about a page."""

    action: Action
    person: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class ReviewAction:
    """A decision as it is kept."""

    id: int
    document_id: int
    page_no: int
    reading_id: int | None
    """What was shown when it was taken; None: there was no reading."""
    made_id: int | None
    """The reading that came of it and is shown instead: what the person wrote, or what a retry read."""
    action: Action
    person: str
    note: str
    at: dt.datetime


@dataclass(frozen=True, slots=True)
class Try:
    """What the retry ladder tried."""

    number: int
    profile: str
    rung: str
    verdict: Verdict
    codes: tuple[str, ...]
    finish_reason: str
    seconds: float
    is_kept: bool


@dataclass(frozen=True, slots=True)
class PageToReview:
    """A page that a person should look at."""

    page: str
    """As PageRef."""
    document_id: int
    page_no: int
    name: str
    """A name of the document, printable."""
    verdict: Verdict
    severity: Severity
    code: str
    """The heaviest reason."""
    message: str
    findings: tuple[Finding, ...]
    reading_id: int | None
    profile: str
    """Who read what is shown."""
    image_sha256: str | None
    image_suffix: str | None
    tries: tuple[Try, ...] = ()
    picture: str = ""
    """Path of the page image; empty where there is none any more."""
    text: str = ""
    """What was read, where it was asked for."""


@dataclass(frozen=True, slots=True)
class ReviewQuery:
    """Which pages to list."""

    documents: tuple[int, ...] = ()
    """Empty: of all."""
    run_id: int | None = None
    """Of documents that this run met or worked on."""
    limit: int | None = None
    text_chars: int = 0
    """So much of what was read."""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What a document came to after a decision."""

    document_id: int
    pages: tuple[str, ...]
    """Those that were decided about."""
    status: DocumentStatus
    edition_id: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A page that is to be read again."""

    page: PageRef
    action_id: int
    """The decision."""
    recipe_id: int
    """What it is read with."""
    newest_id: int
    """The newest reading of the page under that recipe before; 0: none."""
    present_id: int
    """The present one; 0: none."""
    verdict: Verdict
    """Of what is shown."""
    is_over_edit: bool
    """What a person wrote is shown, and gives way to any reading that is not bad."""


@dataclass(frozen=True, slots=True)
class Retried:
    """What came of a page that was to be read again."""

    page: str
    profile: str
    verdict: Verdict | None
    """None: not read yet, or it could not be."""
    is_shown: bool
    """False: what was shown before is better, and still shown."""
    code: str = ""
    """Why it could not be read."""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Gap:
    """A page of a shown document that has no text, and why."""

    document_id: int
    page_no: int
    code: str | None
    message: str | None
    image_sha256: str | None
    image_suffix: str | None
    picture: str = ""
    """Path of the page image; empty where there is none any more."""
