"""Flow ocr: a drain that reads prepared pages with one profile, on the CPU or on a GPU worker."""

from typing import Annotated

from prefect import flow
from pydantic import Field

from flows.lines import ocr_lines
from flows.opening import open_mill
from models.stage import Stage
from tasks.drain import drain, lingering


@flow(name="ocr", persist_result=False)
def ocr(
    profile: Annotated[str, Field(description="OCR profile to read with.")] = "ppocr",
    budget_s: Annotated[
        float | None, Field(description="Most seconds to work; empty: no limit.", gt=0)
    ] = None,
    linger_s: Annotated[float, Field(description="Seconds to wait for more work.", ge=0)] = 5.0,
) -> int:
    """Read prepared pages until nothing is left; returns the id of the run."""
    with open_mill("ocr", profile, [], None, reads=True) as (mill, _):
        stages = [Stage.OCR]
        drain(
            mill,
            ocr_lines(mill.profile),
            lingering(lambda: mill.outstanding(stages) == 0, linger_s),
            budget_s,
        )
        return mill.run_id
