"""pagemill profiles, and commands that need terms agreed to."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from cli.main import app
from flows.opening import CALLER, Caller, open_mill
from models.errors import ConfigurationError
from models.profiles import PROFILES
from models.settings import Settings
from tests.unit.test_profiles_custom import write


def pagemill(home: Path, *arguments: str, **variables: str) -> Result:
    return CliRunner().invoke(app, arguments, env={"PAGEMILL_HOME": str(home)} | variables)


def test_the_list_holds_embedded_profiles_and_one_s_own_and_makes_no_home(tmp_path: Path) -> None:
    path = write(tmp_path, "mine.toml")
    done = pagemill(tmp_path / "home", "profiles", "--json", PAGEMILL_PROFILES=str(path))
    assert [one["name"] for one in json.loads(done.stdout)] == sorted({*PROFILES, "mine"})
    assert not (tmp_path / "home").exists()


def test_the_list_shows_licences(tmp_path: Path) -> None:
    shown = " ".join(pagemill(tmp_path, "profiles").stdout.split())
    for word in ("OpenRAIL-M", "weights MIT", "Apache-2.0", "$2M"):
        assert word in shown


def test_one_profile_is_told_with_tasks_flags_and_terms(tmp_path: Path) -> None:
    shown = pagemill(tmp_path, "profiles", "chandra-2").stdout
    for word in ("layout", "--with fp8", "breaks", "MODEL_LICENSE", "still to be agreed to"):
        assert word in shown
    assert "Terms" not in pagemill(tmp_path, "profiles", "ppocr").stdout


def test_a_profile_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    done = pagemill(tmp_path, "profiles", "nonsense")
    assert done.exit_code == 2
    assert "(unknown-profile)" in done.stderr
    assert len(done.stderr.splitlines()) == 2


def test_workers_refuse_as_commands_do(tmp_path: Path) -> None:
    token = CALLER.set(Caller(Settings(home=tmp_path), lambda _: None, threading.Event()))
    try:
        with (
            pytest.raises(ConfigurationError, match="Nobody has agreed to the licence of 'chandra'"),
            open_mill("ocr", "chandra", [], 1, reads=False),
        ):
            pass
    finally:
        CALLER.reset(token)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_nothing_is_read_without_consent_and_nothing_is_started(tmp_path: Path) -> None:
    environment = os.environ | {"PAGEMILL_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "cli.main", "ingest", str(tmp_path), "--profile", "chandra"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 2
    assert "(licence-not-accepted)" in done.stderr
    assert not (tmp_path / "licences").exists()
    assert not (tmp_path / "postgres").exists()
