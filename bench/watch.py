"""The machine while something runs: GPU, memory, processors."""

import threading
import time
from abc import ABC, abstractmethod
from statistics import fmean
from typing import Self

import psutil

from bench.facts import Value
from models.telemetry import Sample
from tasks.work.nvml import open_gpus

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
    """The first GPU (through NVML, where there is one) and the host."""

    def __init__(self) -> None:
        super().__init__()
        # Its first answer means nothing.
        psutil.cpu_percent()
        self._gpus = open_gpus()
        self.gpu: list[Sample] = []
        self.cpu: list[float] = []
        self.memory_mb: list[float] = []

    def row(self) -> dict[str, Value]:
        """Means, and the most memory; without what a short measurement did not see."""
        told: dict[str, Value] = {}
        if self.cpu:
            told["cores_busy"] = round(fmean(self.cpu) / 100 * (psutil.cpu_count() or 1), 2)
            told["host_memory_mb"] = round(max(self.memory_mb))
        if self.gpu:
            told["gpu_busy"] = round(fmean(look.busy or 0.0 for look in self.gpu), 3)
            told["gpu_memory_mb"] = round(max(look.memory_mb or 0.0 for look in self.gpu))
        if power_w := [look.power_w for look in self.gpu if look.power_w is not None]:
            told["gpu_power_w"] = round(fmean(power_w))
        return told

    def look(self) -> None:
        """Take in one sample of each."""
        self.cpu.append(psutil.cpu_percent())
        self.memory_mb.append(psutil.virtual_memory().used / 2**20)
        self.gpu += self._gpus.sample()[:1] if self._gpus else []


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
