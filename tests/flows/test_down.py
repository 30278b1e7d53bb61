"""`pagemill down` ends flow runs gently before their worker, which would kill them."""

import sys
from pathlib import Path

import pytest

from db import embedded
from flows.installation import raising, services
from models.settings import load_settings
from tasks.work import processes
from tests.served import until

pytestmark = pytest.mark.slow

# A run that tidies up when it is asked to end, and a worker that starts it and kills it when it ends itself.
_RUN = """
import pathlib, signal, sys
def tidy(*_):
    pathlib.Path(sys.argv[1], "tidied").touch()
    sys.exit()
signal.signal(signal.SIGTERM, tidy)
pathlib.Path(sys.argv[1], "begun").touch()
signal.pause()
"""
_WORKER = """
import signal, subprocess, sys
run = subprocess.Popen([sys.executable, "-c", sys.argv[2], sys.argv[1], "-m", "prefect.engine"])
def end(*_):
    run.kill()
    sys.exit()
signal.signal(signal.SIGTERM, end)
while True:
    signal.pause()
"""


def test_a_run_under_way_gives_back_what_it_holds(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path)
    command = (sys.executable, "-c", _WORKER, str(tmp_path), _RUN)
    processes.start(services.CPU, command, {"PATH": "/usr/bin"}, tmp_path / "run")
    until((tmp_path / "begun").exists)
    told: list[str] = []
    assert raising.down(settings, told.append)
    assert (tmp_path / "tidied").exists()
    assert told == ["worker-cpu stopped."]


def test_postgres_is_told_of_once_though_somebody_guards_it(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path)
    told: list[str] = []
    processes.start(
        services.GUARD, (sys.executable, "-c", "import signal; signal.pause()"), {}, tmp_path / "run"
    )
    embedded.start(tmp_path)
    assert raising.down(settings, told.append)
    assert told == ["Postgres stopped."]


def test_without_a_run_or_a_worker_there_is_nothing_to_end(tmp_path: Path) -> None:
    assert raising.end_runs(tmp_path) == 0
    processes.start(services.CPU, (sys.executable, "-c", "import signal; signal.pause()"), {}, tmp_path)
    assert raising.end_runs(tmp_path) == 0
    assert processes.stop(services.CPU, tmp_path)
