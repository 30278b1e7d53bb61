"""Ready-made requests at a server: what it can do when nobody has to prepare anything.

The bodies are built before the clock starts, so that the figure is the server's alone. Every pipeline is
measured against it.
"""

import asyncio
import base64
import json
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx

from models.errors import EngineUnavailable
from models.vlm import Vlm

_DEADLINE_S = 900.0


@dataclass(frozen=True, slots=True)
class Shot:
    """One request: its latency and tokens, or why it failed."""

    seconds: float
    tokens_in: int = 0
    tokens_out: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class Volley:
    """Some requests, at most `in_flight` at once."""

    in_flight: int
    wall_s: float
    shots: tuple[Shot, ...]

    @property
    def failed(self) -> int:
        """Requests without an answer."""
        return sum(bool(shot.error) for shot in self.shots)

    @property
    def pages_per_s(self) -> float:
        """Answers a second, over the whole volley."""
        return (len(self.shots) - self.failed) / self.wall_s

    @property
    def tokens_per_s(self) -> float:
        """Reply tokens a second."""
        return sum(shot.tokens_out for shot in self.shots) / self.wall_s

    def latency(self, percent: int) -> float:
        """Seconds that `percent` of the answers took at most."""
        seconds = sorted(shot.seconds for shot in self.shots if not shot.error)
        if len(seconds) < 2:
            return seconds[0] if seconds else 0.0
        return statistics.quantiles(seconds, n=100, method="inclusive")[percent - 1]

    def row(self) -> dict[str, float | int]:
        """Figures for a table."""
        return {
            "in_flight": self.in_flight,
            "pages": len(self.shots),
            "failed": self.failed,
            "wall_s": round(self.wall_s, 2),
            "pages_per_s": round(self.pages_per_s, 3),
            "tokens_per_s": round(self.tokens_per_s, 1),
            "tokens_in": sum(shot.tokens_in for shot in self.shots),
            "p50_s": round(self.latency(50), 3),
            "p95_s": round(self.latency(95), 3),
            "p99_s": round(self.latency(99), 3),
        }


def check(url: str, bodies: Sequence[bytes], api_key: str = "") -> None:
    """Warm the server up. Raises EngineUnavailable as `fire`."""
    fire(url, bodies, len(bodies), api_key)


def body(picture: Path, vlm: Vlm, tokens: int, *, exact: bool = True) -> bytes:
    """A request for one page image, as its JSON.

    `exact`: just `tokens` tokens whatever the model says, so that random weights measure speed; else at most
    so many.
    """
    kind = "png" if picture.suffix == ".png" else "webp" if picture.suffix == ".webp" else "jpeg"
    url = f"data:image/{kind};base64,{base64.b64encode(picture.read_bytes()).decode()}"
    content = [
        {"type": "image_url", "image_url": {"url": url}},
        {"type": "text", "text": vlm.task("").prompt},
    ]
    request: dict[str, object] = {
        "model": vlm.served_name,
        "messages": [{"role": "user", "content": content}],
        "temperature": 0,
        "max_tokens": tokens,
    }
    if exact:
        request |= {"ignore_eos": True, "min_tokens": tokens}
    return json.dumps(request).encode()


def fire(url: str, bodies: Sequence[bytes], in_flight: int, api_key: str = "") -> Volley:
    """Send all bodies, at most `in_flight` at once, and wait for the last answer.

    Of several servers, named with commas between them, each gets an equal share of what is in flight. Raises
    EngineUnavailable, with what was said, when none is answered: that is no measurement.
    """
    volley = asyncio.run(_fire(url, bodies, in_flight, api_key))
    if volley.failed == len(bodies):
        why = volley.shots[0].error if volley.shots else "there was none"
        raise EngineUnavailable(
            f"The server at {url} answered no request ({why}). Is it up, does it serve the profile's model, "
            "and does it want --api-key?"
        )
    return volley


async def _fire(url: str, bodies: Sequence[bytes], in_flight: int, api_key: str) -> Volley:
    headers = {"Content-Type": "application/json"}
    if api_key:
        headers["Authorization"] = f"Bearer {api_key}"
    limits = httpx.Limits(max_connections=in_flight, max_keepalive_connections=in_flight)
    urls = url.split(",")
    waiting = iter(bodies)
    shots: list[Shot] = []

    async with httpx.AsyncClient(headers=headers, limits=limits, timeout=_DEADLINE_S) as client:

        async def lane(number: int) -> None:
            server = urls[number % len(urls)]
            shots.extend([await _shoot(client, server, content) for content in waiting])

        started = time.perf_counter()
        await asyncio.gather(*(lane(number) for number in range(min(in_flight, len(bodies)))))
        return Volley(in_flight, time.perf_counter() - started, tuple(shots))


async def _shoot(client: httpx.AsyncClient, url: str, content: bytes) -> Shot:
    started = time.perf_counter()
    try:
        answer = await client.post(f"{url}/v1/chat/completions", content=content)
    except httpx.HTTPError as error:
        return Shot(time.perf_counter() - started, error=type(error).__name__)
    seconds = time.perf_counter() - started
    if answer.status_code != httpx.codes.OK:
        return Shot(seconds, error=f"HTTP {answer.status_code}")
    try:
        told = answer.json()
        usage, _first = told["usage"], told["choices"][0]
        return Shot(seconds, usage["prompt_tokens"], usage["completion_tokens"])
    except (ValueError, LookupError, TypeError):
        return Shot(seconds, error="an answer that is none of the OpenAI API's")
