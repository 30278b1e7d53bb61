"""`pagemill bench`: the benchmarks as commands, and what they say when they cannot measure."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench import facts, result
from cli.commands import bench
from cli.main import app
from tasks.work.doubles.vllm_server import Model, Said, ScriptedVllm
from tests.bench import toys


@pytest.fixture(autouse=True)
def typed_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command leaves its words where programs look for theirs."""
    monkeypatch.setattr(sys, "argv", list(sys.argv))


def run(*words: object) -> tuple[int, str]:
    """Exit code, and all that was printed."""
    done = CliRunner().invoke(app, ["bench", *map(str, words)])
    return done.exit_code, done.output


@pytest.mark.parametrize("name", list(bench._BENCHES))
def test_each_benchmark_is_a_command_with_a_help_of_its_own(name: str) -> None:
    code, shown = run(name, "--help")
    assert code == 0
    assert f"usage: pagemill bench {name}" in shown
    if name != "resolution":
        assert "python -m" not in shown.replace("python -m bench.peers", "")
        assert max(map(len, shown.splitlines())) <= 110
    assert bench._BENCHES[name] in run()[1]


@pytest.mark.slow
def test_a_sweep_from_the_command_line_writes_how_it_was_made(
    server: ScriptedVllm, in_process: None, tmp_path: Path
) -> None:
    words = ["sweep", "glm-ocr", toys.TYPED, "--url", server.url, "--in-flight", "1,2", "--pages", "2"]
    code, shown = run(*words, "--tokens", "32", "--jobs", "1", "--out", tmp_path)
    assert code == 0, shown
    saved = result.load(tmp_path / "sweep.json")
    assert saved.command.startswith("pagemill bench sweep glm-ocr ")
    assert [row["in_flight"] for row in saved.rows] == [1, 2]
    assert run("report", tmp_path / "sweep.json", "-o", tmp_path / "bench.html")[0] == 0
    assert "Pages a second" in (tmp_path / "bench.html").read_text()


def test_what_was_measured_is_kept_when_somebody_interrupts(
    server: ScriptedVllm, in_process: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = iter([{"in_flight": 1}])

    def sweep(*_: object) -> object:
        yield from rows
        raise KeyboardInterrupt

    monkeypatch.setattr("bench.sweep.sweep", sweep)
    code, _ = run("sweep", "glm-ocr", toys.TYPED, "--url", server.url, "--pages", "1", "--out", tmp_path)
    assert code == 130
    saved = result.load(tmp_path / "sweep.json")
    assert (saved.rows, saved.facts["complete"]) == (({"in_flight": 1},), False)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("sweep", "nothing", toys.TYPED, "--url", "http://127.0.0.1:1"), "nothing"),
        (("sweep", "ppocr", toys.TYPED, "--url", "http://127.0.0.1:1"), "read on the CPU"),
        (("sweep", "glm-ocr", toys.TYPED, "--url", "http://127.0.0.1:1", "--in-flight", "x"), "--in-flight"),
        (("sweep", "glm-ocr", "nowhere", "--url", "http://127.0.0.1:1"), "There is no nowhere"),
        (("sweep", "glm-ocr", toys.TYPED, "--plain", "--url", "http://127.0.0.1:1"), "--model PATH"),
        (("sweep", "glm-ocr", toys.TYPED, "--jobs", "0"), "'0' is no number from 1"),
        (("sweep", "glm-ocr", toys.TYPED, "--out", toys.BROKEN), "nothing can be written"),
        (("clients", ".", "--envs", "."), "No page to measure"),
        (("clients", toys.TYPED, "--envs", ".", "--profile", "ppocr"), "read on the CPU"),
        (("clients", toys.TYPED, "--envs", ".", "--kinds", "comics"), "'comics' is none of text, scan"),
        (("clients", toys.TYPED, "--envs", ".", "--slots", "0"), "'0' is no number from 1"),
        (("report", "nowhere.json"), "cannot be read"),
        (("pages", toys.BROKEN, "--rounds", "1"), "None|none"),
        (("pages", toys.TYPED, "--rounds", "0"), "'0' is no number from 1"),
        (("pages", "nowhere"), "There is no nowhere"),
        (("resolution", "nowhere"), "There is no nowhere"),
    ],
)
def test_what_cannot_be_measured_is_one_line_and_an_exit_code(
    words: tuple[object, ...], said: str, in_process: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, shown = run(*words)
    assert code in {2, 3, 4}
    assert any(one in shown for one in said.split("|"))
    assert "Traceback" not in shown
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--url", "http://127.0.0.1:1"), "answered no request"),
        (("--model", "/weights"), "a server that runs: --url"),
    ],
)
def test_without_a_server_or_a_gpu_the_reason_is_told(
    words: tuple[str, ...], said: str, in_process: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    code, shown = run(
        "sweep", "glm-ocr", toys.TYPED, "--pages", "1", "--jobs", "1", "--out", tmp_path, *words
    )
    assert code == 4
    assert said in shown
    assert "Traceback" not in shown


@pytest.mark.slow
def test_a_server_without_metrics_can_be_measured(in_process: None, tmp_path: Path) -> None:
    with ScriptedVllm(Said("A page.", tokens=3), model=Model(version="")) as server:
        assert facts.server(server.url)["model"] == "glm-ocr"
        words = ["sweep", "glm-ocr", toys.TYPED, "--url", server.url, "--in-flight", "1", "--pages", "1"]
        code, shown = run(*words, "--tokens", "32", "--jobs", "1", "--out", tmp_path)
    assert code == 0, shown
    assert json.loads((tmp_path / "sweep.json").read_text())["rows"][0]["failed"] == 0
