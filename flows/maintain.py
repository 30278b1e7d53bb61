"""Flow maintain: keep house every hour; the run fails where the ledger contradicts itself."""

from contextlib import closing
from typing import Annotated

from prefect import flow
from prefect.settings import get_current_settings
from pydantic import Field

from db import runs
from db.engine import open_database
from flows.naming import run_name
from flows.opening import CALLER, outcome_of, prefect_run_id
from models.errors import Code, PermanentError
from models.invariant import Upkeep
from models.settings import Settings, get_settings
from models.stage import Outcome
from tasks.maintain import as_table, keep_house

Days = Annotated[float, Field(ge=0, le=36_500)]


@flow(name="maintain", flow_run_name=run_name("maintain"), persist_result=False)
def maintain(images_days: Days = 30.0, results_days: Days = 7.0) -> int:
    """Free what the dead held, purge what can be made again, check the ledger; returns the work freed.

    Args:
        images_days: Page images older than this are purged, unless unfinished or doubtful pages need them.
        results_days: Results of tasks that Prefect kept longer than this are purged.
    """
    caller = CALLER.get()
    settings = caller.settings if caller else get_settings()
    done = run_maintenance(settings, images_days=images_days, results_days=results_days)
    if done.violations:
        raise PermanentError(as_table(done.violations), Code.LEDGER_BROKEN)
    return done.leases


def run_maintenance(settings: Settings, *, images_days: float, results_days: float) -> Upkeep:
    """One round, entered as a run that fails where an invariant is broken."""
    results = get_current_settings().results.local_storage_path
    with closing(open_database(settings)) as database:
        run_id = database.run(lambda conn: runs.start(conn, "maintain", None, {}, prefect_run_id()))
        outcome = Outcome.OK
        try:
            done = keep_house(database, settings, results, images_days=images_days, results_days=results_days)
            outcome = Outcome.FAILED if done.violations else Outcome.OK
        except BaseException as error:
            outcome = outcome_of(error)
            raise
        finally:
            database.run(lambda conn: runs.finish(conn, run_id, outcome))
    return done
