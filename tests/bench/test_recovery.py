"""The bench of kills and that of hosts, at toy size; the kills themselves need minutes."""

import itertools
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
import pymupdf
import pytest

from bench import double, hosts, hosts_net, recovery, recovery_kills, recovery_site
from bench.hosts import Round
from bench.recovery_kills import KILLS, Kill, answer_for, make_clock
from bench.recovery_site import Site, write_pdf
from bench.recovery_watch import Document, Watch
from bench.served import free_port
from db.engine import Database
from models.document import MediaType
from models.settings import load_settings
from tasks.work.custom import find_profile
from tasks.work.split import split_pages
from tests.db.steps import ingest

WHOLE = Document(1, "complete", pages=3, done=3, failed=0, readings=3, pages_read=3, editions=1, again=0)
ROW = {"kill": "`flow`", "what was killed": "flow process", "faults": "none"}
PAGE = "About.\n<!-- table -->\nold\n<!-- end -->\nMore.\n"
NOWHERE: Any = None


def test_a_whole_document_has_no_fault() -> None:
    assert WHOLE.faults(failing=0) == []


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"done": 2}, "1 pages lost"),
        ({"done": 2, "failed": 1}, "1 pages failed"),
        ({"readings": 5}, "2 pages read twice"),
        ({"editions": 2}, "2 editions"),
        ({"status": "pending"}, "status pending"),
    ],
)
def test_what_must_not_be_is_told(changed: dict[str, Any], fault: str) -> None:
    values = {name: getattr(WHOLE, name) for name in Document.__slots__}
    assert fault in Document(**values | changed).faults(failing=0)


def test_a_page_that_is_made_to_fail_is_expected_to() -> None:
    broken = Document(1, "partial", pages=3, done=2, failed=1, readings=2, pages_read=2, editions=1, again=0)
    assert broken.faults(failing=1) == []
    assert WHOLE.faults(failing=1) == ["0 pages failed", "status complete"]


def test_the_longest_pause_is_counted_from_the_kill_to_the_end() -> None:
    watch = Watch(NOWHERE)
    watch.steps = [1.0, 9.0, 12.0, 40.0]
    assert watch.pause_after(10.0, 20.0) == (8.0, 10.0)
    assert watch.pause_after(2.0, 13.0) == (7.0, 7.0)
    assert watch.pause_after(13.0, 14.0) == (1.0, 1.0)


@pytest.mark.slow
def test_a_watch_sees_progress_and_outlives_a_database_that_does_not_answer(database: Database) -> None:
    url = database.engine.url.render_as_string().replace("+psycopg", "")
    answers = itertools.chain([psycopg.OperationalError("away")], itertools.repeat(None))

    class Place:
        def connect(self) -> "psycopg.Connection[Any]":
            if error := next(answers):
                raise error
            return psycopg.connect(url, autocommit=True)

    watch: Any = Watch(Place())  # type: ignore[arg-type]
    watch.look()
    assert watch.steps == []
    with watch:
        recovery_site.wait_until(lambda: watch.steps, 300, "the first look")
        ingest(database, "/a.pdf", "one", "text")
        recovery_site.wait_until(lambda: len(watch.steps) > 1, 300, "progress")
    assert watch.torn == 0
    assert watch._connection.closed


def test_a_page_of_results_gets_rows_and_keeps_those_of_other_kills() -> None:
    first = recovery.merged(PAGE, [ROW | {"kill": "`worker`"}], "the command")
    second = recovery.merged(first, [ROW], "the command")
    third = recovery.merged(second, [ROW | {"faults": "1 pages lost"}], "the command")
    lines = [line for line in third.splitlines() if line.startswith("| `")]
    assert lines == ["| `worker` | flow process | none |", "| `flow` | flow process | 1 pages lost |"]
    assert third.startswith("About.\n<!-- table -->\n`the command`")
    assert third.endswith("<!-- end -->\nMore.\n")
    assert "old" not in third


def test_kills_have_names_of_their_own_and_say_what_dies() -> None:
    names = [kill.name for kill in KILLS]
    assert len(set(names)) == len(names)
    assert all(kill.about.format(kill.outage_s) for kill in KILLS)
    assert {kill.name for kill in KILLS if kill.outage_s} == {
        "prefect-stop",
        "postgres-full",
        "postgres-cut",
        "ocr-away",
        "disk-full",
        "clock",
    }


def test_reading_lasts_longer_than_what_is_broken() -> None:
    assert answer_for(0.0, 1.0, 60) == 1.0
    assert answer_for(120.0, 1.0, 60) * 60 / recovery_site.SLOTS > 120.0


def test_pages_to_read_differ_and_an_endless_one_comes_last(tmp_path: Path) -> None:
    write_pdf(tmp_path / "a.pdf", "a", 2, endless=False)
    write_pdf(tmp_path / "b.pdf", "b", 2, endless=True)
    texts = [page.words[-1].text for page in split_pages(tmp_path / "a.pdf", MediaType.PDF, 1, 2)]
    assert texts == ["1", "2"]
    with pymupdf.open(tmp_path / "b.pdf") as document:
        sizes = [len(page.read_contents()) for page in document]
    assert sizes[0] < 1_000
    assert sizes[2] > 100_000


@pytest.mark.parametrize("name", [recovery_site.PROFILE, hosts.PROFILE])
def test_the_profiles_of_the_benches_are_asked_once_a_page(tmp_path: Path, name: str) -> None:
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / f"{name}.toml").write_text(double.profile_file(name))
    profile = find_profile(name, load_settings(home=tmp_path))
    assert profile.ladder == ()


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler to put a clock off")
@pytest.mark.parametrize("off", [-3600, 3600])
def test_a_clock_that_is_put_off_is_off(tmp_path: Path, off: int) -> None:
    wrong = {"LD_PRELOAD": str(make_clock(tmp_path)), "CLOCK_OFF_S": str(off)}
    command = [sys.executable, "-I", "-S", "-c", "import time; print(time.time())"]
    done = subprocess.run(command, env=os.environ | wrong, capture_output=True, text=True, check=True)
    assert abs(float(done.stdout) - off - time.time()) < 120


def test_waiting_ends_with_what_was_waited_for() -> None:
    truths = itertools.chain([False, False], itertools.repeat(True))
    assert recovery_site.wait_until(lambda: next(truths), 300, "it") >= 0.4
    with pytest.raises(TimeoutError, match="not within 0 s: the end"):
        recovery_site.wait_until(lambda: False, 0, "the end")


def test_a_kill_that_cannot_be_done_here_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert recovery_kills._may_mount() == "mounting a small file system takes root"
    assert hosts_net.why_not() == "network namespaces take root"
    assert Kill("a", "b", recovery_kills.nothing).needs() == ""


def test_a_round_whose_pages_were_all_read_once_by_all_hosts_has_no_fault() -> None:
    rates = {"ocr": (2, 1.0, 2, 1)}
    assert Round(2, 2, rates=rates, asked=Counter("ab")).faults() == []
    assert Round(2, 2, rates={"ocr": (2, 1.0, 1, 1)}, asked=Counter("ab")).faults() == ["1 of 2 hosts read"]
    assert Round(2, 2, rates={"ocr": (1, 1.0, 2, 2)}, asked=Counter("aab")).faults() == [
        "1 pages not read",
        "1 pages asked again",
        "read in 2 attempts",
    ]


def test_rounds_of_as_many_hosts_are_added_up() -> None:
    rates = dict.fromkeys(("split", "preprocess", "ocr", "load"), (10, 2.0, 1, 1))
    cpu_s = {"split": 5.0, "ocr": 1.0, "load": 2.0}
    rounds = [Round(workers, 10, dict(cpu_s), dict(rates)) for workers in (1, 2, 1)]
    found = {(row["stage"], row["hosts, a core each"]): row for row in hosts.rows(rounds)}
    assert len(found) == 8
    assert found["preprocess", 1]["pages"] == 20
    assert found["preprocess", 1]["pages a second"] == 5.0
    assert found["ocr", 2]["CPU s a page"] == 0.1


@pytest.mark.slow
@pytest.mark.skipif(hosts_net.why_not() != "", reason="no network namespaces here")
def test_two_hosts_that_share_postgres_and_the_store_read_each_page_once() -> None:
    with TemporaryDirectory(prefix="pm-") as folder, hosts.farm(Path(folder), free_port()) as farm:
        done = hosts.measure(farm, 2, 8, 0)
    assert [fault for fault in done.faults() if "hosts read" not in fault] == []
    assert sorted(done.rates) == ["load", "ocr", "preprocess", "split", "validate"]


@pytest.mark.skipif(recovery_kills._may_mount() != "", reason="mounting a small file system takes root")
def test_a_disk_is_filled_to_the_last_byte_and_emptied_again(tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", store], check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        made = Site(tmp_path, tmp_path, 0, NOWHERE)
        recovery_kills.fill_disk(made, 0.0)
        assert list(store.iterdir()) == []
        (store / "page").write_bytes(b"x" * 4_096)
    finally:
        subprocess.run(["umount", store], check=True)


def test_a_round_in_which_nothing_was_to_be_read_has_no_fault_but_one_that_read_nothing_has() -> None:
    assert Round(2, 3, cpu_s={"split": 1.0}).faults() == []
    assert "3 pages not read" in Round(2, 3, cpu_s={"split": 1.0, "ocr": 1.0}).faults()
