"""Benchmarks of whole runs at toy size: memory against pages, CPU by kind of page, what Prefect costs."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pymupdf
import pytest

from bench import child, family, growth, ingested, kinds, load
from bench.double import Seat, double, filled, filled_at
from models import profiles
from tests.bench import toys

PAGES = 3
ROW = {"command_peak_mb": 500, "worker_peak_mb": 150}


def test_a_child_knows_one_more_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiles, "PROFILES", dict(profiles.PROFILES))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    made = toys.GLM.model_copy(update={"name": "mine", "ladder": ()})
    environ = child.environ(made, PAGEMILL_HOME="/somewhere")
    assert environ["PAGEMILL_HOME"] == "/somewhere"
    assert environ["PATH"] == os.environ["PATH"]
    assert "PYTHONDONTWRITEBYTECODE" not in environ
    assert child.admit(environ) == profiles.get("mine") == made
    assert child.command("ingest", "a.pdf")[-3:] == ["bench.child", "ingest", "a.pdf"]


def test_seats_are_filled_until_the_last_request_came() -> None:
    seats = [Seat(0, 0, 10), Seat(0, 0, 5), Seat(5, 5, 20), Seat(10, 10, 30)]
    assert filled(seats, 2) == 1
    assert filled(seats, 4) == 0.5
    assert filled([Seat(0, 0, 10), Seat(0, 2, 10), Seat(10, 10, 11)], 2) == 0.9
    assert filled([Seat(1, 1, 2)], 4) == 0


def test_slots_are_looked_at_in_the_moments_when_pages_waited() -> None:
    seats = [Seat(0, 0, 10), Seat(0, 5, 10)]
    assert filled_at(seats, 2, [1, 6]) == 0.75
    assert filled_at(seats, 2, [10, 11]) == 0
    assert filled_at(seats, 2, []) is None


@pytest.mark.slow
def test_a_double_elsewhere_answers_and_tells_who_came() -> None:
    picture = toys.ROOT / "docs" / "img" / "report.png"
    with double(2, 0.01, 30) as server:
        volley = load.fire(server.url, [load.body(picture, toys.vlm(), 400)] * 3, 2)
    assert volley.failed == 0
    assert len(server.seats) == 3
    assert all(seat.came <= seat.seated <= seat.ended for seat in server.seats)


def test_members_of_a_run_are_told_apart_by_role(tmp_path: Path) -> None:
    sleeper = psutil.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        found = {process.pid: role for role, process in family.members(psutil.Process(), tmp_path)}
        assert found[os.getpid()] == "command"
        assert found[sleeper.pid] == "worker"
        seen = family.Family()
        for _ in range(2):
            seen.look(psutil.Process(), tmp_path, at_pss=True)
    finally:
        sleeper.kill()
        sleeper.wait()
    used = psutil.Process().cpu_times()
    assert 0 < seen.cpu["command"] <= used.user + used.system
    assert seen.peaks("command")[0] >= psutil.Process().memory_info().rss / 2**20 * 0.99
    assert seen.pss_mb["worker"] > 0
    assert seen.peaks("postgres") == []


@pytest.mark.slow
def test_the_cpu_of_a_tree_holds_children_of_children_that_have_ended(tmp_path: Path) -> None:
    burn = "import time\nwhile time.process_time() < 0.3: pass"
    # As a server of forks: it waits for its own children, and nobody waits for it.
    waiting = f"subprocess.run([sys.executable, '-c', {burn!r}]); print('ended', flush=True)"
    child_ = f"import subprocess, sys, time; {waiting}; time.sleep(60)"
    parent = (
        f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child_!r}]); time.sleep(60)"
    )
    process = psutil.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ended\n"
        seen = family.Family()
        seen.look(process, tmp_path, at_pss=False)
        # A child that has ended counts in whole ticks, less one or two.
        assert seen.tree_s >= 0.25
    finally:
        for one in [*process.children(recursive=True), process]:
            one.kill()
        process.communicate()


def test_documents_to_grow_by_have_all_their_pages_and_no_two_alike(tmp_path: Path) -> None:
    paths = growth.documents(tmp_path / "in", 5, 2)
    counts = []
    texts = []
    for path in paths:
        with pymupdf.open(path) as document:
            counts.append(document.page_count)
            texts += [page.get_text() for page in document]
    assert counts == [2, 2, 1]
    assert len(set(texts)) == 5


@pytest.mark.parametrize(
    ("last", "is_flat"),
    [(ROW, True), ({**ROW, "command_peak_mb": 620}, True), ({**ROW, "worker_peak_mb": 200}, False)],
)
def test_memory_is_flat_while_a_quarter_more_is_the_most(last: dict[str, int], is_flat: bool) -> None:
    first = {"command_peak_mb": 300, "worker_peak_mb": 150}
    assert growth.is_flat([first, ROW, last]) is is_flat
    assert growth.is_flat([ROW])


@pytest.mark.slow
def test_a_run_is_watched_from_its_first_request_to_its_last_page() -> None:
    done, row = growth.measure(PAGES, ingested.Served(slots=2, seconds=0.05, words=60, jobs=1))
    assert (row["pages"], row["requests"]) == (PAGES, PAGES)
    assert done.cpu_s > 1
    assert done.postgres_s > 0
    assert 50 < float(str(row["command_peak_mb"])) < 2_000
    assert done.first_picture_s > 0
    # Nothing was filled between first and last request where all came in the same moment.
    assert 0 <= done.filled <= 1


def test_pages_are_taken_out_of_documents_by_kind(tmp_path: Path) -> None:
    made = kinds.excerpts([toys.SCAN, toys.TYPED, toys.BROKEN, toys.FAX], tmp_path, 5, 1)
    assert {kind: len(paths) for kind, paths in made.items()} == {"text": 1, "scan": 1}
    with pymupdf.open(made["scan"][0]) as document:
        assert document.page_count == 1
    assert kinds.excerpts([toys.TYPED], tmp_path / "none", 0, 1) == {}


def test_a_kind_has_its_cpu_with_and_without_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(paths: list[Path], _served: object) -> ingested.Ingested:
        pages, cpu_s = (1, 8.0) if paths[0].name == "one.pdf" else (11, 9.0)
        return ingested.Ingested(pages, pages, 2.0, cpu_s, 0.1, 0.9, None, 0.1, 0.1, family.Family())

    monkeypatch.setattr(kinds, "_run", run)
    (row,) = kinds.measure({"text": [toys.TYPED]}, ingested.Served())
    assert (row["cpu_s_per_page"], row["of_one_page_s"]) == (0.8182, 8.0)
    assert row["without_start_s_per_page"] == 0.1
    assert row["target_s"] == 0.1
