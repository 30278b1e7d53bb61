"""The embedded server: started on demand, one a home, up again whatever was done to it."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from db import embedded, postmaster
from models.errors import Code, EnvironmentFault, StoreFull

pytestmark = pytest.mark.slow  # each takes under three seconds, all of them half a minute


@pytest.fixture
def root() -> Iterator[Path]:
    """A home with a short path, its server stopped at the end."""
    with tempfile.TemporaryDirectory(prefix="pm-") as folder:
        yield Path(folder)
        embedded.stop(Path(folder))


def pid_of(root: Path) -> int:
    return int((root / "postgres" / "postmaster.pid").read_text().split()[0])


def connect(url: str) -> "psycopg.Connection[tuple[int]]":
    return psycopg.connect(url.replace("+psycopg", ""), autocommit=True)


def kill(pid: int) -> None:
    """As `kill -9`, and gone: process 1 may take a while to take notice of it."""
    os.kill(pid, signal.SIGKILL)
    until = time.monotonic() + 120
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_second_start_joins_and_stop_says_whether_there_was_a_server(root: Path) -> None:
    url = embedded.start(root)
    pid = pid_of(root)
    assert embedded.start(root) == url
    assert pid_of(root) == pid
    assert embedded.running(root)
    with connect(url):  # an open connection does not hold it up
        assert embedded.stop(root)
    assert not embedded.running(root)
    assert not embedded.stop(root)


def test_a_home_that_was_never_used_has_no_server(root: Path) -> None:
    assert not embedded.running(root)
    assert not embedded.stop(root / "nowhere")


def test_what_was_committed_is_there_after_kill_9_of_the_server(root: Path) -> None:
    with connect(embedded.start(root)) as connection:
        connection.execute("CREATE TABLE kept (id int)")
        connection.execute("INSERT INTO kept SELECT generate_series(1, 301)")
        kill(pid_of(root))
    with connect(embedded.start(root)) as connection:
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (301,)


def test_every_process_of_the_server_may_be_killed_in_the_middle_of_writing(root: Path) -> None:
    url = embedded.start(root)
    server = psutil.Process(pid_of(root))
    with connect(url) as connection:
        connection.execute("CREATE TABLE kept (id int)")
        for number in range(100):
            connection.execute("INSERT INTO kept VALUES (%s)", [number])
        for process in [server, *server.children(recursive=True)]:
            os.kill(process.pid, signal.SIGKILL)
    with connect(embedded.start(root)) as connection:
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (100,)


def name_process(root: Path, pid: int) -> None:
    """Let the lock files of a dead server name another process, as after a restart of the machine."""
    data = root / "postgres"
    for path in (data / "postmaster.pid", data / ".s.PGSQL.5432.lock"):
        _, _, rest = path.read_text().partition("\n")
        path.write_text(f"{pid}\n{rest}")


def test_a_stale_pid_file_that_names_a_living_stranger_does_not_keep_the_server_down(root: Path) -> None:
    embedded.start(root)
    kill(pid_of(root))
    stranger = subprocess.Popen(["sleep", "600"])
    name_process(root, stranger.pid)
    assert not embedded.stop(root)
    assert embedded.start(root)
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


def test_a_killed_server_that_nobody_reaps_does_not_keep_the_new_one_down(root: Path) -> None:
    embedded.start(root)
    kill(pid_of(root))
    zombie = subprocess.Popen(["true"])
    while psutil.Process(zombie.pid).status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    name_process(root, zombie.pid)
    assert embedded.start(root)
    zombie.wait()


_START = (
    "import sys; from pathlib import Path; from db import embedded; print(embedded.start(Path(sys.argv[1])))"
)


def test_a_server_that_lost_its_socket_is_started_again_with_all_that_was_committed(root: Path) -> None:
    with connect(embedded.start(root)) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS n")
    deaf = pid_of(root)
    next((root / "postgres").glob(".s.PGSQL.*[0-9]")).unlink()
    with connect(embedded.start(root)) as connection:
        assert connection.execute("SELECT n FROM kept").fetchone() == (7,)
    assert not postmaster.lives(deaf)


def test_a_home_made_anew_outlives_the_server_of_the_removed_one(root: Path) -> None:
    embedded.start(root)
    forgotten = psutil.Process(pid_of(root))
    shutil.rmtree(root / "postgres")
    embedded.start(root)
    forgotten.send_signal(signal.SIGINT)  # as it does by itself within a minute
    postmaster.wait_until_ended(forgotten)
    with connect(embedded.start(root)) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_four_processes_that_start_at_once_share_one_server(root: Path) -> None:
    command = [sys.executable, "-c", _START, str(root)]
    starters = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    urls = {starter.communicate(timeout=120)[0] for starter in starters}
    assert len(urls) == 1
    assert all(starter.returncode == 0 for starter in starters)
    found = {
        p.pid: p.info["ppid"]
        for p in psutil.process_iter(["cmdline", "ppid"])
        if f"{root}/postgres" in (p.info["cmdline"] or ())
    }
    # A child that it has just forked is not called otherwise yet.
    assert len([pid for pid, parent in found.items() if parent not in found]) == 1


def test_the_server_outlives_its_starter_in_a_session_of_its_own(root: Path) -> None:
    subprocess.run([sys.executable, "-c", _START, str(root)], check=True, stdout=subprocess.DEVNULL)
    assert embedded.running(root)
    assert os.getsid(pid_of(root)) == pid_of(root)


def test_a_half_made_data_folder_is_made_anew(root: Path) -> None:
    leftover = root / "postgres.new" / "base"
    leftover.mkdir(parents=True)
    (leftover / "PG_VERSION").write_text("18\n")
    assert embedded.start(root)


@pytest.mark.parametrize("name", ["with space and 'quote'", 'a "quoted", comma $HOME %s', "x" * 120])
def test_odd_and_long_homes_work(root: Path, name: str) -> None:
    home = root / name
    url = embedded.start(home)
    with connect(url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert embedded.start(home) == url
    assert embedded.stop(home)


def test_nothing_listens_on_the_network_and_strangers_cannot_enter(root: Path) -> None:
    with connect(embedded.start(root)) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
        assert connection.execute("SELECT lower('ÄЖ'), current_setting('TimeZone')").fetchone() == (
            "äж",
            "UTC",
        )
    assert (root / "postgres").stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root steps down")
def test_as_root_an_ordinary_account_runs_it_and_no_folder_is_opened(root: Path) -> None:
    closed = root / "closed"
    closed.mkdir(mode=0o700)
    embedded.start(closed / "home")
    assert psutil.Process(pid_of(closed / "home")).uids().effective != 0
    assert closed.stat().st_mode & 0o777 == 0o700
    assert (closed.stat().st_uid, (closed / "home").stat().st_uid) == (0, 0)
    embedded.stop(closed / "home")


def test_a_home_that_cannot_be_written_says_which_setting_to_change() -> None:
    with pytest.raises(EnvironmentFault, match="PAGEMILL_HOME") as raised:
        embedded.start(Path("/proc/pagemill"))
    assert raised.value.code is Code.HOME_UNWRITABLE


def test_a_folder_without_postgres_says_what_to_install(root: Path) -> None:
    with pytest.raises(EnvironmentFault, match="PAGEMILL_POSTGRES_BIN") as raised:
        embedded.start(root, bin_dir=root)
    assert raised.value.code is Code.PACKAGE_MISSING


def test_a_server_that_cannot_start_shows_the_end_of_its_log(root: Path) -> None:
    embedded.start(root)
    embedded.stop(root)
    (root / "postgres" / "postgresql.auto.conf").write_text("work_mem = 'nonsense'\n")
    with pytest.raises(EnvironmentFault, match="nonsense"):
        embedded.start(root)


def test_a_disk_too_small_for_a_server_is_told_in_a_sentence(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk], check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        with pytest.raises(StoreFull, match=r"No space left for Postgres in .*Make room") as raised:
            embedded.start(disk)
        assert "\n" not in raised.value.message
        assert not (disk / "postgres").exists()
    finally:
        subprocess.run(["umount", disk], check=True)
