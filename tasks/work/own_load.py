"""What this process and its children use of the machine."""

import datetime as dt
import os
import time

import psutil

from models.telemetry import PROCESSES, Sample


class OwnLoad:
    """CPU and memory of this process with its worker processes, from look to look."""

    def __init__(self) -> None:
        self._root = psutil.Process()
        self._seen: dict[int, float] = {}
        self._at = time.monotonic()
        self._used(self._family())

    def sample(self) -> Sample:
        """Share of all cores since the last look, and resident memory now."""
        family = self._family()
        used, now = self._used(family), time.monotonic()
        share = used / max(1e-6, now - self._at) / (os.cpu_count() or 1)
        self._at = now
        memory = sum(size for process in family if (size := _memory(process)))
        return Sample(PROCESSES, dt.datetime.now(dt.UTC), min(1.0, share), memory / 2**20)

    def _family(self) -> list[psutil.Process]:
        return [self._root, *self._root.children(recursive=True)]

    def _used(self, family: list[psutil.Process]) -> float:
        """CPU seconds since the last call; those of a process that ended meanwhile are lost."""
        now = {process.pid: seconds for process in family if (seconds := _seconds(process)) is not None}
        used = sum(max(0.0, seconds - self._seen.get(pid, 0.0)) for pid, seconds in now.items())
        self._seen = now
        return used


def _seconds(process: psutil.Process) -> float | None:
    try:
        times = process.cpu_times()
    except psutil.Error:
        return None
    return float(times.user + times.system)


def _memory(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0
