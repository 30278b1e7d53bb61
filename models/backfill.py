"""A backfill: known documents read again, from some stage on, beside what is shown."""

import datetime as dt
import hashlib
from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field, field_validator

from models.document import DocumentStatus
from models.recipe import Recipe
from models.stage import Stage
from models.text import printable
from models.verdict import Verdict

BACKFILL_PRIORITY = 10
"""Of its claims in the ledger, where lower goes first and scheduled work has 0."""


class FromStage(StrEnum):
    """Where a backfill may begin."""

    SPLIT = "split"
    PREPROCESS = "preprocess"
    OCR = "ocr"
    VALIDATE = "validate"
    LOAD = "load"

    @property
    def stage(self) -> Stage:
        """As the ledger calls it."""
        return Stage(self.value)


class Selection(BaseModel):
    """Which documents. Filters narrow each other; several values of one filter widen it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    documents: tuple[int, ...] = ()
    source: str = ""
    """Path, folder or pattern of a name that the document stands under now; * is any text, ? any sign."""
    since: dt.date | None = None
    """First day the document was seen on, UTC."""
    until: dt.date | None = None
    """Last day, itself included."""
    statuses: tuple[DocumentStatus, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    """A page that is shown has one of these."""
    findings: tuple[str, ...] = ()
    """A page that is shown has one of these findings, or it or the document failed with such a code."""
    profile: str = ""
    """What is shown was read with this profile."""
    recipe: str = ""
    """First digits, at least six, of the hash of the recipe that what is shown was read with."""
    everything: bool = False
    """All documents are meant, should it come to that."""

    @field_validator("source")
    @classmethod
    def _as_names_are_kept(cls, pattern: str) -> str:
        return printable(pattern)

    @property
    def is_empty(self) -> bool:
        """Nothing narrows it and nobody said that everything is meant."""
        return self == Selection()


class Wish(BaseModel):
    """What a backfill shall do. Equal wishes under one recipe are one backfill until that has ended."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    selection: Selection
    profile: str
    options: tuple[str, ...] = ()
    """Recipe options, each key=value."""
    start: FromStage = FromStage.OCR
    again: bool = False
    """Also pages that have a good reading under this very recipe."""
    promote: bool = False
    """Show what comes of it at once."""
    limit: int | None = Field(None, ge=1)
    """Most documents, the lowest ids first."""

    def digest(self, recipe: Recipe) -> str:
        """SHA-256 (hex) that names it, read with what its profile and options mean today."""
        return hashlib.sha256((self.model_dump_json() + recipe.hash).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Pace:
    """What a page cost so far under a profile."""

    engine_s: float
    """Seconds of engine work a page, summed over what was read side by side."""
    wall_s: float
    """Seconds a page from the first start to the last end of past runs."""
    pages: int
    """Pages this was learnt from."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a backfill would do, counted before anything is changed."""

    documents: int
    """Selected."""
    of: int
    """Documents that could be selected."""
    unsplit: int
    """Of the selected, those whose pages nobody has counted yet."""
    without_readings: int
    """Of the selected, those left out: they have nothing under the recipe to begin with at that stage."""
    pages: int
    """Of the selected."""
    cached: int
    """Pages whose reading under this recipe is taken as it is, or copied from an equal picture."""
    to_read: int
    pace: Pace | None
    """None: this profile has not read a page yet."""
    continues: int | None = None
    """The unfinished backfill of the same wish that would go on."""

    @property
    def engine_minutes(self) -> float | None:
        """Expected engine work."""
        return None if self.pace is None else self.to_read * self.pace.engine_s / 60

    @property
    def wall_minutes(self) -> float | None:
        """Expected time with the workers of past runs."""
        return None if self.pace is None else self.to_read * self.pace.wall_s / 60


@dataclass(frozen=True, slots=True)
class Backfill:
    """A row of the ledger: a wish and how far it is."""

    id: int
    recipe_id: int
    wish: Wish
    created_at: dt.datetime
    enrolled_at: dt.datetime | None
    """When the last of its documents had been put into the ledger."""
    ended_at: dt.datetime | None
    cancelled_by: str | None = None
    """Who ended it before its end."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What a backfill has cost so far."""

    pages: int
    """Read by an engine; copies of other readings cost nothing."""
    seconds: float
    """Of engine work, summed over what was read side by side."""
    tokens: int


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the documents of a backfill stand."""

    documents: int
    unfinished: int
    failed: int
    """Documents that could not be read or have pages that could not be."""
    waiting: int
    """Read and loaded, but not shown: compare, then promote."""
