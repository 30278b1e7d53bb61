"""Flow load: a drain that loads documents whose pages have all ended into the knowledge base."""

from typing import Annotated

from prefect import flow
from pydantic import Field

from flows.lines import LOAD
from flows.opening import open_mill
from models.stage import Stage
from tasks.drain import drain, lingering


@flow(name="load", persist_result=False)
def load(
    profile: Annotated[str, Field(description="Profile whose documents are loaded.")] = "ppocr",
    budget_s: Annotated[
        float | None, Field(description="Most seconds to work; empty: no limit.", gt=0)
    ] = None,
    linger_s: Annotated[float, Field(description="Seconds to wait for more work.", ge=0)] = 5.0,
) -> int:
    """Load finished documents until nothing is left; returns the id of the run."""
    with open_mill("load", profile, [], None, reads=False) as (mill, _):
        stages = [Stage.LOAD]
        drain(mill, LOAD, lingering(lambda: mill.outstanding(stages) == 0, linger_s), budget_s)
        return mill.run_id
