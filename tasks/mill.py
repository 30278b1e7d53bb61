"""The mill: what a run works with. Settings, database, store, worker pools and the OCR engine."""

import datetime as dt
import logging
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psutil

from db import claims, runs
from db.engine import Database, open_database
from models.claim import Claim
from models.document import MOST_OPEN
from models.engine import OcrEngine
from models.errors import ConfigurationError, PagemillError
from models.profile import Profile
from models.recipe import Recipe
from models.settings import Settings
from models.stage import Outcome, Stage
from tasks.bells import Bells
from tasks.prefetch import Prefetch
from tasks.work.crew import WorkerCrew
from tasks.work.engines import open_engine, servers_for
from tasks.work.machine import machine, name_of
from tasks.work.pool import WorkerPool
from tasks.work.remote_copies import Copies, sweep
from tasks.work.store import Store

log = logging.getLogger(__name__)

# Leases run out when somebody has died: looking for that at every claim was a tenth of all statements.
_FREE_EVERY_S, _FREE_SHARE = 5.0, 16
_DRIFT_S = 5
"""The start of a process is told by the machine's clock, and shifts as that is set right."""


class Mill:
    """Resources of one run, closed together. Worker processes start when they first get work.

    A plain class on purpose: Prefect looks into dataclasses and models that are passed to tasks.
    """

    def __init__(
        self,
        *,
        settings: Settings,
        database: Database,
        profile: Profile,
        run_id: int,
        engine: OcrEngine | None = None,
        jobs: int | None = None,
        open_other: Callable[[Profile], OcrEngine] | None = None,
    ) -> None:
        self.settings = settings
        self.database = database
        self.profile = profile
        self.run_id = run_id
        self.owner = owner_name()
        self.store = Store(settings.store)
        self.jobs = jobs or settings.jobs
        # MuPDF's memory grows with the pages it has seen, so its workers are replaced now and then.
        self.render_pool = WorkerCrew(self.jobs, documents=MOST_OPEN, recycle_after=500)
        self.load_pool = WorkerPool(1)
        self.copies = Copies(self._copies / self.owner, int(settings.copies_gib * 1024**3))
        self.prefetch = Prefetch(settings.prefetch_gib * 1024**3)
        self.stopping = threading.Event()
        self.outcome = Outcome.OK
        """What the ledger is told of the run at its end."""
        self.bells = Bells()
        self._engine = engine
        self._open_other = open_other or (
            lambda profile: open_engine(profile, self.jobs, servers_for(profile, settings))
        )
        self._others: dict[str, OcrEngine] = {}
        self._recipes: dict[int, Recipe] = {}
        self._free_at: dict[Stage, float] = {}
        self._behind = database.run(claims.behind)

    @property
    def reads(self) -> bool:
        """Whether it was opened with an OCR engine."""
        return self._engine is not None

    @property
    def engine(self) -> OcrEngine:
        """The OCR engine. A drain that reads pages is given one."""
        if self._engine is None:
            raise RuntimeError("this mill was opened without an OCR engine")
        return self._engine

    def open_engine(self) -> OcrEngine:
        """Open the OCR engine of the profile, before the drain of a mill that was opened without one.

        Raises ConfigurationError and EnvironmentFault when it cannot be opened.
        """
        self._engine = self._open_other(self.profile)
        return self._engine

    def other_engine(self, profile: Profile) -> OcrEngine:
        """The engine of another profile, for pages that this mill's reads badly; opened when first needed.

        Raises ConfigurationError and EnvironmentFault when it cannot be opened.
        """
        if profile.name not in self._others:
            self._others[profile.name] = self._open_other(profile)
        return self._others[profile.name]

    def recipe(self, recipe_id: int) -> Recipe:
        """A recipe by its row id, remembered."""
        if recipe_id not in self._recipes:
            self._recipes[recipe_id] = self.database.run(lambda conn: runs.recipe(conn, recipe_id))
        return self._recipes[recipe_id]

    def now(self) -> dt.datetime:
        """By the database's clock, which leases go by, too: this machine's may be wrong."""
        return dt.datetime.now(dt.UTC) + self._behind

    def claim(self, stage: Stage, limit: int) -> list[Claim]:
        """Up to `limit` pieces of work of this mill's profile, leased to it; committed at once."""
        now = time.monotonic()
        frees = now >= self._free_at.get(stage, 0.0)
        if frees:
            self._free_at[stage] = now + min(_FREE_EVERY_S, self.settings.lease_s / _FREE_SHARE)
        return self.database.run(
            lambda conn: claims.claim(
                conn,
                stage,
                limit,
                self.owner,
                self.settings.lease_s,
                profile=self.profile.name,
                max_crashes=self.settings.max_crashes,
                frees=frees,
            )
        )

    def give_back(self, broken_off: list[Claim]) -> None:
        """Free what this mill still holds of some claims, as if it had never been claimed."""
        self.database.run(lambda conn: claims.give_back(conn, broken_off))

    def outstanding(self, stages: list[Stage]) -> int:
        """Pieces of work of this mill's profile in these stages that have not ended, in anybody's hands."""
        return self.database.run(lambda conn: claims.outstanding(conn, stages, self.profile.name)).total

    def passwords(self) -> tuple[str, ...]:
        """Passwords to try on encrypted PDFs. Raises ConfigurationError, as `read_passwords`."""
        return read_passwords(self.settings.password_file)

    def close(self) -> None:
        """Give back what is still leased and end the worker processes."""
        self.stopping.set()
        self.close_engines()
        self.render_pool.close()
        self.load_pool.close()
        self.copies.close()
        self.database.run(lambda conn: claims.release(conn, self.owner))

    def close_engines(self) -> None:
        """End all reading at once: no page that waits is sent in the place of one that is cancelled."""
        for engine in (self._engine, *self._others.values()):
            if engine is not None:
                engine.close()

    def free_dead(self) -> int:
        """Free at once what processes of this host held that were killed; says how much work."""
        sweep(self._copies, is_killed)
        return self.database.run(
            lambda conn: claims.release_dead(conn, machine(), is_alive, self.settings.max_crashes)
        )

    @property
    def _copies(self) -> Path:
        return self.settings.root / "copies"

    @contextmanager
    def heartbeat(self) -> Iterator[None]:
        """Renew this mill's leases in the background while the body runs."""
        ended = threading.Event()
        thread = threading.Thread(target=self._renew, args=(ended,), name="heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _renew(self, ended: threading.Event) -> None:
        while not ended.wait(self.settings.lease_s / 4):
            try:
                self.database.run(lambda conn: claims.renew(conn, self.owner, self.settings.lease_s))
                self._behind = self.database.run(claims.behind)
            except PagemillError as error:
                # Without its heart the run would work on, and others would begin the same work.
                log.warning("leases not renewed owner=%s code=%s", self.owner, error.code)


def read_passwords(path: Path | None) -> tuple[str, ...]:
    """The lines of a password file; a byte order mark, as some editors write it, is no part of the first.

    Raises ConfigurationError when it cannot be read or is not UTF-8.
    """
    try:
        return tuple(path.expanduser().read_text("utf-8-sig").splitlines()) if path else ()
    except (OSError, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigurationError(
            f"The password file {path} (PAGEMILL_PASSWORD_FILE or --password-file) cannot be read: {why}."
        ) from error


def owner_name() -> str:
    """machine:pid:start:suffix. The start time tells a dead owner from a new process with its number."""
    started = int(psutil.Process().create_time())
    return f"{machine()}:{os.getpid()}:{started}:{uuid.uuid4().hex[:8]}"


def let_go(settings: Settings) -> int:
    """Give back all that mills of this process hold, for one that ends at once; says how much that is.

    What a killed process held counts as a crash of its work, and this is none.
    """
    with closing(open_database(settings)) as database:
        return database.run(lambda conn: claims.release_process(conn, owner_name().rpartition(":")[0] + ":"))


def is_killed(owner: str) -> bool:
    """Whether an owner name, of a folder in this machine's home, is of a process that runs no more.

    Whoever wrote it before the machine's last start is dead as well.
    """
    if owner.count(":") < 3 or name_of(owner.rsplit(":", 3)[0]) != name_of(machine()):
        return False
    return owner.rsplit(":", 3)[0] != machine() or not is_alive(owner)


def is_alive(owner: str) -> bool:
    """Whether the process of this host that wrote an owner name still runs."""
    _, pid, started, _ = owner.rsplit(":", 3)
    try:
        return abs(int(psutil.Process(int(pid)).create_time()) - int(started)) <= _DRIFT_S
    except psutil.NoSuchProcess:
        return False
