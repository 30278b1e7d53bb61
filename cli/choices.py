"""Words that options choose from: small enough to import before the command is known."""

from enum import StrEnum
from typing import Literal


class Format(StrEnum):
    """Export formats: as they are typed, and file suffixes."""

    MD = "md"
    HTML = "html"
    JSON = "json"
    TXT = "txt"


Act = Literal["compare", "promote", "rollback"]
"""What can be done with a backfill that has read something."""


class Mode(StrEnum):
    """How search ranks."""

    HYBRID = "hybrid"
    """By words and by meaning, merged; by words alone where the database has no vectors."""
    TEXT = "text"


class By(StrEnum):
    """What timings are summed up by."""

    STAGE = "stage"
    DOCUMENT = "document"
    RUN = "run"
    PROFILE = "profile"
