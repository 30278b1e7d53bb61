"""Flow split: a CPU drain. Documents become pages, pages become page images."""

from typing import Annotated

from prefect import flow
from pydantic import Field

from flows.lines import SPLIT
from flows.opening import open_mill
from models.stage import Stage
from tasks.drain import drain, lingering


@flow(name="split", persist_result=False)
def split(
    profile: Annotated[str, Field(description="Profile whose documents are prepared.")] = "ppocr",
    budget_s: Annotated[
        float | None, Field(description="Most seconds to work; empty: no limit.", gt=0)
    ] = None,
    linger_s: Annotated[float, Field(description="Seconds to wait for more work.", ge=0)] = 5.0,
) -> int:
    """Split and prepare until nothing is left; returns the id of the run."""
    with open_mill("split", profile, [], None, reads=False) as (mill, _):
        stages = [Stage.SPLIT, Stage.PREPROCESS]
        drain(mill, SPLIT, lingering(lambda: mill.outstanding(stages) == 0, linger_s), budget_s)
        return mill.run_id
