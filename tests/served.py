"""A small served model for tests, page images for it, and waiting for what has to come."""

import io
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from PIL import Image

from models.engine import OcrRequest
from models.geometry import Transform
from models.page import PageImage
from models.profile import Profile
from models.servers import OcrServers
from models.vlm import Pixels, Task, Vlm
from tasks.work.doubles.vllm_server import ScriptedVllm
from tasks.work.engines.vllm import VllmEngine, open_engine

VLM = Vlm(
    served_name="glm-ocr",
    weights="test/tiny",
    architecture="GlmOcrForConditionalGeneration",
    tasks={
        "text": Task(prompt="Text Recognition:", parser="text", about="all text"),
        "ask": Task(prompt="{question}", parser="text", about="a question"),
        "fields": Task(
            prompt="Fill in {schema}", parser="json", about="fields", schema={"type": "object"}, max_images=2
        ),
    },
    pixels=Pixels(patch_px=14, min_pixels=12_544, max_pixels=1_000_000),
    context=8_192,
    least_in_flight=4,
    most_in_flight=32,
    first_token_s=60.0,
    tokens_per_s=4_000.0,
)

PROFILE = Profile(
    name="tiny",
    title="Tiny",
    engine="vllm",
    revision="1",
    licence="none",
    scripts=frozenset({"latin"}),
    long_edge_px=1_120,
    max_pixels=1_000_000,
    grid_px=28,
    vlm=VLM,
)


def profile(**changes: Any) -> Profile:
    """The profile with other fields in its served-model part."""
    return PROFILE.model_copy(update={"vlm": VLM.model_copy(update=changes)})


@contextmanager
def reading(
    *servers: ScriptedVllm | str,
    wait_s: float = 120.0,
    key: str = "",
    in_flight: int | None = None,
    **vlm: Any,
) -> Iterator[VllmEngine]:
    """The client of these servers (or URLs), closed at the end."""
    urls = tuple(one if isinstance(one, str) else one.url for one in servers)
    engine = open_engine(profile(**vlm), OcrServers(urls, key, wait_s, in_flight))
    try:
        yield engine
    finally:
        engine.close()


def page(folder: Path, number: int = 0, size: tuple[int, int] = (280, 140), **request: Any) -> OcrRequest:
    """A request for a page image that differs by its number."""
    data = io.BytesIO()
    Image.new("RGB", size, (255, 255 - number // 256, 255 - number % 256)).save(data, "PNG")
    digest = sha256(data.getvalue()).hexdigest()
    path = folder / f"{digest}.png"
    path.write_bytes(data.getvalue())
    return request_of(path, size, **request)


def request_of(path: Path, size: tuple[int, int], **request: Any) -> OcrRequest:
    """A request for a picture that is there; two pixels a point."""
    digest = sha256(path.read_bytes()).hexdigest()
    image = PageImage(digest, path.suffix, *size, Transform.scale(0.5, 0.5), 0.1, is_blank=False)
    fields: dict[str, Any] = {"recipe": PROFILE.recipe()} | request
    return OcrRequest(image=image, path=path, width_pt=size[0] / 2, height_pt=size[1] / 2, **fields)


def until(holds: Callable[[], object], seconds: float = 120.0) -> None:
    """Wait for something to come to pass, on a busy machine as well."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.01)
