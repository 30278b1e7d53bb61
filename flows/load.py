"""Flow load: a drain that loads documents whose pages have all ended into the knowledge base."""

from prefect import flow

from flows.lines import load_lines
from flows.opening import open_mill
from models.stage import Stage
from tasks.drain import drain, lingering


@flow(name="load", persist_result=False)
def load(profile: str = "ppocr", budget_s: float | None = None, linger_s: float = 5.0) -> int:
    """Load finished documents until nothing is left; returns the id of the run.

    Args:
        profile: Profile whose documents are loaded.
        budget_s: Most seconds to work; empty for no limit.
        linger_s: Seconds to wait for more work before the end.
    """
    with open_mill("load", profile, [], None, reads=False) as (mill, _):
        stages = [Stage.LOAD]
        drain(mill, load_lines(), lingering(lambda: mill.outstanding(stages) == 0, linger_s), budget_s)
        return mill.run_id
