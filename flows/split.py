"""Flow split: a CPU drain. Documents become pages, pages become page images."""

from prefect import flow
from prefect.client.schemas.objects import State

from flows.draining import Budget, Linger, drain_stages
from flows.lines import split_lines
from flows.naming import run_name
from models.stage import Stage


@flow(name="split", flow_run_name=run_name("split"), persist_result=False)
def split(profile: str = "ppocr", budget_s: Budget | None = None, linger_s: Linger = 5.0) -> State[int]:
    """Split and prepare until nothing is left; its result is the id of the run.

    Args:
        profile: Profile whose documents are prepared.
        budget_s: Most seconds to work; empty for no limit.
        linger_s: Seconds to wait for more work before the end.
    """
    stages = [Stage.SPLIT, Stage.PREPROCESS]
    return drain_stages(
        "split", stages, lambda _: split_lines(), profile, budget_s=budget_s, linger_s=linger_s
    )
