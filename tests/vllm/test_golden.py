"""Golden pages before others, read by a real vLLM: by a model that reads, and by one that cannot."""

from pathlib import Path

import pytest

from models.errors import ConfigurationError
from models.profile import Profile
from models.servers import OcrServers
from models.vlm import Sampling
from tasks.work.engines.vllm import VllmEngine, open_engine
from tasks.work.serving.golden import golden_pages
from tests.vllm.conftest import KEY
from tests.vllm.profiles import profile_of
from tests.vllm.real import PATIENCE_S, RealVllm
from tests.vllm.test_drain import reads

FEW = golden_pages(Path("/nowhere"))[1:4]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """With three golden pages."""
    folder = tmp_path / "golden"
    folder.mkdir()
    for page in FEW:
        (folder / page.name).write_bytes(page.picture)
        (folder / f"{page.name}.gt.txt").write_text(page.text)
    return tmp_path


def heard(server: RealVllm, home: Path) -> VllmEngine:
    return open_engine(limited(server), OcrServers((server.url,), KEY, PATIENCE_S, golden=home))


def limited(server: RealVllm) -> Profile:
    return profile_of(server, Sampling(max_tokens=400, stop=("<|user|>",)), most_errors=0.1)


@reads
def test_a_server_that_reads_is_heard_and_let_in(glm: RealVllm, home: Path) -> None:
    engine = heard(glm, home)
    try:
        assert engine.waiting_for == ""
        assert float(engine.facts()["golden"].rpartition(": ")[2].partition("%")[0]) < 5
    finally:
        engine.close()


def test_a_server_whose_weights_know_nothing_is_refused(servers: dict[str, RealVllm], home: Path) -> None:
    servers["qwen3_vl"].wait()
    with pytest.raises(ConfigurationError, match=r"misreads: .* of 3 golden pages are wrong, 10% may be"):
        heard(servers["qwen3_vl"], home)
