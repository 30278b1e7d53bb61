"""Benchmarks around whole runs at toy size: pipeline, overhead, corpus, memory, scanning, installation."""

import os
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
import sqlalchemy as sa

from bench import corpus, ingested, installation, memory, overhead, pipeline, scanning
from bench.family import Family
from db import tables
from db.engine import Database
from models.settings import load_settings
from tasks.work.doubles.vllm_server import Said, ScriptedVllm
from tasks.work.processes.background import MARK
from tests import factories
from tests.bench import toys
from tests.flows.yard import Yard


def test_a_fixed_profile_answers_with_just_so_many_tokens_and_tries_once() -> None:
    made = pipeline.fixed(toys.GLM, 40)
    assert made.vlm is not None
    assert made.vlm.sampling.max_tokens == 40
    assert made.vlm.sampling.extra == {"ignore_eos": True, "min_tokens": 40}
    assert (made.name, made.ladder) == ("bench", ())
    assert pipeline.Profile.model_validate_json(made.model_dump_json(by_alias=True)) == made


@pytest.mark.slow
def test_the_pipeline_is_measured_against_ready_made_requests(in_process: None, tmp_path: Path) -> None:
    with ScriptedVllm(Said("A short page.", tokens=32)) as server:
        try:
            rows = list(
                pipeline.measure(
                    toys.GLM, toys.wish("--in-flight", "2", "--recipe", "orient=false"), server.url, tmp_path
                )
            )
        finally:
            ingested.stop(tmp_path)
    ingest, raw = pipeline.compared(rows)
    assert (ingest["pages"], raw["pages"], raw["failed"]) == (2, 2, 0)
    assert ingest["cpu_s_per_page"] > 0
    assert raw["of_raw"] == 1


@pytest.mark.slow
def test_a_picture_that_several_pages_share_is_sent_once(
    database: Database, postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard = Yard(database, tmp_path / "home", tmp_path / "in")
    factories.write(yard.inbox / "a.pdf", factories.pdf("The same page", "Another page", title="A"))
    factories.write(yard.inbox / "b.pdf", factories.pdf("The same page", title="B"))
    yard.ingest(recipe=("long_edge_px=400",))
    assert len(yard.rows("reading")) == 3
    settings = load_settings(home=yard.home, database_url=postgres)
    paths = pipeline.sent(settings)
    assert len(paths) == len(set(paths)) == 2
    assert all(path.is_file() for path in paths)


def test_samples_are_told_apart_by_role_and_only_what_is_new_counts() -> None:
    me, watch = psutil.Process(), overhead.Watch()
    for elapsed in (0.5, 1.0):
        watch.look(me, Path("/nowhere"), elapsed)
    used, cpu = me.cpu_times(), watch.family.cpu
    assert 0 < cpu["command"] <= used.user + used.system
    assert cpu["postgres"] == 0
    assert len(watch.busy) == 2


def test_the_overhead_is_what_command_and_postgres_used() -> None:
    cpu = {"command": 1.0, "postgres": 1.0, "worker": 18.0}
    watch = overhead.Watch(Family(cpu), [(0.5, 0.0), (5.0, 0.9), (9.8, 0.1)])
    text = overhead.report(watch, 10.0, {"rows": [{"key": "split"}, {"key": "ocr", "pages": 7}]}, 2)
    assert "| pages read | 7 |" in text
    assert "share of CPU** | **10.0%** |" in text
    assert "of the run** | **90%** |" in text
    assert watch.busy_between(20, 30) == 0


@pytest.mark.slow
@pytest.mark.slow
def test_the_overhead_of_a_document_is_measured_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "overhead.md"
    words = [str(toys.TYPED), "--jobs", "1", "--recipe", "text_layer=prefer", "--write", str(target)]
    monkeypatch.setattr(sys, "argv", ["overhead.py", *words])
    overhead.main()
    assert "| pages read | 2 |" in capsys.readouterr().out
    assert "share of CPU" in target.read_text()


def test_a_long_document_is_split_and_drawn_in_workers_whose_peaks_are_told(tmp_path: Path) -> None:
    path = tmp_path / "long.pdf"
    memory.make_long_pdf(path, 4)
    found = list(memory.peaks(path, 4, 1, tmp_path / "store"))
    assert len(found) == 1 + 4
    assert os.getpid() not in {peak.pid for peak in found}
    assert all(10 < peak.mb < 500 for peak in found)


def test_the_memory_report_has_the_highest_peak_of_each_process() -> None:
    found = [memory.Peak(1, 90), memory.Peak(1, 120), memory.Peak(2, 100)]
    text = memory.report(found, memory.Peak(3, 80), 12.4, 4, "the command")
    assert "4 pages" in text
    assert "in 12 s" in text
    assert "| parent | 80 MB |" in text
    assert "120 MB, 100 MB |" in text
    assert "90 MB" not in text


def test_a_peak_never_falls() -> None:
    before = memory.peak_now()
    after = memory.peak_after(bytearray, 1_000)
    assert after.pid == before.pid == os.getpid()
    assert after.mb >= before.mb > 10


def test_files_to_scan_differ_and_lie_in_folders_of_500(tmp_path: Path) -> None:
    scanning.fill(tmp_path, 501, 1)
    files = sorted(tmp_path.rglob("*.pdf"))
    assert [len(list((tmp_path / name).iterdir())) for name in ("0000", "0001")] == [500, 1]
    assert {path.stat().st_size for path in files} == {1024}
    assert files[0].read_bytes() != files[1].read_bytes()


def test_a_second_scan_finds_everything_unchanged(database: Database, tmp_path: Path) -> None:
    scanning.fill(tmp_path / "in", 5, 1)
    first, second = (scanning.measured(database, tmp_path / "home", tmp_path / "in") for _ in range(2))
    assert first.endswith("unchanged 0")
    assert second.endswith("unchanged 5")
    count = sa.select(sa.func.count()).select_from(tables.document)
    assert database.run(lambda conn: conn.execute(count).scalar_one()) == 5


def test_costs_of_an_installation_add_up() -> None:
    mine = installation.cost([psutil.Process()])
    assert mine.processes == 1
    assert mine.cpu_s > 0
    assert mine.pss_mb > 1
    both = mine + installation.Cost(1.0, 2.0, 1)
    assert both == installation.Cost(mine.cpu_s + 1.0, mine.pss_mb + 2.0, 2)


def test_processes_of_an_installation_are_known_by_the_mark_of_their_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAGEMILL_HOME", str(tmp_path))
    marked = {MARK: f"{tmp_path.resolve()}/run/prefect"}
    others = {MARK: f"{tmp_path.resolve()}-other/run/prefect"}
    sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
    processes = [psutil.Popen(sleep, env=os.environ | env) for env in (marked, others, {})]
    try:
        found = installation.costs()
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert list(found) == ["prefect"]
    assert found["prefect"].processes == 1


STATUS = {"id": 1, "code": None, "message": None, "status": "complete"}
PAGE = {"page_no": 1, "verdict": "good", "code": None, "text": "words"}


def test_outcomes_stand_in_the_order_of_the_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "file,expected\nmissing.pdf,ok\na.pdf,ok\n"
    factories.write(tmp_path / "manifest.csv", rows.encode())

    def pagemill(_home: Path, command: str, *_: str) -> Any:
        listed = [STATUS | {"sources": [str(tmp_path / "a.pdf")]}]
        return listed if command == "status" else {"pages": [PAGE]}

    monkeypatch.setattr(corpus, "pagemill", pagemill)
    missing, found = corpus.outcomes(tmp_path, tmp_path)
    assert (missing.status, missing.agrees) == ("missing", False)
    assert (found.status, found.agrees, found.lost_pages) == ("complete", True, [])
    assert found.pages == (corpus.Page(1, "good", None, has_text=True),)


def test_a_home_that_is_named_is_kept(tmp_path: Path) -> None:
    with corpus._home(tmp_path) as home:
        assert home == tmp_path
    assert tmp_path.is_dir()
