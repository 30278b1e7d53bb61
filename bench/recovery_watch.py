"""What the ledger shows meanwhile: progress, work that the dead hold, documents shown in part."""

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg
from prefect.client.schemas.sorting import FlowRunSort

from bench.recovery_site import Site
from bench.watch import Looker
from db.engine import Database
from tasks.maintain import check_ledger
from tasks.mill import is_alive

_PROGRESS = """
SELECT (SELECT count(*) FROM reading) + (SELECT count(*) FROM page_image)
     + (SELECT count(*) FROM claim WHERE status IN ('done', 'failed')) + (SELECT count(*) FROM page)
"""
_TORN = """
SELECT count(*) FROM document WHERE edition_id IS NOT NULL AND page_count <> (
    SELECT count(*) FROM edition_page WHERE edition_page.edition_id = document.edition_id)
"""
_HOLDERS = "SELECT DISTINCT owner FROM claim WHERE status = 'leased' AND leased_until > now()"
_UNENDED = """
SELECT count(*) FROM claim JOIN source USING (document_id)
WHERE uri = %s AND claim.status IN ('ready', 'leased', 'waiting')
"""
_FACTS = """
SELECT document.id, document.status, document.page_count,
  (SELECT count(*) FROM claim WHERE claim.document_id = document.id AND page_no > 0 AND status = 'done'),
  (SELECT count(*) FROM claim WHERE claim.document_id = document.id AND page_no > 0 AND status = 'failed'),
  (SELECT count(*) FROM reading WHERE reading.document_id = document.id),
  (SELECT count(DISTINCT page_no) FROM reading WHERE reading.document_id = document.id),
  (SELECT count(*) FROM edition WHERE edition.document_id = document.id),
  (SELECT coalesce(sum(pages), 0) FROM stage_run WHERE stage_run.document_id = document.id
   AND attempt > 1 AND stage IN ('split', 'preprocess', 'ocr') AND outcome = 'ok')
FROM document JOIN source ON source.document_id = document.id WHERE uri = %s
"""


@dataclass(frozen=True, slots=True)
class Document:
    """What the ledger says of one in the end."""

    id: int
    status: str
    pages: int
    done: int
    failed: int
    readings: int
    pages_read: int
    editions: int
    again: int
    """Pages of stages that were claimed more than once before they were done."""

    def faults(self, failing: int) -> list[str]:
        """What must not be; `failing` pages are made to fail."""
        checks = {
            f"{self.pages - self.done - self.failed} pages lost": self.done + self.failed != self.pages,
            f"{self.failed} pages failed": self.failed != failing,
            f"{self.readings - self.pages_read} pages read twice": self.readings != self.pages_read,
            f"{self.editions} editions": self.editions != 1,
            f"status {self.status}": self.status != ("partial" if failing else "complete"),
        }
        return [about for about, is_so in checks.items() if is_so]


class Watch(Looker):
    """Of the ledger, as far as a database answers."""

    def __init__(self, site: Site) -> None:
        super().__init__()
        self.steps: list[float] = []
        """When progress was seen, on the monotonic clock."""
        self.torn = 0
        """Most documents at once that could be seen in part."""
        self.held_s = 0.0
        """Longest time that a dead process held work."""
        self._site, self._count = site, -1
        self._connection: psycopg.Connection[Any] | None = None
        self._dead_since: dict[str, float] = {}

    def __exit__(self, *_: object) -> None:
        """End."""
        super().__exit__()
        if self._connection:
            self._connection.close()

    def pause_after(self, began: float, ended: float) -> tuple[float, float]:
        """The longest time without progress between two moments, and when after the first it was over."""
        moments = [began, *(step for step in self.steps if began < step < ended), ended]
        gaps = [(after - before, after - began) for before, after in pairwise(moments)]
        return max(gaps, default=(0.0, 0.0))

    def look(self) -> None:
        """Take in how far the ledger is."""
        try:
            self._connection = self._connection or self._site.connect()
            self._take_in(self._connection)
        except psycopg.Error:
            self._connection = None

    def _take_in(self, connection: "psycopg.Connection[Any]") -> None:
        count, torn = one(connection, _PROGRESS), one(connection, _TORN)
        now = time.monotonic()
        if count != self._count:
            self.steps.append(now)
            self._count = count
        self.torn = max(self.torn, torn)
        holders = {row[0] for row in connection.execute(_HOLDERS)}
        dead = {holder for holder in holders if not is_alive(holder)}
        self._dead_since = {holder: self._dead_since.get(holder, now) for holder in dead}
        self.held_s = max([self.held_s, *(now - since for since in self._dead_since.values())])


def one(connection: "psycopg.Connection[Any]", query: str, *values: object) -> int:
    """The number that a query gives."""
    row = connection.execute(query, values).fetchone()
    return int(row[0]) if row else 0


def is_ended(site: Site, path: Path) -> bool:
    """Whether a document of the inbox is known, and no work of it is left; False while nobody answers."""
    with suppress(psycopg.Error), site.connect() as connection:
        return bool(documents(connection, path)) and not one(connection, _UNENDED, str(path))
    return False


def documents(connection: "psycopg.Connection[Any]", path: Path) -> list[Document]:
    """The one that stands there, if it is known yet."""
    return [Document(*row) for row in connection.execute(_FACTS, [str(path)])]


def asked_again(site: Site, since: int) -> int:
    """Requests beyond the first for a picture, of those after the first `since`."""
    asked = Counter(entry.asked.images for entry in site.server.entries[since:])
    return sum(asked.values()) - len(asked)


def broken_rules(site: Site) -> list[str]:
    """Invariants of the ledger that do not hold."""
    database = Database(f"postgresql+psycopg://postgres@/pagemill?host={site.home.resolve() / 'postgres'}")
    try:
        return [f"{found.invariant} {found.count}" for found in check_ledger(database)]
    finally:
        database.close()


def shown(site: Site, before: Sequence[Any]) -> tuple[list[Any], list[str]]:
    """Flow runs that there were not `before`, by id, and what the screen says of them."""
    with site.client() as client:
        found = client.read_flow_runs(limit=200, sort=FlowRunSort.EXPECTED_START_TIME_DESC)
    runs = [run for run in reversed(found) if run.id not in before and run.start_time]
    return runs, [f"{run.name.split()[0]} {run.state.name}" for run in runs if run.state]
