"""What benchmarks of servers keep and watch: results, gauges, and the server they start."""

import datetime as dt
import json
import re
import sys
import types
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import facts, result, served
from bench.watch import CpuClock, Gauge
from models.errors import ConfigurationError, EngineUnavailable
from models.telemetry import Sample
from tasks.work.serving import visit
from tasks.work.serving.plan import Plan
from tasks.work.serving.vllm import Installation
from tests.bench import toys
from tests.e2e.test_ask_and_serve import machine
from tests.served import until

ROWS = ({"what": "raw", "pages_per_s": 12.345678, "failed": 0}, {"what": "ingest", "of_raw": None})


def test_a_result_is_read_as_it_was_saved(tmp_path: Path) -> None:
    kept = result.Result("toy", "a toy", ROWS, {"pages": 2}, "python -m bench.toy", "2026-11-30T12:00:00")
    path = kept.save(tmp_path / "new" / "folder")
    assert path.name == "toy.json"
    assert result.load(path) == kept
    assert json.loads(path.read_text())["at"] == "2026-11-30T12:00:00"


def test_a_table_has_every_column_and_figures_to_three_digits() -> None:
    head, rule, first, second = result.table(ROWS).splitlines()
    assert head == "| what   | pages_per_s | failed | of_raw |"
    assert rule == "| ------ | ----------: | -----: | -----: |"
    assert first == "| raw    |        12.3 |      0 |        |"
    assert second == "| ingest |             |        |        |"
    assert result.table([{"x": 1234.56}]).endswith("| 1,235 |")
    assert result.table([]) == ""


@given(st.integers(20, 120), st.lists(st.sampled_from(["pages", "wall_s", "tokens_per_s"]), unique=True))
def test_a_table_too_wide_goes_on_below_and_names_its_rows_again(width: int, more: list[str]) -> None:
    rows = [{"kind": "text", "client": name, "p50_s": 1.5} | dict.fromkeys(more, 7) for name in ("a", "bb")]
    parts = result.table(rows, width).split("\n\n")
    for part in parts:
        head, _, *lines = part.splitlines()
        assert head.startswith("| kind | client | ")
        assert [line[:17] for line in lines] == ["| text | a      |", "| text | bb     |"]
        assert len(head) <= width or head.count("|") == 4
    assert sum(part.splitlines()[0].count("|") - 3 for part in parts) == len(more) + 1


def test_what_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for target in (tmp_path / "file" / "x.json", tmp_path):
        with pytest.raises(ConfigurationError, match="cannot be written"):
            result.write(target, "{}")


def test_a_row_is_told_in_words_as_soon_as_it_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result.Journal("toy", "a toy", {}, tmp_path).add({"what": "raw", "pages_per_s": 12.345678, "more": None})
    assert capsys.readouterr().out == "what raw, pages_per_s 12.3\n"


def test_a_result_says_how_it_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["sweep.py", "glm-ocr", "a b.pdf"])
    assert result.Result("toy", "", ()).command.endswith("glm-ocr 'a b.pdf'")
    monkeypatch.setattr(
        sys, "argv", ["pagemill bench sweep", "glm-ocr", "--api-key", "s3cret", "--api-key=s3cret"]
    )
    made = result.Result("toy", "", ()).command
    assert made.startswith("pagemill bench sweep glm-ocr")
    assert "s3cret" not in made


def test_a_machine_is_told_with_its_gpus_where_a_driver_answers() -> None:
    told = result.machine()
    assert {"python", "system", "machine", "pagemill", "processor", "cores", "memory_gb", "load"} <= set(told)
    library = types.SimpleNamespace(
        nvmlDeviceGetCount=lambda: 2,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetName=lambda _: b"NVIDIA H200",
        nvmlDeviceGetMemoryInfo=lambda _: types.SimpleNamespace(total=143_771 * 2**20),
        nvmlSystemGetDriverVersion=lambda: "580.1",
    )
    assert facts.gpus(library) == {"gpu": "2 x NVIDIA H200", "gpu_total_mb": 143_771, "driver": "580.1"}
    assert facts.gpus(None) == {}


def test_documents_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"There is no .*nowhere"):
        facts.documents([tmp_path, tmp_path / "nowhere"])


def test_documents_are_told_by_name_and_size_without_their_folders(tmp_path: Path) -> None:
    for name in "abcd":
        (tmp_path / name).mkdir()
        (tmp_path / name / "one.pdf").write_bytes(bytes(250_000))
    told = facts.documents([tmp_path / name for name in "abcd"])
    assert told == {"documents": "a, b, c and 1 more", "files": 4, "files_mb": 1.0}


def test_a_server_that_does_not_answer_has_no_version() -> None:
    assert facts.server("") == facts.server("http://127.0.0.1:1") == {}


def test_a_journal_keeps_each_row_at_once_and_says_so_until_it_is_finished(tmp_path: Path) -> None:
    journal = result.Journal("toy", "a toy", {"pages": 2}, tmp_path)
    for number in range(2):
        journal.add({"n": number})
        so_far = result.load(tmp_path / "toy.json")
        assert len(so_far.rows) == number + 1
        assert so_far.facts == {"pages": 2, "complete": False}
    journal.finish([{"n": 7}])
    assert result.load(tmp_path / "toy.json").rows == ({"n": 7},)
    assert result.load(tmp_path / "toy.json").facts == {"pages": 2}


@pytest.mark.parametrize("text", [None, "", "[]", "{}", '{"name": "x"}', '{"rows": 3}'])
def test_what_is_no_result_is_refused_with_its_name(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "no.json").write_text(text)
    with pytest.raises(ConfigurationError, match=r"no\.json"):
        result.load(tmp_path / "no.json")


def test_a_gauge_looks_at_the_host_while_something_runs() -> None:
    with Gauge() as gauge:
        until(lambda: len(gauge.cpu) >= 2)
    assert 0 <= gauge.row()["cores_busy"] <= (psutil.cpu_count() or 1)  # type: ignore[operator]
    assert gauge.row()["host_memory_mb"] == round(max(gauge.memory_mb)) > 10
    assert not gauge._thread.is_alive()


def test_figures_of_a_gpu_are_told_where_there_is_one_and_none_that_were_not_seen() -> None:
    gauge = Gauge()
    assert gauge.row() == {}
    at = dt.datetime.now(dt.UTC)
    gauge.gpu = [Sample("gpu:0", at, 0.8, 1_000.0, 500.0), Sample("gpu:0", at, 0.9, 3_000.4, None)]
    assert gauge.row() == {"gpu_busy": 0.85, "gpu_memory_mb": 3000, "gpu_power_w": 500}


def test_a_clock_counts_the_cpu_of_a_process_and_of_its_ended_children() -> None:
    burn = "import time\nwhile time.process_time() < 0.3: pass"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}]); sys.exit(3)"
    process = psutil.Popen([sys.executable, "-c", parent])
    clock = CpuClock(process.pid)
    assert clock.watch(process, every_s=0.02) == 3
    assert clock.seconds > 0.2
    assert clock.peak_mb > 5


@pytest.fixture
def vllm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The Python of an environment that says it holds vLLM, beside a driver that names one GPU."""
    for name, value in machine(tmp_path).items():
        monkeypatch.setenv(name, value)
    return tmp_path / "python-vllm"


def flags(plan: Plan) -> list[str]:
    return plan.servers()[0].command()


def test_a_server_of_a_benchmark_takes_the_first_gpu_and_a_free_port(vllm: Path) -> None:
    plan = served.plan(toys.GLM, "/weights", vllm, ["--load-format", "dummy"], options=["mtp"])
    assert plan.gpus == (0,)
    assert plan.port > 1024
    assert flags(plan)[-2:] == ["--load-format", "dummy"]
    assert plan.options == ("mtp",)


def test_vllm_for_the_cpu_is_served_on_the_cpu(vllm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Installation(vllm, "0.32.0", is_cpu_build=True)
    monkeypatch.setattr(served.vllm, "find", lambda _: found)
    assert served.plan(toys.GLM, "/weights", None, []).gpus == ()


def test_a_bare_server_has_none_of_the_profile_s_flags(vllm: Path) -> None:
    bare = served.plan(toys.GLM, "/weights", vllm, [], is_bare=True)
    tuned = served.plan(toys.GLM, "/weights", vllm, [])
    own = {flag.flag for flag in toys.vlm().flags if flag.state == "on"}
    assert own & set(flags(tuned))
    assert not own & set(flags(bare))


def test_a_server_that_does_not_start_is_told_with_its_log(
    vllm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visit, "_SETTLE_S", 0.0)
    log = tmp_path / "vllm.log"
    plan = served.plan(toys.GLM, str(tmp_path / "weights"), vllm, [])
    with pytest.raises(EngineUnavailable, match=r"did not start: .*vllm\.log\)"), served.serving(plan, log):
        pass


def test_wishes_have_their_usual_values() -> None:
    wish = toys.wish()
    assert (wish.in_flight, wish.url, wish.bare, wish.out) == (
        "1,4,16,64,256",
        "",
        False,
        Path("bench-results"),
    )
    with pytest.raises(SystemExit):
        toys.wish("--resolution", "huge")


def test_plain_transformers_take_what_the_round_on_a_gpu_gives_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch", "transformers"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.delitem(sys.modules, "bench.plain", raising=False)
    from bench import plain

    asked: list[tuple[str, bool]] = []

    def open_model(folder: str, *, is_random: bool) -> object:
        asked.append((folder, is_random))
        raise ConfigurationError("no model here")

    monkeypatch.setattr(plain, "open_model", open_model)
    words = ["/weights", "a.png", "b.png", "--tokens", "128", "--batches", "1,20", "--rounds", "2"]
    monkeypatch.setattr(sys, "argv", ["plain.py", *words, "--random"])
    with pytest.raises(ConfigurationError, match="no model here"):
        plain.main()
    assert asked == [("/weights", True)]


BENCHES = sorted(
    path.stem
    for path in (toys.ROOT / "bench").glob("*.py")
    if re.search(r"def main\(.*parser\(|ArgumentParser\(", path.read_text(), re.DOTALL)
    and path.stem != "arguments"
)


def options_in_docs(name: str) -> set[str]:
    """What pages of the documentation give this benchmark on its command line."""
    pages = [toys.ROOT / "README.md", *(toys.ROOT / "docs").glob("*.md")]
    called = re.compile(rf"(?:python -m bench\.|pagemill bench ){name}\b([^`\n#]*)")
    lines = [line for page in pages for line in called.findall(page.read_text())]
    return {option for line in lines for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", line)}


@pytest.mark.parametrize("name", [name for name in BENCHES if name != "plain"])
def test_every_benchmark_has_a_help_that_says_how_it_is_called(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = __import__(f"bench.{name}", fromlist=["main"])
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit) as ended:
        module.main()
    assert ended.value.code == 0
    told = capsys.readouterr().out
    assert "usage: " in told
    assert options_in_docs(name) <= set(re.findall(r"--[a-z][a-z-]*", told))
    assert f"python -m bench.{name}" in (module.__doc__ or "")
