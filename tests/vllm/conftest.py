"""One real vLLM for each architecture and session, all started at the same time."""

import hashlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.vllm.install import DONE, PYTHON, ROOT
from tests.vllm.real import ENVIRONMENT, NAMES, RealVllm

TINY_OCR = ROOT.parent / "shared" / "tiny-ocr"
"""A small model that really reads clean print; used where it lies beside the project."""
KEYED, KEY = "qwen3_vl", "sesame"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests here need vLLM's environment."""
    missing = pytest.mark.skip(reason="there is no .venv-vllm: see `make test-vllm`")
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.vllm)
            item.add_marker(pytest.mark.slow)
            if not DONE.exists():
                item.add_marker(missing)


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, RealVllm]]:
    """By architecture; glm_ocr is the model that reads, where it is there."""
    root, tiny = tmp_path_factory.mktemp("vllm"), made()
    started = {}
    for arch in NAMES:
        model = TINY_OCR / "model" if arch == "glm_ocr" and TINY_OCR.exists() else tiny / arch
        started[arch] = RealVllm(arch, model, root / f"{arch}.log", key=KEY if arch == KEYED else "")
        started[arch].start()
    yield started
    for server in started.values():
        server.stop()


@pytest.fixture(params=sorted(NAMES))
def server(servers: dict[str, RealVllm], request: pytest.FixtureRequest) -> RealVllm:
    """Each architecture in turn, ready."""
    servers[request.param].wait()
    return servers[request.param]


@pytest.fixture
def glm(servers: dict[str, RealVllm]) -> RealVllm:
    """GLM-OCR's architecture, ready."""
    servers["glm_ocr"].wait()
    return servers["glm_ocr"]


def made() -> Path:
    """Folder with a tiny model of each architecture, kept with the environment while its recipe stays."""
    script = Path(__file__).with_name("tiny_model.py")
    folder = DONE.parent / "models" / hashlib.sha256(script.read_bytes()).hexdigest()[:12]
    if not folder.exists():
        part = folder.with_suffix(".part")
        command = [str(PYTHON), str(script), str(part), *NAMES]
        subprocess.run(command, env=os.environ | ENVIRONMENT, check=True, capture_output=True)
        part.rename(folder)
    return folder
