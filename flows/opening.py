"""Open what a run needs, and close it again whatever happens."""

import logging
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass

from db import runs
from db.engine import open_database
from flows.telling import tell
from models.recipe import Recipe
from models.settings import Settings, get_settings
from models.stage import Outcome
from tasks.mill import Mill, read_passwords
from tasks.policies import flow_run_context
from tasks.requests import check_regions
from tasks.work import consent
from tasks.work.custom import find_profile
from tasks.work.engines import open_engine, servers_for

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Caller:
    """Who waits for a run in this process: told its id, and able to stop it."""

    settings: Settings
    started: Callable[[int], None]
    stop: threading.Event


CALLER: ContextVar[Caller | None] = ContextVar("caller", default=None)


@contextmanager
def open_mill(
    kind: str, profile_name: str, options: list[str], jobs: int | None, *, reads: bool
) -> Iterator[tuple[Mill, int]]:
    """A mill and the id of its recipe, as a run of `kind` in the ledger.

    `reads`: with the profile's OCR engine. Raises ConfigurationError for an unknown profile, terms
    that nobody agreed to, a recipe key that is unknown or not for this profile, or a password file that
    cannot be read, and EnvironmentFault when database, home or engine cannot be used, before anything is
    written.
    """
    caller = CALLER.get()
    settings = caller.settings if caller else get_settings()
    profile = find_profile(profile_name, settings)
    consent.require(profile, settings)
    recipe = profile.recipe().with_options(options)
    check_regions(profile, recipe)
    read_passwords(settings.password_file)
    servers = servers_for(profile, settings)
    engine = open_engine(profile, jobs or settings.jobs, servers) if reads else None
    database = open_database(settings)
    facts = dict(engine.facts()) if engine else {}
    run_id = database.run(lambda conn: runs.start(conn, kind, recipe, facts, prefect_run_id()))
    mill = Mill(
        settings=settings, database=database, profile=profile, run_id=run_id, engine=engine, jobs=jobs
    )
    if caller:
        mill.stopping = caller.stop
        caller.started(run_id)
    with _running(mill, kind):
        yield mill, recipe_id(mill, recipe)


def give_engine(mill: Mill) -> None:
    """Open the OCR engine of a mill that has none yet. Raises as `open_mill` for the engine."""
    if not mill.reads:
        facts = dict(mill.open_engine().facts())
        mill.database.run(lambda conn: runs.add_facts(conn, mill.run_id, facts))


def recipe_id(mill: Mill, recipe: Recipe) -> int:
    """The recipe's row id."""
    return mill.database.run(lambda conn: runs.recipe_id(conn, recipe))


def outcome_of(error: BaseException) -> Outcome:
    """What the ledger is told of a run that `error` ended. A worker ends its runs by a signal."""
    prefect = sys.modules.get("prefect.exceptions")
    stops = (KeyboardInterrupt, prefect.TerminationSignal) if prefect else KeyboardInterrupt
    return Outcome.CANCELLED if isinstance(error, stops) else Outcome.FAILED


def prefect_run_id() -> str | None:
    """The flow run under way, if any."""
    context = flow_run_context()
    return str(context.flow_run.id) if context and context.flow_run else None


def shown(mill: Mill, kind: str) -> AbstractContextManager[None]:
    """See `flows.showing.shown`; where there is no flow run nothing is shown."""
    if flow_run_context() is None:
        return nullcontext()
    # With Prefect's client, which runs without a server go without.
    from flows import showing  # noqa: PLC0415

    return showing.shown(mill, kind)


@contextmanager
def _running(mill: Mill, kind: str) -> Iterator[None]:
    try:
        mill.free_dead()
        with shown(mill, kind):
            yield
    except BaseException as error:
        mill.outcome = outcome_of(error)
        raise
    finally:
        mill.close()
        mill.database.run(lambda conn: runs.finish(conn, mill.run_id, mill.outcome))
        tell(mill, kind)
        mill.database.close()
