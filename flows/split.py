"""Flow split: a CPU drain. Documents become pages, pages become page images."""

from prefect import flow

from flows.lines import split_lines
from flows.opening import open_mill
from models.stage import Stage
from tasks.drain import drain, lingering


@flow(name="split", persist_result=False)
def split(profile: str = "ppocr", budget_s: float | None = None, linger_s: float = 5.0) -> int:
    """Split and prepare until nothing is left; returns the id of the run.

    Args:
        profile: Profile whose documents are prepared.
        budget_s: Most seconds to work; empty for no limit.
        linger_s: Seconds to wait for more work before the end.
    """
    with open_mill("split", profile, [], None, reads=False) as (mill, _):
        stages = [Stage.SPLIT, Stage.PREPROCESS]
        drain(mill, split_lines(), lingering(lambda: mill.outstanding(stages) == 0, linger_s), budget_s)
        return mill.run_id
