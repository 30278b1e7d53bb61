"""The machine while something runs: GPU, memory, processors."""

import statistics
import threading
import time
from abc import ABC, abstractmethod
from typing import Self

import psutil

from bench.facts import Value, open_nvml

_LOOK_S = 0.25


class Looker(ABC):
    """Looks at something again and again, in a thread of its own, for the time of a `with`."""

    def __init__(self, every_s: float = _LOOK_S) -> None:
        self._every_s, self._ended = every_s, threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    @abstractmethod
    def look(self) -> None:
        """Take in what is to be seen now."""

    def __enter__(self) -> Self:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(self._every_s):
            self.look()


class Gauge(Looker):
    """The GPU (through NVML, where there is one) and the host."""

    def __init__(self) -> None:
        super().__init__()
        # Its first answer means nothing.
        psutil.cpu_percent()
        self._nvml = open_nvml()
        self.busy: list[float] = []
        self.memory_mb: list[float] = []
        self.power_w: list[float] = []
        self.cpu: list[float] = []

    def row(self) -> dict[str, Value]:
        """Means, and the most memory; without GPU figures where no GPU answers."""
        told: dict[str, Value] = {"cores_busy": round(_mean(self.cpu) / 100 * (psutil.cpu_count() or 1), 2)}
        if self.busy:
            told |= {
                "gpu_busy": round(_mean(self.busy) / 100, 3),
                "gpu_memory_mb": round(max(self.memory_mb)),
                "gpu_power_w": round(_mean(self.power_w)),
            }
        return told

    def look(self) -> None:
        """Take in one sample of each."""
        self.cpu.append(psutil.cpu_percent())
        if self._nvml is not None:
            handle = self._nvml.nvmlDeviceGetHandleByIndex(0)
            self.busy.append(self._nvml.nvmlDeviceGetUtilizationRates(handle).gpu)
            self.memory_mb.append(self._nvml.nvmlDeviceGetMemoryInfo(handle).used / 2**20)
            self.power_w.append(self._nvml.nvmlDeviceGetPowerUsage(handle) / 1000)


class CpuClock:
    """CPU seconds and peak memory of a process and all the children it has while it is watched."""

    def __init__(self, pid: int) -> None:
        self._root = psutil.Process(pid)
        self._used: dict[tuple[int, float], float] = {}
        self.peak_mb = 0.0

    @property
    def seconds(self) -> float:
        """CPU seconds so far, of ended children too."""
        return sum(self._used.values())

    def look(self) -> None:
        """Take in what the family has used; call often."""
        memory = 0.0
        for process in self._family():
            try:
                times = process.cpu_times()
                self._used[process.pid, process.create_time()] = times.user + times.system
                memory += process.memory_info().rss
            except psutil.Error:
                continue
        self.peak_mb = max(self.peak_mb, memory / 2**20)

    def watch(self, process: "psutil.Popen", every_s: float = 0.1) -> int:
        """Look until `process` ends; its exit code."""
        while (code := process.poll()) is None:
            self.look()
            time.sleep(every_s)
        return int(code)

    def _family(self) -> list[psutil.Process]:
        try:
            return [self._root, *self._root.children(recursive=True)]
        except psutil.Error:
            return []


def _mean(values: list[float]) -> float:
    return statistics.fmean(values) if values else 0.0
