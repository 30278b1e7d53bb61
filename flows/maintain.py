"""Flow maintain: keep house every hour; the run fails where the ledger contradicts itself."""

from typing import Annotated

from prefect import flow
from pydantic import Field

from flows.naming import run_name
from flows.opening import CALLER
from flows.upkeep import run_maintenance
from models.errors import Code, PermanentError
from models.settings import get_settings
from tasks.maintain import as_table

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
