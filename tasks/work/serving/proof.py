"""Proof that a server reads: a small picture with a word in it, inside a deadline.

`/health` answers long before an engine can work, and for a while after it has died.
"""

import base64
import io
import time
from dataclasses import dataclass

import httpx
from PIL import Image, ImageDraw

from models.vlm import Vlm

_WORD = "PAGEMILL 42"


@dataclass(frozen=True, slots=True)
class Proof:
    """A server's answer to the small picture; `error` is empty when it answered in time."""

    seconds: float
    tokens: int = 0
    error: str = ""

    @property
    def holds(self) -> bool:
        """Whether the server read something in time."""
        return not self.error


def prove(url: str, vlm: Vlm, api_key: str = "", deadline_s: float = 30.0) -> Proof:
    """Ask the server at `url` to read a small picture. Any answer with tokens in time counts.

    What it reads is not judged: a model is free to misread a word, a wedged engine says nothing at all.
    """
    started = time.perf_counter()
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    try:
        answer = httpx.post(
            f"{url}/v1/chat/completions",
            json=proof_request(vlm),
            headers=headers,
            timeout=deadline_s,
            trust_env=False,
        )
    except httpx.HTTPError as error:
        return Proof(time.perf_counter() - started, error=f"{type(error).__name__}: {error}")
    seconds = time.perf_counter() - started
    if answer.status_code != httpx.codes.OK:
        return Proof(seconds, error=f"HTTP {answer.status_code}: {answer.text[:300]}")
    tokens = int((answer.json().get("usage") or {}).get("completion_tokens") or 0)
    return Proof(seconds, tokens, "" if tokens else "The server answered without a token.")


def proof_request(vlm: Vlm) -> dict[str, object]:
    """Body of a chat completion that asks for a few tokens about the small picture."""
    prompt = vlm.task("").prompt
    picture = base64.b64encode(_picture(vlm)).decode()
    return {
        "model": vlm.served_name,
        "max_tokens": 16,
        "temperature": 0,
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture}"}},
                    {"type": "text", "text": prompt},
                ],
            }
        ],
    }


def _picture(vlm: Vlm) -> bytes:
    grid = vlm.pixels.grid_px
    image = Image.new("RGB", (grid * 8, grid * 4), "white")
    ImageDraw.Draw(image).text((grid, grid), _WORD, fill="black")
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()
