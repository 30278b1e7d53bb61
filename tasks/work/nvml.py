"""How busy NVIDIA GPUs are, from the driver through NVML (package nvidia-ml-py, extra `gpu`)."""

import datetime as dt
import logging
from typing import Any

from models.telemetry import GPU, Sample

log = logging.getLogger(__name__)


class Gpus:
    """The GPUs of this machine. `library` is the module pynvml, initialised."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._handles = [
            library.nvmlDeviceGetHandleByIndex(index) for index in range(library.nvmlDeviceGetCount())
        ]

    def sample(self) -> list[Sample]:
        """One look at each GPU that answers; what one does not tell (power on some) is None."""
        return [
            sample
            for index, handle in enumerate(self._handles)
            if (sample := self._look(f"{GPU}{index}", handle)) is not None
        ]

    def close(self) -> None:
        """Leave the library."""
        self._library.nvmlShutdown()

    def _look(self, device: str, handle: Any) -> Sample | None:
        library = self._library
        try:
            busy = library.nvmlDeviceGetUtilizationRates(handle).gpu / 100
            memory_mb = library.nvmlDeviceGetMemoryInfo(handle).used / 2**20
        except library.NVMLError as error:
            log.info("%s does not answer: %s", device, error)
            return None
        return Sample(device, dt.datetime.now(dt.UTC), busy, memory_mb, self._power(handle))

    def _power(self, handle: Any) -> float | None:
        try:
            return float(self._library.nvmlDeviceGetPowerUsage(handle)) / 1000
        except self._library.NVMLError:
            return None


def open_gpus(library: Any = None) -> Gpus | None:
    """The GPUs of this machine; None, and a line in the log, where there are none or they cannot be asked."""
    try:
        if library is None:
            import pynvml  # noqa: PLC0415 (an extra, absent on most machines)

            library = pynvml
    except ImportError:
        log.info("no GPU telemetry: the package nvidia-ml-py is not installed (extra `gpu`)")
        return None
    try:
        library.nvmlInit()
        return Gpus(library)
    except library.NVMLError as error:
        log.info("no GPU telemetry: %s", error)
        return None
