"""Telemetry of a drain: GPUs, our processes and the stages' queues, looked at now and then."""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from db import telemetry
from models.errors import PagemillError
from models.stage import Stage
from models.telemetry import STAGE, Sample
from tasks.mill import Mill
from tasks.work.nvml import Gpus, open_gpus
from tasks.work.own_load import OwnLoad

log = logging.getLogger(__name__)

FIRST_S, EVERY_S = 1.0, 5.0
_KEPT_AT_ONCE = 60


@contextmanager
def sampled(
    mill: Mill, open_them: Callable[[], Gpus | None] = open_gpus, every_s: float = EVERY_S
) -> Iterator[None]:
    """Look at everything each `every_s` seconds while the body runs, and keep it with the mill's run.

    What cannot be looked at or kept is left out: telemetry never ends a run.
    """
    ended = threading.Event()
    sampler = _Sampler(mill, open_them, every_s)
    thread = threading.Thread(target=sampler.run, args=(ended,), name="telemetry", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


class _Sampler:
    def __init__(self, mill: Mill, open_them: Callable[[], Gpus | None], every_s: float) -> None:
        self._mill, self._open, self._every_s = mill, open_them, every_s
        self._samples: list[Sample] = []

    def run(self, ended: threading.Event) -> None:
        gpus, own = self._open(), OwnLoad()
        pause = min(FIRST_S, self._every_s)
        while not ended.wait(pause):
            pause = self._every_s
            self._samples += [*(gpus.sample() if gpus else ()), own.sample(), *self._stages()]
            if len(self._samples) >= _KEPT_AT_ONCE:
                self._keep()
        self._keep()
        if gpus:
            gpus.close()

    def _stages(self) -> list[Sample]:
        mill = self._mill
        try:
            queues = mill.database.run(lambda conn: telemetry.queues(conn, mill.profile.name))
        except PagemillError as error:
            log.info("queues not seen code=%s", error.code)
            return []
        now, workers = mill.now(), workers_of(mill)
        return [
            Sample(f"{STAGE}{stage}", now, min(1.0, in_hand / workers[stage]), queued=queued, in_hand=in_hand)
            for stage in workers
            for queued, in_hand in [queues.get(stage, (0, 0))]
        ]

    def _keep(self) -> None:
        samples, self._samples = self._samples, []
        try:
            self._mill.database.run(lambda conn: telemetry.save(conn, self._mill.run_id, samples))
        except PagemillError as error:
            log.info("telemetry lost samples=%d code=%s", len(samples), error.code)


def workers_of(mill: Mill) -> Mapping[Stage, int]:
    """How many pieces of work of each stage this mill can have in work at once."""
    workers = {Stage.SPLIT: mill.jobs, Stage.PREPROCESS: mill.jobs, Stage.LOAD: 1}
    return workers | ({Stage.OCR: mill.engine.slots} if mill.reads else {})
