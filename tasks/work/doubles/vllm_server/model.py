"""The served model of a scripted server: its name, limits and speed, and what it refuses."""

import binascii
import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PIL import Image

from models.vlm import Pixels
from tasks.work.doubles.vllm_server.script import (
    Asked,
    Refused,
    bad_request,
    picture_too_large,
    prompt_too_long,
    too_many_wanted,
)

PROOF_TOKENS = 16
"""A request for so few reply tokens only wants to see whether the server works: it is no part of a script."""


@dataclass(frozen=True, slots=True)
class Model:
    """What `vllm serve` was told."""

    name: str = "glm-ocr"
    root: str = "/models/glm-ocr"
    version: str = "0.32.0"
    context: int = 16_384
    pixels: Pixels | None = None
    """With a grid, pictures are measured: image tokens count, broken pictures are refused."""
    encoder_tokens: int | None = None
    """Most tokens of one picture."""
    prompt_tokens: int = 12
    """Of template and text; a long text counts one for four characters."""
    has_priorities: bool = False
    api_key: str = ""
    queue: int | None = None
    """Most requests in flight before a 503; None: no limit, as by default."""
    first_token_s: float = 0.0
    token_s: float = 0.0
    """Speed of one request: a reply takes first_token_s + tokens x token_s."""


def understand(model: Model, body: dict[str, Any], number: int) -> Asked | Refused:
    """What a decoded request asks, or why it is refused as vLLM refuses it."""
    if body.get("model") not in {None, model.name}:
        message = f"The model `{body['model']}` does not exist."
        return Refused(404, message, "NotFoundError", "model")
    try:
        images, prompt = _parts(body.pop("messages"))
        pictures = [_decoded(url) for url in images]
        tokens = [_tokens(model, picture) for picture in pictures]
    except (KeyError, TypeError, ValueError, binascii.Error, OSError) as error:
        return bad_request(f"Failed to load image: {type(error).__name__}")
    hashes = tuple(hashlib.sha256(picture).hexdigest() for picture in pictures)
    text = max(model.prompt_tokens, len(prompt) // 4)
    asked = Asked(number, hashes, prompt, body, sum(tokens) + text)
    return _refused(model, asked, max(tokens, default=0)) or asked


def is_proof(asked: Asked) -> bool:
    """Whether the client only wants to see a sign of life."""
    return asked.max_tokens is not None and asked.max_tokens <= PROOF_TOKENS


def _refused(model: Model, asked: Asked, largest: int) -> Refused | None:
    if model.encoder_tokens is not None and largest > model.encoder_tokens:
        return picture_too_large(largest, model.encoder_tokens)
    if asked.tokens_in > model.context:
        return prompt_too_long(asked.tokens_in, model.context)
    wanted = asked.max_tokens or 0
    if asked.tokens_in + wanted > model.context:
        return too_many_wanted(wanted, asked.tokens_in, model.context)
    if asked.body.get("priority") and not model.has_priorities:
        return bad_request("Got priority 1 but Priority scheduling is not enabled.")
    return None


def _parts(messages: Sequence[Mapping[str, Any]]) -> tuple[list[str], str]:
    content = messages[-1]["content"]
    if isinstance(content, str):
        return [], content
    images = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    return images, "".join(part["text"] for part in content if part["type"] == "text")


def _decoded(url: str) -> bytes:
    head, _, data = url.partition(";base64,")
    if not head.startswith("data:image/"):
        raise ValueError(head[:20])
    return binascii.a2b_base64(data, strict_mode=True)


def _tokens(model: Model, picture: bytes) -> int:
    if model.pixels is None:
        return 0
    # The header alone: a picture need not be decoded to be counted.
    with Image.open(io.BytesIO(picture)) as image:
        return model.pixels.tokens(*image.size)
