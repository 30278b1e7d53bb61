"""Flow ocr: a drain that reads prepared pages with one profile, on the CPU or on a GPU worker."""

from prefect import flow
from prefect.client.schemas.objects import State

from flows.draining import Budget, Linger, drain_stages
from flows.lines import ocr_lines
from flows.naming import run_name
from models.stage import Stage


@flow(name="ocr", flow_run_name=run_name("ocr"), persist_result=False)
def ocr(profile: str = "ppocr", budget_s: Budget | None = None, linger_s: Linger = 5.0) -> State[int]:
    """Read prepared pages until nothing is left; its result is the id of the run.

    Args:
        profile: OCR profile to read with.
        budget_s: Most seconds to work; empty for no limit.
        linger_s: Seconds to wait for more work before the end.
    """
    return drain_stages(
        "ocr",
        [Stage.OCR],
        ocr_lines,
        profile,
        budget_s=budget_s,
        linger_s=linger_s,
        before=[Stage.SPLIT, Stage.PREPROCESS],
        reads=True,
    )
