"""A run: one call of ingest, backfill or a drain, with what it ran on."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from models.stage import Outcome


@dataclass(frozen=True, slots=True)
class Run:
    """A row of the ledger: who ran what, where, with which recipe."""

    id: int
    kind: str
    recipe_id: int | None
    started_at: dt.datetime
    ended_at: dt.datetime | None
    outcome: Outcome | None
    host: str
    pid: int
    prefect_run_id: str | None
    facts: Mapping[str, str]
    """Versions and settings that explain its figures."""
