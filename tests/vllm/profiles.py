"""Profiles of the tiny models: pixel grids as the real ones', answers held to a pattern."""

from models.profile import Profile
from models.servers import OcrServers
from models.vlm import LadderLimits, Pixels, Sampling, Task, Vlm
from tasks.work.engines.vllm import VllmEngine, open_engine
from tests.vllm.conftest import KEY, TINY_OCR
from tests.vllm.real import PATIENCE_S, RealVllm

PATTERN = "read as [a-z]{8}"
PATCH = {"qwen3_vl": 16, "qwen3_5": 16, "glm_ocr": 14}
LEAST = {"qwen3_vl": 12_544, "qwen3_5": 12_544, "glm_ocr": 6_272}
CAN_READ = TINY_OCR.exists()
_TASKS = {
    "text": Task(prompt="Text Recognition:", parser="text", about="all text"),
    "ask": Task(prompt="{question}", parser="text", about="a question"),
}
HELD = Sampling(max_tokens=64, extra={"structured_outputs": {"regex": PATTERN}})


def profile_of(server: RealVllm, sampling: Sampling = HELD, **vlm: object) -> Profile:
    """A profile for a server."""
    fields = {
        "served_name": server.name,
        "weights": "test/tiny",
        "architecture": server.arch,
        "tasks": _TASKS,
        # GLM's processor counts every picture as two frames.
        "pixels": Pixels(patch_px=PATCH[server.arch], min_pixels=LEAST[server.arch], max_pixels=400_000),
        "sampling": sampling,
        "context": 4_096,
        "prompt_tokens": 96,
        "most_in_flight": 8,
        "first_token_s": PATIENCE_S,
    }
    return Profile(
        name=server.name,
        title=server.arch,
        engine="vllm",
        revision="1",
        licence="none",
        scripts=frozenset({"latin"}),
        long_edge_px=616,
        max_pixels=400_000,
        grid_px=2 * PATCH[server.arch],
        ladder_limits=LadderLimits(attempts=1),
        vlm=Vlm.model_validate(fields | vlm),
    )


def client(server: RealVllm, profile: Profile, wait_s: float = PATIENCE_S) -> VllmEngine:
    """A client of the server; close it."""
    return open_engine(profile, OcrServers((server.url,), KEY, wait_s))
