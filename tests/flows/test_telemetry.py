"""Telemetry beside a real drain: kept with the run, and never in its way."""

import logging
import threading
from dataclasses import dataclass

import pytest

from db import telemetry as stored
from models.errors import DatabaseBusy
from models.stage import Stage
from tasks import telemetry
from tasks.telemetry import sampled, workers_of
from tasks.work.engines.fake import Delayed, FakeEngine, said
from tasks.work.nvml import Gpus, open_gpus
from tests import factories
from tests.flows.yard import Yard, saying
from tests.served import until
from tests.unit.test_nvml import Nvml


@dataclass
class Opened:
    """Opens stand-ins for GPUs; `library` says whether they were closed again."""

    library: Nvml

    def __call__(self) -> Gpus | None:
        return open_gpus(self.library.module)


def devices(yard: Yard) -> set[str]:
    return {row.device for row in yard.rows("telemetry")}


def test_gpus_processes_and_queues_are_kept_with_the_run(yard: Yard) -> None:
    mill, _ = yard.mill(saying())
    opened = Opened(Nvml([75], [500]))
    with sampled(mill, opened, every_s=0.05):
        until(lambda: devices(yard))
    mill.close()
    assert devices(yard) == {
        "gpu:0",
        "pagemill",
        "stage:split",
        "stage:preprocess",
        "stage:ocr",
        "stage:load",
    }
    assert {row.run_id for row in yard.rows("telemetry")} == {mill.run_id}
    assert not opened.library.is_open
    (gpu, *_) = yard.database.run(lambda conn: stored.uses(conn, mill.run_id))
    assert (gpu.busy, gpu.power_w) == (0.75, 500.0)


def test_a_stage_is_busy_as_far_as_its_workers_have_work(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry, "FIRST_S", 0.3)
    factories.write(yard.inbox / "a.pdf", factories.pdf(*"123456789"))
    yard.ingest(FakeEngine(default=Delayed(0.5, said("Words on paper")), slots=2))
    seen = yard.rows("telemetry", device="stage:ocr")
    assert seen
    assert all(0 <= row.busy <= 1 and row.queued >= 0 for row in seen)


def test_a_machine_without_gpus_stores_none_and_says_so_once(
    yard: Yard, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "tasks.work.nvml")
    mill, _ = yard.mill(saying())
    with sampled(mill, Opened(Nvml([], is_there=False)), every_s=0.05):
        until(lambda: devices(yard))
    mill.close()
    assert not [device for device in devices(yard) if device.startswith("gpu")]
    assert len([record for record in caplog.records if "no GPU telemetry" in record.getMessage()]) == 1


def test_samples_that_cannot_be_kept_are_lost_and_the_run_goes_on(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_arguments: object) -> None:
        raise DatabaseBusy("one moment")

    monkeypatch.setattr(stored, "save", busy)
    monkeypatch.setattr(stored, "queues", busy)
    monkeypatch.setattr("db.engine._TRIES", 1)
    mill, _ = yard.mill(saying())
    with sampled(mill, Opened(Nvml([80])), every_s=0.05):
        threading.Event().wait(0.3)
    mill.close()
    assert yard.rows("telemetry") == []


def test_a_mill_without_an_engine_has_no_workers_that_read(yard: Yard) -> None:
    mill, _ = yard.mill(FakeEngine(default=said("x"), slots=7))
    assert workers_of(mill)[Stage.OCR] == 7
    mill._engine = None
    assert Stage.OCR not in workers_of(mill)
    mill.close()
