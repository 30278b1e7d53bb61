"""A place to run flows in: a real database, real child processes, a folder of sources, a scripted engine."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from db import documents, runs, tables
from db.engine import Database
from flows.ingesting import work_off
from models import profiles
from models.document import Document
from models.intake import ScanRules
from models.profile import Profile
from models.settings import Settings, load_settings
from tasks.mill import Mill
from tasks.register import register_roots
from tasks.work.engines.fake import Answer, FakeEngine, said

QUICK_RETRIES: Any = {
    stage: {"attempts": 4, "delay_s": 0.05} for stage in ("split", "preprocess", "ocr", "load")
}

_RULES = ScanRules()


@dataclass
class Yard:
    """Runs ingest over `inbox` with whatever engine, and looks at what came of it."""

    database: Database
    home: Path
    inbox: Path
    settings: Settings = field(init=False)
    others: dict[str, FakeEngine] = field(default_factory=dict)
    """Engines of other profiles, for retry ladders that ask these."""
    profile: Profile = field(default_factory=lambda: profiles.get("ppocr"))

    def __post_init__(self) -> None:
        self.inbox.mkdir(exist_ok=True)
        self.settings = load_settings(
            home=self.home, retry=QUICK_RETRIES, render_timeout_s=120.0, jobs=2, vectors=False
        )

    def mill(self, engine: FakeEngine, recipe: tuple[str, ...] = ()) -> tuple[Mill, int]:
        """A mill with this engine, and its recipe's id."""
        profile = self.profile
        chosen = profile.recipe().with_options(recipe)
        run_id = self.database.run(lambda conn: runs.start(conn, "ingest", chosen, {}))
        mill = Mill(
            settings=self.settings,
            database=self.database,
            profile=profile,
            run_id=run_id,
            engine=engine,
            open_other=lambda other: self.others[other.name],
        )
        return mill, self.database.run(lambda conn: runs.recipe_id(conn, chosen))

    def ingest(
        self,
        engine: FakeEngine | None = None,
        recipe: tuple[str, ...] = (),
        *,
        stop_when: Callable[[], object] | None = None,
        roots: Sequence[str] = (),
    ) -> FakeEngine:
        """Read the inbox (or `roots`) to the end, or until stopped; gives the engine with its log."""
        engine = engine or FakeEngine(default=said("Words on paper"))
        mill, recipe_id = self.mill(engine, recipe)
        if stop_when:
            threading.Thread(target=_stop, args=(mill, stop_when), daemon=True).start()
        try:
            mill.free_dead()
            work_off(mill, roots or [self.inbox], recipe_id)
        finally:
            mill.close()
        return engine

    def scan(self, rules: ScanRules = _RULES, roots: Sequence[str] = ()) -> dict[str, int]:
        """Scan the inbox (or `roots`) and register what is new, without reading; gives its counts."""
        mill, recipe_id = self.mill(FakeEngine())
        try:
            register_roots(mill, roots or [self.inbox], recipe_id, rules)
        finally:
            mill.close()
        run = self.database.run(lambda conn: runs.get(conn, mill.run_id))
        return {
            name.removeprefix("scan: "): int(number)
            for name, number in run.facts.items()
            if number.isdecimal()
        }

    def document(self, name: str) -> Document:
        """The document that stands under a name in the inbox."""
        return self.database.run(lambda conn: documents.get(conn, str(self.inbox / name)))

    def rows(self, table: str, **where: Any) -> list[Any]:
        """Rows of a table, by page and then as they came: pages are read in any order."""
        t = tables.metadata.tables[table]
        by_page = [t.c[name] for name in ("document_id", "page_no") if name in t.c]
        query = sa.select(t).where(*(t.c[name] == value for name, value in where.items()))
        query = query.order_by(*by_page, *t.primary_key)
        return list(self.database.run(lambda conn: conn.execute(query).all()))

    def clear(self, table: str) -> None:
        """Empty a table and all that refers to it."""
        self.database.run(lambda conn: conn.execute(sa.text(f"TRUNCATE {table} CASCADE")))


def _stop(mill: Mill, when: Callable[[], object]) -> None:
    while not when() and not mill.stopping.wait(0.02):
        pass
    mill.stopping.set()


def saying(*answers: Answer) -> FakeEngine:
    """An engine that gives these answers in order, then the ordinary one."""
    return FakeEngine(answers, default=said("Words on paper"))
