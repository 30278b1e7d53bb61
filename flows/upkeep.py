"""What flow maintain does, with Prefect or without: one round of keeping house, entered as a run."""

import os
import sys
from contextlib import closing
from pathlib import Path

from db import runs
from db.engine import open_database
from flows.local import may_name_server
from flows.opening import outcome_of, prefect_run_id
from models.invariant import Upkeep
from models.settings import Settings
from models.stage import Outcome
from tasks.maintain import keep_house


def run_maintenance(settings: Settings, *, images_days: float, results_days: float) -> Upkeep:
    """One round, entered as a run that fails where an invariant is broken."""
    with closing(open_database(settings)) as database:
        run_id = database.run(lambda conn: runs.start(conn, "maintain", None, {}, prefect_run_id()))
        outcome = Outcome.OK
        try:
            done = keep_house(
                database, settings, kept_results(), images_days=images_days, results_days=results_days
            )
            outcome = Outcome.FAILED if done.violations else Outcome.OK
        except BaseException as error:
            outcome = outcome_of(error)
            raise
        finally:
            database.run(lambda conn: runs.finish(conn, run_id, outcome))
    return done


def kept_results() -> Path:
    """Where Prefect keeps results of tasks; it is only asked where its settings may say so."""
    if "prefect.settings" not in sys.modules and not may_name_server(os.environ, Path.cwd()):
        return Path(os.environ.get("PREFECT_HOME", "~/.prefect")).expanduser() / "storage"
    from prefect.settings import get_current_settings  # noqa: PLC0415 (with Prefect, a second of CPU)

    return get_current_settings().results.local_storage_path
