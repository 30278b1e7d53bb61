"""Flow load: a drain that loads documents whose pages have all ended into the knowledge base."""

from prefect import flow
from prefect.client.schemas.objects import State

from flows.draining import Budget, Linger, drain_stages
from flows.lines import load_lines
from flows.naming import run_name
from models.stage import Stage
from tasks.backfill import close_ended


@flow(name="load", flow_run_name=run_name("load"), persist_result=False)
def load(profile: str = "ppocr", budget_s: Budget | None = None, linger_s: Linger = 5.0) -> State[int]:
    """Load finished documents until nothing is left; its result is the id of the run.

    Args:
        profile: Profile whose documents are loaded.
        budget_s: Most seconds to work; empty for no limit.
        linger_s: Seconds to wait for more work before the end.
    """
    return drain_stages(
        "load",
        [Stage.VALIDATE, Stage.LOAD],
        lambda _: load_lines(),
        profile,
        budget_s=budget_s,
        linger_s=linger_s,
        before=[Stage.SPLIT, Stage.PREPROCESS, Stage.OCR],
        finish=lambda mill: close_ended(mill.database),
    )
