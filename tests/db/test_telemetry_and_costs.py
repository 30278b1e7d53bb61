"""Samples of runs, queues as they stand, and what reading came to in GPU seconds."""

import datetime as dt

import pytest
import sqlalchemy as sa

from db import claims, costs, runs, telemetry, timings
from db.engine import Database
from models.cost import Price
from models.stage import Stage
from models.telemetry import PROCESSES, Sample
from models.timing import StageRun
from tests.db import steps
from tests.db.steps import intake, lease, prepare, register, split

NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)


@pytest.fixture
def library(database: Database) -> Database:
    register(database, intake("/a.pdf", "a"), intake("/b.pdf", "b"))
    return database


def sample(device: str, busy: float, **more: float) -> Sample:
    return Sample(device, NOON, busy, **more)  # type: ignore[arg-type]


def keep(database: Database, *samples: Sample, run_id: int = 1) -> None:
    database.run(lambda conn: telemetry.save(conn, run_id, samples))


def read(
    database: Database, document: int, start: float, seconds: float, run_id: int = 1, **more: int
) -> None:
    """A document's pages, `seconds` of engine time of which began `start` seconds after noon."""
    began = NOON + dt.timedelta(seconds=start)
    ended = began + dt.timedelta(seconds=seconds)
    values = {"pages": 1} | more
    row = StageRun(document, Stage.OCR, 1, began, began, ended, seconds, **values)  # type: ignore[arg-type]
    database.run(lambda conn: timings.record(conn, run_id, [row]))


def rows(
    database: Database, by: costs.By, document_id: int | None = None
) -> dict[str, tuple[int, float, float]]:
    report = database.run(lambda conn: costs.report(conn, by, Price(1.0), document_id))
    return {row.key: (row.pages, row.wall_s, row.gpu_s) for row in report.rows}


def test_samples_of_a_device_come_to_means_and_the_most_memory(library: Database) -> None:
    keep(
        library,
        sample("gpu:0", 0.5, memory_mb=100, power_w=300),
        sample("gpu:0", 1.0, memory_mb=80, power_w=500),
    )
    keep(library, sample(PROCESSES, 0.2, memory_mb=7))
    gpu, own = library.run(lambda conn: telemetry.uses(conn, 1))
    assert (gpu.device, gpu.samples, gpu.busy, gpu.memory_mb, gpu.power_w) == ("gpu:0", 2, 0.75, 100, 400)
    assert (own.device, own.power_w, own.queued) == (PROCESSES, None, None)
    assert gpu.busy_p10 == pytest.approx(0.55)


def test_the_newest_run_is_the_last_that_left_samples(library: Database) -> None:
    assert library.run(telemetry.newest_run) is None
    library.run(lambda conn: runs.start(conn, "ocr", steps.RECIPE, {}))
    keep(library, sample("gpu:0", 0.5))
    assert library.run(telemetry.newest_run) == 1


def test_queues_count_what_is_ready_and_what_is_in_hand(library: Database) -> None:
    profile = steps.RECIPE.profile
    assert library.run(lambda conn: telemetry.queues(conn, profile)) == {Stage.SPLIT: (2, 0)}
    split(library, 3)
    prepare(library)
    lease(library, Stage.OCR, 2)
    assert library.run(lambda conn: telemetry.queues(conn, profile)) == {Stage.OCR: (4, 2)}
    assert library.run(lambda conn: telemetry.queues(conn, "another")) == {}
    library.run(lambda conn: claims.release(conn, steps.OWNER))
    assert library.run(lambda conn: telemetry.queues(conn, profile)) == {Stage.OCR: (6, 0)}


def test_a_run_costs_the_time_its_engine_was_at_work(library: Database) -> None:
    read(library, 1, 0, 30, pages=3)
    read(library, 2, 20, 20, pages=2)
    assert rows(library, "run") == {"1": (5, 40.0, 40.0)}
    assert rows(library, "profile") == {steps.RECIPE.profile: (5, 40.0, 40.0)}


def test_documents_share_their_run_by_engine_seconds(library: Database) -> None:
    read(library, 1, 0, 30, pages=3)
    read(library, 2, 20, 10, pages=2)
    assert rows(library, "document") == {"1": (3, 22.5, 22.5), "2": (2, 7.5, 7.5)}
    assert rows(library, "document", 2) == {"2": (2, 7.5, 7.5)}


def test_every_gpu_of_a_run_counts(library: Database) -> None:
    read(library, 1, 0, 30)
    keep(library, sample("gpu:0", 0.5), sample("gpu:1", 0.5), sample("gpu:1", 0.5), sample(PROCESSES, 0.1))
    assert rows(library, "run")["1"] == (1, 30.0, 60.0)


def test_pages_that_were_copied_cost_nothing(library: Database) -> None:
    read(library, 1, 0, 30, pages=3, cached=1)
    read(library, 2, 0, 0, pages=2, cached=2)
    assert rows(library, "document") == {"1": (2, 30.0, 30.0)}


def test_tokens_add_up_over_batches(library: Database) -> None:
    read(library, 1, 0, 10, tokens_in=100, tokens_out=20)
    read(library, 1, 10, 10, tokens_in=50, tokens_out=5)
    (row,) = library.run(lambda conn: costs.report(conn, "run", Price(1.0))).rows
    assert (row.tokens_in, row.tokens_out) == (150, 25)


def test_the_limit_is_told_from_the_newest_watched_run(library: Database) -> None:
    read(library, 1, 0, 10)
    stage = Sample("stage:ocr", NOON, 1.0, queued=40, in_hand=8)
    keep(library, stage, Sample("stage:split", NOON, 0.0, queued=0, in_hand=0), sample("gpu:0", 0.9))
    limit = library.run(lambda conn: costs.report(conn, "run", Price(1.0))).limit
    assert limit is not None
    assert [(use.stage, use.busy, use.queued) for use in limit.stages] == [
        ("split", 0.0, 0.0),
        ("ocr", 1.0, 40.0),
    ]
    assert (limit.stage, limit.gpu_busy) == (limit.stages[1], 0.9)


def test_timings_show_what_devices_did_but_not_the_queues(library: Database) -> None:
    read(library, 1, 0, 10)
    keep(library, sample("gpu:0", 0.9), Sample("stage:ocr", NOON, 1.0, queued=40, in_hand=8))
    report = library.run(lambda conn: timings.report(conn, "stage"))
    assert [use.device for use in report.devices] == ["gpu:0"]


def test_of_runs_that_ended_long_ago_one_sample_a_device_is_kept(library: Database) -> None:
    for run_id in (1, new_run(library)):
        keep(library, *[sample("gpu:0", 0.5)] * 3, *[sample("gpu:1", 0.5)] * 2, run_id=run_id)
    assert library.run(lambda conn: telemetry.thin_out(conn, 30)) == 0
    ended = sa.text("UPDATE run SET ended_at = now() - interval '31 days' WHERE id = 1")
    library.run(lambda conn: conn.execute(ended))
    assert library.run(lambda conn: telemetry.thin_out(conn, 30)) == 3
    assert library.run(lambda conn: telemetry.thin_out(conn, 30)) == 0
    counts = [
        {use.device: use.samples for use in library.run(lambda c, r=r: telemetry.uses(c, r))} for r in (1, 2)
    ]
    assert counts == [{"gpu:0": 1, "gpu:1": 1}, {"gpu:0": 3, "gpu:1": 2}]


def new_run(database: Database) -> int:
    return database.run(lambda conn: runs.start(conn, "ingest", None, {}))
