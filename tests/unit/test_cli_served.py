"""`ask`, `serve --print` and `up --print-systemd` in this process, against a scripted server."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.asking import Question, _task, ask_and_show
from cli.exits import Exit
from models.errors import ConfigurationError
from models.profiles import get
from models.settings import load_settings
from tasks.work.doubles.vllm_server import Model, Said, ScriptedVllm
from tests import factories
from tests.e2e.test_ask_and_serve import machine
from tests.unit.typed import Typed, typing_at

pytestmark = pytest.mark.slow

ANSWER = "Three bottles stand on the shelf."


@pytest.fixture
def server() -> Iterator[ScriptedVllm]:
    with ScriptedVllm([Said(ANSWER)], default=Said(ANSWER), model=Model(name="ostrakon")) as scripted:
        yield scripted


@pytest.fixture
def typed(tmp_path: Path, server: ScriptedVllm, monkeypatch: pytest.MonkeyPatch) -> Typed:
    return typing_at(tmp_path / "home", monkeypatch, ocr_url=server.url)


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    return factories.write(tmp_path / "shelf.png", factories.picture_bytes(factories.picture("Tea 2.50")))


def test_an_answer_is_shown_as_it_comes_and_nothing_is_kept_unasked(typed: Typed, shelf: Path) -> None:
    done = typed("ask", "ostrakon", shelf, "How many bottles?")
    assert (done.exit_code, done.stdout) == (Exit.OK, f"{ANSWER}\n")
    assert done.stderr == ""


def test_an_answer_for_programs_is_one_object(typed: Typed, shelf: Path, server: ScriptedVllm) -> None:
    told = json.loads(typed("ask", "ostrakon", shelf, "How many bottles?", "--json").stdout)
    assert set(told) == {"text", "raw", "finish_reason", "tokens_in", "tokens_out", "reading"}
    assert (told["text"], told["finish_reason"], told["reading"]) == (ANSWER, "stop", None)
    (entry,) = server.entries
    assert "How many bottles?" in entry.asked.prompt
    assert len(entry.asked.images) == 1


def test_several_pictures_are_sent_together(
    typed: Typed, shelf: Path, tmp_path: Path, server: ScriptedVllm
) -> None:
    other = factories.write(tmp_path / "b.png", factories.picture_bytes(factories.picture("Milk 1.10")))
    assert typed("ask", "ostrakon", shelf, other, "Which is dearer?").exit_code == Exit.OK
    (entry,) = server.entries
    assert len(set(entry.asked.images)) == 2


def test_an_answer_that_is_cut_off_ends_with_3(
    tmp_path: Path, shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = Said("And so", finish="length")
    with ScriptedVllm(cut, model=Model(name="ostrakon")) as server:
        done = typing_at(tmp_path / "home", monkeypatch, ocr_url=server.url)("ask", "ostrakon", shelf, "Why?")
    assert done.exit_code == Exit.INCOMPLETE
    assert "cut off (length)" in done.stderr


def test_a_schema_that_is_no_json_is_told(typed: Typed, shelf: Path, tmp_path: Path) -> None:
    schema = factories.write(tmp_path / "s.json", b"{type: object}")
    done = typed("ask", "ostrakon", shelf, "Why?", "--schema", schema)
    assert done.exit_code == Exit.USAGE
    assert "s.json is no JSON" in done.stderr


def test_terms_can_be_agreed_to_where_a_question_is_asked(
    tmp_path: Path, shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedVllm(Said("<div>Words</div>"), model=Model(name="chandra")) as server:
        typed = typing_at(tmp_path / "home", monkeypatch, ocr_url=server.url)
        refused = typed("ask", "chandra", shelf)
        assert refused.exit_code == Exit.USAGE
        assert "--accept-licence" in refused.stderr
        assert typed("ask", "chandra", shelf, "--accept-licence").exit_code == Exit.OK
        assert typed("ask", "chandra", shelf).exit_code == Exit.OK


def test_json_that_is_no_schema_is_told(typed: Typed, shelf: Path, tmp_path: Path) -> None:
    schema = factories.write(tmp_path / "s.json", b"[1]")
    done = typed("ask", "ostrakon", shelf, "Why?", "--schema", schema)
    assert done.exit_code == Exit.USAGE
    assert "s.json is no JSON schema" in done.stderr


@pytest.mark.parametrize(
    ("profile", "pictures", "text", "has_schema", "task"),
    [
        ("glm-ocr", 1, "", True, "extract"),
        ("glm-ocr", 1, "", False, "text"),
        ("ostrakon", 1, "", True, "transcribe"),
        ("ostrakon", 1, "Why?", True, "question"),
        ("ostrakon", 2, "", False, "compare"),
    ],
)
def test_the_task_is_that_which_takes_what_is_given(
    profile: str, pictures: int, text: str, has_schema: bool, task: str
) -> None:
    vlm = get(profile).vlm
    assert vlm is not None
    schema = Path("form.json") if has_schema else None
    assert _task(vlm, Question(profile, (Path("a.png"),) * pictures, text, schema=schema)) == task


def test_a_question_is_needed_where_the_task_takes_one(tmp_path: Path, shelf: Path) -> None:
    vlm = get("ostrakon").vlm
    assert vlm is not None
    tasks = [name for name, task in vlm.tasks.items() if "{question}" in task.prompt]
    with pytest.raises(ConfigurationError, match="needs a question"):
        ask_and_show(
            load_settings(home=tmp_path), Question("ostrakon", (shelf,), "", tasks[0]), as_json=False
        )


@pytest.mark.parametrize(
    ("profile", "options", "told"),
    [
        ("ostrakon", ("--task", "count"), "ask with --task question"),
        ("glm-ocr", (), "ask another model, such as ostrakon"),
    ],
)
def test_a_question_that_would_be_passed_over_is_refused(
    typed: Typed, shelf: Path, profile: str, options: tuple[str, ...], told: str
) -> None:
    done = typed("ask", profile, shelf, "How many bottles?", *options)
    assert done.exit_code == Exit.USAGE
    assert "takes no question" in done.stderr
    assert told in " ".join(done.stderr.split())


def test_a_page_that_is_not_there_is_told_with_the_number_of_pages(typed: Typed, tmp_path: Path) -> None:
    menu = factories.write(tmp_path / "menu.pdf", factories.pdf("soup", "cake"))
    done = typed("ask", "ostrakon", menu, "Why?", "--page", 3)
    assert done.exit_code == Exit.USAGE
    assert "There is no page 3" in done.stderr
    assert "has 2 pages" in " ".join(done.stderr.split())


def test_a_server_that_is_away_is_passed_over_for_the_next(
    tmp_path: Path, shelf: Path, server: ScriptedVllm, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = f"http://127.0.0.1:9,{server.url}"
    done = typing_at(tmp_path / "home", monkeypatch, ocr_url=urls)("ask", "ostrakon", shelf, "Why?")
    assert (done.exit_code, done.stdout) == (Exit.OK, f"{ANSWER}\n")


def test_without_a_server_the_remedy_is_told(
    tmp_path: Path, shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = typing_at(tmp_path / "home", monkeypatch, ocr_url="")("ask", "ostrakon", shelf, "Why?")
    assert done.exit_code == Exit.ENVIRONMENT
    assert "pagemill serve ostrakon" in done.stderr


def on_a_machine(folder: Path, monkeypatch: pytest.MonkeyPatch, **settings: str) -> Typed:
    """`serve glm-ocr --print` on a machine with one GPU, vLLM and a folder of weights."""
    for name, value in machine(folder).items():
        monkeypatch.setenv(name, value)
    typed = typing_at(folder, monkeypatch, vllm_python=folder / "python-vllm", **settings)
    return lambda *words: typed("serve", "glm-ocr", "--model", folder / "weights", "--print", *words)


@pytest.fixture
def serving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Typed:
    monkeypatch.delenv("PAGEMILL_OCR_API_KEY", raising=False)
    return on_a_machine(tmp_path, monkeypatch)


def test_what_is_printed_is_a_command_for_the_shell_and_starts_nothing(
    serving: Typed, tmp_path: Path
) -> None:
    done = serving("--port", 9100, "--", "--max-num-seqs", "7")
    assert done.exit_code == Exit.OK
    lines = done.stdout.splitlines()
    command = next(shlex.split(line) for line in lines if line.startswith(str(tmp_path / "python-vllm")))
    assert command[command.index("serve") + 1] == str(tmp_path / "weights")
    assert command[-2:] == ["--max-num-seqs", "7"]
    assert lines[-1] == "# export PAGEMILL_OCR_URL=http://127.0.0.1:9100"
    assert not (tmp_path / "serve").exists()


def test_a_key_is_never_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = on_a_machine(tmp_path, monkeypatch, ocr_api_key="sesame-4711")("--host", "0.0.0.0")
    assert done.exit_code == Exit.OK
    assert "export VLLM_API_KEY=…" in done.stdout
    assert "sesame-4711" not in done.output


def test_a_server_for_everybody_needs_a_key(serving: Typed) -> None:
    done = serving("--host", "0.0.0.0")
    assert done.exit_code == Exit.USAGE
    assert "PAGEMILL_OCR_API_KEY" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("words", [("--port", "0"), ("--port", "70000"), ("--memory-mb", "1")])
def test_ports_and_sizes_that_cannot_be_are_refused(serving: Typed, words: tuple[str, ...]) -> None:
    assert serving(*words).exit_code == Exit.USAGE


def test_units_are_written_into_the_folder_that_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    typed = typing_at(tmp_path / "home", monkeypatch)
    done = typed("up", "--print-systemd", "--into", tmp_path / "units")
    assert done.exit_code == Exit.OK, done.output
    written = {path.name for path in (tmp_path / "units").iterdir()}
    assert "pagemill-worker-cpu.service" in written
    assert all(str(tmp_path / "units" / name) in done.stdout for name in written)
    assert "systemctl enable --now pagemill-postgres.service" in done.stdout
    assert not (tmp_path / "home" / "postgres").exists()
