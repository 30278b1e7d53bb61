"""`pagemill tune` as a person types it, against servers that behave as their flags say."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from tests.bench import toys
from tests.unit.tuned_in import program

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
ONLY = [word for flag in ("kv-cache-dtype", "max-num-seqs") for word in ("--only", flag)]
PROFILE = """
title = "Mine"
[vlm]
context = 20000
least_in_flight = 4
most_in_flight = 16
[vlm.pixels]
max_pixels = 500000
[[vlm.flags]]
flag = "--kv-cache-dtype fp8"
state = "option"
option = "fp8-cache"
about = "dies"
[vlm.tasks.text]
prompt = "Read."
parser = "text"
about = "all text"
"""


@pytest.fixture
def yard(tmp_path: Path) -> Path:
    """Documents, a profile, a folder of weights and a program in vLLM's place."""
    (tmp_path / "documents").mkdir()
    for path in (toys.TYPED, toys.FAX, toys.BROKEN):
        shutil.copy(path, tmp_path / "documents")
    (tmp_path / "mine.toml").write_text(PROFILE)
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / "config.json").write_text("{}")
    program(tmp_path)
    return tmp_path


def command(yard: Path, *words: str) -> list[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    usual = ["--docs", str(yard / "documents"), "--gpu", "none", "--model", str(yard / "weights")]
    return [
        *(sys.executable, "-m", "cli.main", "tune", str(yard / "mine.toml"), *usual),
        *("--port", port, "--jobs", "1", *words),
    ]


def environ(yard: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PAGEMILL", "PREFECT"))}
    own = {"PAGEMILL_HOME": str(yard / "home"), "PAGEMILL_VLLM_PYTHON": str(yard / "python-vllm")}
    return kept | own | {"PYTHONPATH": str(ROOT)}


def tune(yard: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(yard, *words), env=environ(yard), capture_output=True, text=True, check=False, timeout=300
    )


def rows(yard: Path) -> dict[str, dict[str, object]]:
    (journal,) = (yard / "home" / "tune").glob("*.json")
    return {row["what"]: row for row in json.loads(journal.read_text())["rows"]}


def starts(yard: Path) -> list[str]:
    return (yard / "starts").read_text().splitlines()


def test_the_fastest_settings_become_a_profile_and_what_failed_is_not_tried_twice(yard: Path) -> None:
    done = tune(yard, *ONLY)
    assert done.returncode == 0, done.stderr
    found = rows(yard)
    assert found["--kv-cache-dtype fp8"]["state"] == "failed"
    assert found["--max-num-seqs 128"]["state"] == "measured"
    text = (yard / "home" / "profiles" / "mine-tuned.toml").read_text()
    on = [flag["flag"] for flag in tomllib.loads(text)["vlm"]["flags"] if flag["state"] == "on"]
    assert on[-1].startswith("--max-num-seqs ")
    assert "times); 0.00% of the characters differ" in text
    assert "pagemill serve mine-tuned" in done.stdout
    before = len(starts(yard))
    (yard / "home" / "tune").rename(yard / "first")
    again = tune(yard, "--only", "kv-cache-dtype")
    assert again.returncode == 0, again.stderr
    assert rows(yard)["--kv-cache-dtype fp8"]["state"] == "known-to-fail"
    assert not [line for line in starts(yard)[before:] if "--kv-cache-dtype" in line]


def test_ctrl_c_keeps_what_was_measured_and_writes_no_profile(yard: Path) -> None:
    with subprocess.Popen(
        command(yard), env=environ(yard), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("untuned:"):
                process.send_signal(signal.SIGINT)
                break
        said = process.stderr.read()
        assert process.wait(300) == 130
    assert "Interrupted. What was measured is in" in said
    assert "untuned" in rows(yard)
    assert [path.name for path in (yard / "home" / "profiles").iterdir()] == ["mine.toml"]
    assert not alive(yard)


def test_a_server_that_does_not_start_untuned_ends_the_tuning_in_a_line(yard: Path) -> None:
    done = tune(yard, "--", "--block-size", "32")
    assert done.returncode == 4
    assert "block size 32 is not supported" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_others_listen_on_ends_the_tuning_in_a_line_and_blames_no_flag(yard: Path) -> None:
    words = command(yard)
    with socket.create_server(("127.0.0.1", int(words[words.index("--port") + 1]))):
        done = subprocess.run(
            words, env=environ(yard), capture_output=True, text=True, check=False, timeout=300
        )
    assert done.returncode == 4
    assert "(port-in-use)" in done.stderr
    assert not (yard / "home" / "serve" / "tested.json").exists()


def alive(yard: Path) -> bool:
    """Whether a server of this test still runs, a moment after its end."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        told = subprocess.run(
            ["pgrep", "-f", str(yard / "weights")], capture_output=True, text=True, check=False
        )
        if not told.stdout.strip():
            return False
        time.sleep(0.1)
    return True
