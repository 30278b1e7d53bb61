"""Flow ocr: a drain that reads prepared pages with one profile, on the CPU or on a GPU worker."""

from prefect import flow

from flows.lines import ocr_lines
from flows.opening import open_mill
from models.stage import Stage
from tasks.drain import drain, lingering


@flow(name="ocr", persist_result=False)
def ocr(profile: str = "ppocr", budget_s: float | None = None, linger_s: float = 5.0) -> int:
    """Read prepared pages until nothing is left; returns the id of the run.

    Args:
        profile: OCR profile to read with.
        budget_s: Most seconds to work; empty for no limit.
        linger_s: Seconds to wait for more work before the end.
    """
    with open_mill("ocr", profile, [], None, reads=True) as (mill, _):
        stages = [Stage.OCR]
        drain(
            mill,
            ocr_lines(mill.profile),
            lingering(lambda: mill.outstanding(stages) == 0, linger_s),
            budget_s,
        )
        return mill.run_id
