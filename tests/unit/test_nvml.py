"""GPUs through a stand-in for NVML, and this process through the system itself."""

import logging
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from models.telemetry import PROCESSES
from tasks.work.nvml import open_gpus
from tasks.work.own_load import OwnLoad


class NVMLError(Exception):
    pass


@dataclass
class Nvml:
    """What pynvml does, for GPUs that are `busy` so many percent; None: that one has fallen off the bus."""

    busy: list[int | None]
    power: list[int | None] = field(default_factory=list)
    is_there: bool = True
    is_open: bool = False

    @property
    def module(self) -> SimpleNamespace:
        return SimpleNamespace(
            NVMLError=NVMLError,
            nvmlInit=self.start,
            nvmlShutdown=self.stop,
            nvmlDeviceGetCount=lambda: len(self.busy),
            nvmlDeviceGetHandleByIndex=lambda index: index,
            nvmlDeviceGetUtilizationRates=self.rates,
            nvmlDeviceGetMemoryInfo=lambda handle: SimpleNamespace(used=(handle + 1) * 2**30),
            nvmlDeviceGetPowerUsage=self.milliwatts,
        )

    def start(self) -> None:
        if not self.is_there:
            raise NVMLError("Driver Not Loaded")
        self.is_open = True

    def stop(self) -> None:
        self.is_open = False

    def rates(self, handle: int) -> SimpleNamespace:
        if self.busy[handle] is None:
            raise NVMLError("GPU is lost")
        return SimpleNamespace(gpu=self.busy[handle])

    def milliwatts(self, handle: int) -> int:
        watts = self.power[handle] if handle < len(self.power) else None
        if watts is None:
            raise NVMLError("Not Supported")
        return watts * 1000


def test_each_gpu_is_looked_at_in_our_units() -> None:
    library = Nvml([87, 3], [612, 90])
    gpus = open_gpus(library.module)
    assert gpus is not None
    first, second = gpus.sample()
    assert (first.device, first.busy, first.memory_mb, first.power_w) == ("gpu:0", 0.87, 1024.0, 612.0)
    assert (second.device, second.memory_mb) == ("gpu:1", 2048.0)
    gpus.close()
    assert not library.is_open


def test_what_a_gpu_does_not_tell_is_left_open_and_a_lost_one_is_left_out() -> None:
    gpus = open_gpus(Nvml([50, None]).module)
    assert gpus is not None
    (sample,) = gpus.sample()
    assert (sample.device, sample.busy, sample.power_w) == ("gpu:0", 0.5, None)


def test_a_machine_without_a_driver_has_no_gpus_and_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    assert open_gpus(Nvml([], is_there=False).module) is None
    assert [record.getMessage() for record in caplog.records] == ["no GPU telemetry: Driver Not Loaded"]


def test_a_machine_without_the_package_has_no_gpus_and_names_the_extra(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setitem(__import__("sys").modules, "pynvml", None)
    assert open_gpus() is None
    assert "extra `gpu`" in caplog.text


def test_our_processes_have_memory_and_a_share_of_the_cores() -> None:
    own = OwnLoad()
    sum(number * number for number in range(300_000))
    sample = own.sample()
    assert sample.device == PROCESSES
    assert sample.memory_mb is not None
    assert sample.memory_mb > 20
    assert sample.busy is not None
    assert 0 < sample.busy <= 1
